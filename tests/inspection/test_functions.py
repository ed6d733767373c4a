"""Functions in Python: which ops they call, in words and as data."""

import importlib
import json
import sys

import pytest

import mindtorch_core as torch
from mindtorch_core import inspection
from mindtorch_core.cli import main
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.frontend.dispatch_modes import DispatchMode
from mindtorch_core.inspection import find_function
from mindtorch_core.inspection.functions import ops_called_by
from mindtorch_core.nn import functional as F


def test_cross_entropy():
    found = find_function("F.cross_entropy")
    assert found.calls == ("aten::cross_entropy_loss",)
    assert found.signature.startswith("(input, target, weight=None, ")
    assert "losses.py:" in found.source
    parts = dict(found.made_of)["aten::cross_entropy_loss"]
    assert {"aten::log_softmax", "aten::nll_loss"} <= set(parts)


@pytest.mark.parametrize(
    "name", ["cross_entropy", "nn.functional.cross_entropy", "torch.nn.functional.cross_entropy"]
)
def test_it_is_found_as_users_write_it(name):
    assert find_function(name).calls == find_function("F.cross_entropy").calls


@pytest.mark.parametrize("name", ["add", "F.softmax", "aten::add.Tensor", "linalg.inv", "nonesuch"])
def test_ops_and_unknown_names_are_no_functions(name):
    assert find_function(name) is None


def test_every_name_is_an_op():
    named = 0
    for name in dir(F):
        found = find_function(f"F.{name}")
        if found is not None:
            named += bool(found.calls)
            for op in (*found.calls, *(each for _, ops in found.made_of for each in ops)):
                assert registry.find(op) is not None
    assert named > 20
    assert find_function("F.serve") is None  # a helper of the module's
    assert "chooses by name" in str(find_function("F.interpolate"))


SOURCE = """
import functools
from elsewhere_of_functions import foreign

def outer(x, y=1):
    out = fn.add(x, y)
    return helper(foreign(out)).sqrt()

def helper(x):
    fn_linalg.inv(x)
    fn_nowhere.exp(x)
    fn_nowhere.nonesuch(x)
    x.copy()
    fn.nonesuch(x)
    by_name("mul", x)
    by_name("nonesuch", x)
    by_name(x)
    by_name()
    x.y.sin()
    outer(x)
    nobody(x)
    functools(x)
    return last(x)

last = lambda x: x.cos()
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A module whose functions call ops in every way, and another one's function."""
    (tmp_path / "own_of_functions.py").write_text(SOURCE)
    (tmp_path / "elsewhere_of_functions.py").write_text("def foreign(x):\n    return fn.tan(x)\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("own_of_functions")
    yield module
    del sys.modules["own_of_functions"], sys.modules["elsewhere_of_functions"]


def test_each_way_to_call_an_op_is_read_and_helpers_of_the_package_are_followed(own):
    assert ops_called_by(own.outer) == tuple(
        f"aten::{op}" for op in ("add", "sqrt", "linalg_inv", "exp", "mul", "sin", "cos")
    )


def test_functions_of_another_namespace_or_module_are_not_found():
    for name in ("linalg.nonesuch", "torch.nonesuch", "F.Tensor", "F.__doc__", "F.serve"):
        assert find_function(name) is None


class Heard(DispatchMode):
    def __init__(self):
        super().__init__()
        self.ops = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.name().partition(".")[0]
        self.ops.add(name.replace("::_", "::"))  # handlers are shown PyTorch's kernels of softmaxes
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("F.cross_entropy", lambda: F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1]))),
        ("F.normalize", lambda: F.normalize(torch.ones(2, 3))),
    ],
)
def test_what_runs_is_among_what_is_named(name, call):
    """Ops that are composite call their parts; those count as well."""
    with Heard() as heard:
        call()
    found = find_function(name)
    named = {op.partition(".")[0] for op in found.calls}
    named |= {op.partition(".")[0] for _, ops in found.made_of for op in ops}
    first = next(iter(found.calls)).partition(".")[0]
    assert heard.ops
    assert heard.ops & named or first in heard.ops


def test_the_command(capsys):
    assert main(["explain", "F.cross_entropy"]) == 0
    text = capsys.readouterr().out
    assert "a function in Python, at mindtorch_core/operators/nn/losses.py:" in text
    assert "calls: aten::cross_entropy_loss" in text
    assert max(map(len, text.splitlines())) <= 100
    assert main(["explain", "F.cross_entropy", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data == find_function("F.cross_entropy").to_dict()
    assert main(["explain", "aten::cross_entropy_loss"]) == 0


def test_a_narrow_terminal_gets_narrow_lines(monkeypatch):
    text = str(inspection.explain("max.dim", requires_grad=True))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "70")
    narrow = str(inspection.explain("max.dim", requires_grad=True))
    assert narrow != text
    assert narrow.split() == text.split()
    assert all(len(line) <= 70 for line in narrow.splitlines() if ".py:" not in line)


@pytest.mark.parametrize(
    ("module", "instead"),
    [
        ("nn.Linear", "F.linear"),
        ("torch.nn.Linear", "F.linear"),
        ("Sequential", "an op or a function"),
    ],
)
def test_of_a_module_it_says_what_to_ask_for(module, instead, capsys):
    assert main(["explain", module]) == 2
    said = capsys.readouterr().err
    assert f"{module} is a module" in said
    assert instead in said
