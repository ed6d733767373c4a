"""What backends use of the core: ours use the door alone, and others are told what to use instead."""

import ast
import importlib
import json
import re
from importlib.metadata import EntryPoint
from pathlib import Path
from string import Template

import pytest

import mindtorch_core as torch
from mindtorch_core import backend, plugins
from mindtorch_core.cli import new_backend
from mindtorch_core.plugins import public_modules
from mindtorch_core.plugins.private_names import findings, findings_in
from mindtorch_core.tensors.tensor import FIELDS

ROOT = Path(__file__).parents[2]
BACKENDS = (
    *ROOT.glob("plugins/mindtorch-*/src"),
    *ROOT.glob("examples/mindtorch-*"),
    ROOT / "tests" / "bare_backend",
)
# What a backend imports. (Their tests also run the command `mindtorch` and look at what is served.)
DOORS = re.compile(
    r"mindtorch_core(\.(backend|communication|dispatch(\.(dispatcher|keys|pipeline|registry|schema))?"
    r"|plugins|library|testing(\.\w+)*))?$"
)
FOR_TESTS = ("mindtorch_core.cli", "mindtorch_core.inspection")


def sources():
    files = [path for folder in BACKENDS for path in folder.rglob("*.py")]
    return sorted({*files, *(ROOT / "tests" / "toy_backend").glob("*.py")} - {CHECKS})


CHECKS = ROOT / "tests" / "toy_backend" / "checks.py"  # what tests look with, no backend


def modules_imported(path):
    """Modules of the core that a file imports, also within functions, with their lines."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mindtorch_core"):
            yield node.lineno, node.module
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, a.name) for a in node.names if "mindtorch_core" in a.name)


def test_our_backends_are_all_looked_at():
    found = {path.relative_to(ROOT).parts[1] for path in sources()}
    assert found >= {
        "mindtorch-cpu", "mindtorch-meta", "mindtorch-npu", "mindtorch-acme", "mindtorch-zed",
        "bare_backend", "toy_backend",
    }  # fmt: skip
    assert len(sources()) > 100


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_our_backends_use_the_door_alone(path):
    allowed = FOR_TESTS if "tests" in path.parent.parts[-2:] else ()
    wrong = [
        f"{path}:{line}: {module}"
        for line, module in modules_imported(path)
        if not DOORS.match(module) and module not in allowed
    ]
    assert wrong == []
    assert [str(each) for each in findings_in(path)] == []


def test_a_new_backend_uses_the_door_alone(tmp_path):
    for name, text in new_backend._package("acme", "mindtorch-acme").items():
        path = tmp_path / name.replace("/", "_")
        path.write_text(text)
        if path.suffix == ".py":
            used = {module for _, module in modules_imported(path) if not DOORS.match(module)}
            assert used <= ({*FOR_TESTS} if name.startswith("tests/") else set())
            assert findings_in(path) == []


# ---- the door --------------------------------------------------------------------------------------


def test_every_name_of_the_door_is_there_once():
    assert len(set(backend.__all__)) == len(backend.__all__)
    assert [name for name in backend.__all__ if getattr(backend, name, None) is None] == []
    assert {*backend.__all__} <= {*dir(backend)}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        backend.nothing


def test_the_door_is_all_that_it_opens(site):
    """Importing it defines no ops, and loads next to nothing that the core has not loaded."""
    site.run(
        """
import sys
before = set(sys.modules)
import mindtorch_core.backend
new = set(sys.modules) - before
rooms = {f"mindtorch_core.opdefs.{name}" for name in ("formats", "formulas", "rules")}
assert new == {"mindtorch_core.backend", *rooms}, new
assert registry.on_demand.pending
assert mindtorch_core.backend.taps is mindtorch_core.backend.taps
"""
    )


def test_fields_are_the_slots():
    t = torch.ones(2, 3)
    for public, private in FIELDS.items():
        assert public in (f"raw{private}", "raw_data", "raw_layout")
        assert vars(torch.Tensor)[public] is vars(torch.Tensor)[private]  # as fast as the slot
        assert getattr(t, public) is getattr(t, private)
    assert (FIELDS["raw_data"], FIELDS["raw_layout"]) == ("_payload", "_strided")
    assert {*FIELDS.values()} == {n for n in torch.Tensor.__slots__ if not n.startswith("__")}
    assert t.raw_shape == (2, 3)
    assert type(t.raw_shape) is tuple
    assert t.raw_geometry() == ((3, 1), 0)
    assert not {*FIELDS} & {*dir(t)}
    t.raw_shape = (3, 2)
    assert t.shape == (3, 2)


def test_a_tensor_over_memory_that_is_there():
    owner = torch.arange(12.0)
    memory = owner.untyped_storage().memory
    t = backend.tensor_over(memory, 48, (2, 3), torch.float32, owner.device, (6, 2), 1)
    assert t.tolist() == [[1.0, 3.0, 5.0], [7.0, 9.0, 11.0]]
    t.add_(100)
    assert owner[1] == 101
    assert (t.stride(), t.storage_offset(), t.untyped_storage().nbytes()) == ((6, 2), 1, 48)
    assert backend.tensor_over(memory, 48, (0, 5), torch.float32, owner.device).tolist() == []
    w = backend.tensor_over(memory, 48, (3,), torch.float32, owner.device).requires_grad_()
    (w * 2).sum().backward()
    assert w.grad.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("shape", "strides", "offset"),
    [((13,), None, 0), ((12,), None, 1), ((2, 2), (8, 4), 0), ((2,), (-1,), 5), ((2,), None, -1)],
)
def test_a_tensor_beyond_its_memory_is_refused(shape, strides, offset):
    owner = torch.arange(12.0)
    memory = owner.untyped_storage().memory
    with pytest.raises(RuntimeError, match=r"does not lie in memory of 48 bytes"):
        backend.tensor_over(memory, 48, shape, torch.float32, owner.device, strides, offset)


def test_a_view_around_a_payload():
    base = torch.arange(6.0)
    key = base.raw_keys
    view = backend.view_around(base, base.raw_data[2:4], (2,), key)
    assert view.raw_base is base
    assert backend.view_around(view, view.raw_data[:1], (1,), key).raw_base is base
    assert (view.storage_offset(), view.untyped_storage()) == (2, base.untyped_storage())
    before = base._version
    view.zero_()
    assert base.tolist() == [0.0, 1.0, 0.0, 0.0, 4.0, 5.0]
    assert base._version == before + 1


# ---- what others use -------------------------------------------------------------------------------

# A line of a backend, and what is said of it; nothing for what backends may use.
LINES = {
    "from mindtorch_core.opdefs.define import fn": (
        "mindtorch_core.opdefs.define.fn is private: use the functions of mindtorch_core"
    ),
    "from mindtorch_core.tensors.tensor import make_tensor": (
        "mindtorch_core.tensors.tensor.make_tensor is private: use mindtorch_core.backend.make_tensor"
    ),
    "from mindtorch_core.operators.nn.convolution_shapes import geometry": (
        "mindtorch_core.operators.nn.convolution_shapes.geometry is private: "
        "use mindtorch_core.backend.convolution_geometry"
    ),
    "from mindtorch_core.plugins.loader import load as find": (
        "mindtorch_core.plugins.loader.load is private: use mindtorch_core.plugins.load"
    ),
    "import mindtorch_core.gradients.engine as engine": (
        "mindtorch_core.gradients.engine is private: use mindtorch_core.backend"
    ),
    "from mindtorch_core import operators": (
        "mindtorch_core.operators is private: use mindtorch_core.backend"
    ),
    "import mindtorch_core.tensors.tensor": (
        "mindtorch_core.tensors.tensor is private: use mindtorch_core.backend"
    ),
    "from mindtorch_core.gone.long_ago import pack": (
        "mindtorch_core.gone.long_ago.pack is private: use mindtorch_core.backend.pack"
    ),
    "from mindtorch_core.dispatch.registry import _journal": (
        "mindtorch_core.dispatch.registry._journal is private: "
        "nothing public does that, see mindtorch_core.backend"
    ),
    "torch.gradients.engine.backward()": (
        "mindtorch_core.gradients.engine.backward is private: "
        "nothing public does that, see mindtorch_core.backend"
    ),
    'importlib.import_module("mindtorch_core.values.dtypes")': (
        "mindtorch_core.values.dtypes is private: use mindtorch_core.backend"
    ),
    "registry._entries.clear()": (
        "mindtorch_core.dispatch.registry.registry._entries is private: "
        "nothing public does that, see mindtorch_core.backend"
    ),
    "def kernel(self): return self._payload": "Tensor._payload is private: use Tensor.raw_data",
    "t._own_storage()": "Tensor._own_storage is private: use Tensor.untyped_storage()",
    "t._shape = (1,)": "Tensor._shape is private: use Tensor.raw_shape",
    'hasattr(t, "_keys")': "Tensor._keys is private: use Tensor.raw_keys",
    "from mindtorch_core.dispatch.opdef import OpDef": (
        "mindtorch_core.dispatch.opdef.OpDef is private: use mindtorch_core.backend.OpDef"
    ),
    "import mindtorch_core.dispatch.tables": (
        "mindtorch_core.dispatch.tables is private: use mindtorch_core.backend"
    ),
    "torch._late": (
        "mindtorch_core._late is private: nothing public does that, see mindtorch_core.backend"
    ),
    "from mindtorch_core.dispatch.registry import row_of": (
        "mindtorch_core.dispatch.registry.row_of is private: "
        "nothing public does that, see mindtorch_core.backend"
    ),
    "from mindtorch_core.dispatch.dispatcher import concrete": (
        "mindtorch_core.dispatch.dispatcher.concrete is private: "
        "use mindtorch_core.backend.concrete_device"
    ),
    "from mindtorch_core.runtime import TABLE": (
        "mindtorch_core.runtime.TABLE is private: "
        "nothing public does that, see mindtorch_core.backend"
    ),
    "torch.dispatch.dispatcher.fill": (
        "mindtorch_core.dispatch.dispatcher.fill is private: "
        "nothing public does that, see mindtorch_core.backend"
    ),
    "import mindtorch_core.testing.conformance.suite": (
        "mindtorch_core.testing.conformance.suite is private: use mindtorch_core.backend"
    ),
    "from mindtorch_core.modes import DispatchMode": (
        "mindtorch_core.modes.DispatchMode is private: use mindtorch_core.DispatchMode"
    ),
    'from importlib import import_module as im; im("mindtorch_core.values.dtypes")': (
        "mindtorch_core.values.dtypes is private: use mindtorch_core.backend"
    ),
    "import mindtorch_core.dispatch.registry as r; r._journal": (
        "mindtorch_core.dispatch.registry._journal is private: "
        "nothing public does that, see mindtorch_core.backend"
    ),
    "import mindtorch_core.dispatch.registry; mindtorch_core._late": (
        "mindtorch_core._late is private: nothing public does that, see mindtorch_core.backend"
    ),
    "t._host()": "Tensor._host is private: use the to_host() of its device's runtime",
    "t._from_array": "Tensor._from_array is private: use make_tensor() or from_numpy()",
    "torch.Tensor._shape": "Tensor._shape is private: use Tensor.raw_shape",
    "torch.Tensor._host": "Tensor._host is private: use the to_host() of its device's runtime",
    "class Tasks:\n    def __init__(self): self._host = []\ndef all(t): return t._host": None,
    "from mindtorch_core.dispatch.registry import OperatorRegistry, registry": None,
    "from mindtorch_core.dispatch import keys\nkeys.DispatchKey.CPU": None,
    "from mindtorch_core.testing import BackendConformance, make_tensor": None,
    "from mindtorch_core.testing.conformance import BackendConformance": None,
    "torch._check(True)": None,
    "torch._foreach_add": None,
    "from mindtorch_core.__future__ import get_swap_module_params_on_conversion": None,
    "from mindtorch_core.dispatch.schema import parse_schema": None,
    "from mindtorch_core.dispatch import dispatcher, current_pipeline": None,
    "from mindtorch_core.backend import pack, make_tensor": None,
    "from mindtorch_core.backend import *": None,
    "from mindtorch_core.dispatch.pipeline import Plan": None,
    "from mindtorch_core.library import cpu_fallback": None,
    "from mindtorch_core.runtime import Runtime": None,
    "from mindtorch_core import tensor, float32, nn": None,
    "from mindtorch_core.nn.functional import relu": None,
    "from mindtorch_core import func, overrides, sparse": None,
    "from mindtorch_core.cuda.amp import GradScaler": None,
    "import mindtorch_core.utils.data": None,
    "from mindtorch_core.ecosystem import cuda": (
        "mindtorch_core.ecosystem.cuda is private: use mindtorch_core.cuda"
    ),
    "torch.tensor([1.0]).raw_data": None,
    "torch.utils.checkpoint.checkpoint(f)": None,
    "from .tensor import make_tensor": None,
    "class Memory:\n    def __init__(self): self._payload = 0\n    def same(self, o): return o._payload": None,
    "class Memory:\n    __slots__ = ('_payload',)\n    def get(self): return self._payload": None,
}


@pytest.mark.parametrize("line", LINES)
def test_what_a_line_uses(line, tmp_path):
    path = tmp_path / "kernels.py"
    head = "import importlib\nimport mindtorch_core as torch\n"
    path.write_text(head + "from mindtorch_core.dispatch.registry import registry\n" + line + "\n")
    told = LINES[line]
    assert [str(f) for f in findings_in(path)] == ([] if told is None else [f"{path}:4: {told}"])


MAKE = """
from mindtorch_core.backend import fresh

def made(data):
    r = fresh()
$fields
    return r
"""


def test_a_fresh_tensor_is_given_every_field(tmp_path):
    path = tmp_path / "kernels.py"
    fields = [f"    r.{name} = None" for name in FIELDS]
    path.write_text(Template(MAKE).substitute(fields="\n".join(fields)))
    assert findings_in(path) == []
    for i, name in enumerate(FIELDS):
        path.write_text(Template(MAKE).substitute(fields="\n".join(fields[:i] + fields[i + 1 :])))
        (found,) = findings_in(path)
        assert str(found) == f"{path}:5: the fresh tensor r is not given {name}"


def test_a_file_that_is_no_python_is_left_out(tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text("def (")
    assert findings_in(path) == []


WRONG = """
from mindtorch_core.opdefs.define import fn
from mindtorch_core.values.shapes import wrap_dims

def kernel(self):
    return fn.relu(self)._payload
"""
TOLD = (
    "2: mindtorch_core.opdefs.define.fn is private: use the functions of mindtorch_core",
    "3: mindtorch_core.values.shapes.wrap_dims is private: use mindtorch_core.backend.wrap_dims",
    "6: Tensor._payload is private: use Tensor.raw_data",
)


def test_all_files_of_a_package_are_read_where_its_distribution_lists_none(tmp_path, monkeypatch):
    """An installation for editing lists none of them."""
    package = tmp_path / "mindtorch_listed_nowhere"
    package.mkdir()
    for name in ("__init__.py", "kernels.py"):
        (package / name).write_text("from mindtorch_core.values.dtypes import pack\n")
    monkeypatch.syspath_prepend(tmp_path)
    ep = EntryPoint("nowhere", "mindtorch_listed_nowhere:descriptor", "mindtorch.backends")
    assert [each.path.name for each in findings(ep)] == ["__init__.py", "kernels.py"]


def test_doctor_lists_the_lines(site):
    site.toy("acme")
    kernels = site.folder / "mindtorch_acme" / "kernels.py"
    kernels.write_text(WRONG)
    lines = [f"{kernels}:{told}" for told in TOLD]
    done = site.python("-m", "mindtorch_core", "doctor", "acme")
    assert done.returncode == 0, done.stderr
    head = "  uses what is not for backends:"
    assert done.stdout.splitlines()[-4:] == [head, *(f"    {line}" for line in lines)]
    done = site.python("-m", "mindtorch_core", "doctor", "--json", "acme")
    (report,) = json.loads(done.stdout)["backends"]
    assert (report["healthy"], report["private"]) == (True, lines)


def test_doctor_reads_a_backend_that_cannot_be_imported(site):
    site.backend("acme", "from mindtorch_core.values_of_old import wrap_dims\n")
    done = site.python("-m", "mindtorch_core", "doctor", "acme")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].endswith(
        "plugin.py:1: mindtorch_core.values_of_old.wrap_dims is private: "
        "use mindtorch_core.backend.wrap_dims"
    )


def test_names_of_plugins_are_those_of_the_door():
    """A vendor finds what registers a backend beside the door, and nothing twice."""
    assert {*plugins.__all__} & {*backend.__all__} == set()


def test_what_is_public_of_a_module_is_there():
    """A module of which the list of its names says what is public has such a list, and the names."""
    for path in public_modules.BY_ALL:
        module = importlib.import_module(path)
        for name in module.__all__:
            assert hasattr(module, name), (path, name)
            assert public_modules.promised(path, name)
        assert not public_modules.promised(path, "nothing")


@pytest.mark.parametrize(
    ("module", "public"),
    [
        ("mindtorch_core", True), ("mindtorch_core.backend", True), ("mindtorch_core.testing", True),
        ("mindtorch_core.testing.samples", False), ("mindtorch_core.dispatch.keys", True),
        ("mindtorch_core.dispatch.tables", False), ("mindtorch_core.utils._pytree", False),
        ("mindtorch_core.utils._own_frames", False), ("mindtorch_core.cuda", True),
        ("mindtorch_core.tensors.tensor", False),
    ],
)  # fmt: skip
def test_which_modules_are_public(module, public):
    assert public_modules.is_public(module) is public
