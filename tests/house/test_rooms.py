"""The rooms of the core: imports go down only, nothing loose at the root; no circle of files anywhere."""

import ast
import graphlib
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mindtorch_core.plugins import public_modules

grimp = pytest.importorskip("grimp", reason="import-linter, which brings it, is a development tool")

ROOT = Path(__file__).parents[2]
CORE = ROOT / "mindtorch_core"
# What users and plugins import by these paths; everything else lives in a room.
AT_THE_ROOT = {
    "__future__", "__init__", "__main__", "backend", "fft", "linalg", "masked", "overrides", "random",
    "runtime", "sparse", "special", "storage", "streams",
}  # fmt: skip

# The linter does not see modules that are imported by name. These files do that, for what a program asks for;
# what lies in the file's own package is not counted.
BY_NAME = {
    "__init__.py": "names of torch whose modules are imported when they are first used",
    "autograd/forward_checks.py": "vmap, where gradcheck is to check tangents at once",
    "communication/process_group.py": "the class of PyTorch's engine that a group was asked for by",
    "dispatch/on_demand.py": "families of ops, by the generated table of their names",
    "opdefs/torch_ops.py": "torch.ops.load_library and import_module",
    "frontend/aliases.py": "modules at second paths",
    "frontend/array_standard.py": "the namespace of the array API, when a tensor is asked for it",
    "frontend/companion.py": "the distribution mindtorch-nn",
    "frontend/surroundings.py": "what programs ask for around tensors",
    "func/modules.py": "torch.func.functional_call, which is mindtorch-nn's",
    "nn/functional.py": "names that libraries take from it, which stand in other rooms",
    "overrides.py": "the modules where users find functions",
    "plugins/device_module.py": "names of old of autocast, such as torch.cpu.amp",
    "plugins/moved.py": "modules that moved",
    "plugins/private_names.py": "what the sources of a plugin name",
    "plugins/public_modules.py": "where a public name is",
    "serialization/homes.py": "classes that files name",
    "storage.py": "the reader of files, for pickles of PyTorch's storages",
}
PACKAGES = ("mindtorch", "mindtorch-audio", "mindtorch-nn", "mindtorch-vision")
ABOVE_ALL = (
    "cli",
    "measuring",
    "testing",
    "inspection",
    "ecosystem",
)  # nothing of the core but each other


def settings():
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    return tomllib.loads(text)["tool"]["importlinter"]


def sources(folder):
    """Where the packages lie: not all of them need be installed."""
    plugins = ("mindtorch-cpu", "mindtorch-meta", "mindtorch-mpi", "mindtorch-npu")
    return [
        folder,
        *(folder / "plugins" / name / "src" for name in plugins),
        *(folder / "packages" / name / "src" for name in PACKAGES),
    ]


def lint(folder):
    """Run import-linter with this project's contracts on the sources in a folder."""
    command = shutil.which("lint-imports", path=Path(sys.executable).parent) or "lint-imports"
    return subprocess.run(
        [command, "--config", str(folder / "pyproject.toml"), "--no-cache"],
        cwd=folder,
        env={
            "PYTHONPATH": ":".join(map(str, sources(folder))),
            "PATH": str(Path(sys.executable).parent),
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("package", settings()["root_packages"])
def test_no_circle_of_files(package, monkeypatch):
    """Counting imports inside functions, but not those for type checkers alone."""
    for folder in sources(ROOT):
        monkeypatch.syspath_prepend(folder)
    graph = grimp.build_graph(package, exclude_type_checking_imports=True, cache_dir=None)
    allowed = {
        tuple(e.split(" -> ")) for c in settings()["contracts"] for e in c.get("ignore_imports", ())
    }
    imports = {
        module: {
            found
            for found in graph.find_modules_directly_imported_by(module)
            if (module, found) not in allowed
        }
        for module in graph.modules
    }
    graphlib.TopologicalSorter(imports).prepare()  # raises CycleError, which names the files


def imports_by_name(path):
    """Calls that import a module by its name, but for those of the file's own package."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ("import_module", "__import__") and node.args:
                name = ast.unparse(node.args[0])
                if not name.startswith(("f'{__name__}.", 'f"{__name__}.')):
                    yield node.lineno, name


def test_what_is_imported_by_name_is_listed():
    below = [p for p in CORE.rglob("*.py") if p.relative_to(CORE).parts[0] not in ABOVE_ALL]
    found = {p.relative_to(CORE).as_posix(): [*imports_by_name(p)] for p in below}
    assert {name for name, calls in found.items() if calls} == {*BY_NAME}


def test_few_exceptions():
    contracts = [c for c in settings()["contracts"] if c["id"] != "door"]
    assert len([e for c in contracts for e in c.get("ignore_imports", ())]) <= 3


def test_what_stands_at_the_root():
    assert {p.stem for p in CORE.glob("*.py")} == AT_THE_ROOT


def rooms():
    """Rooms and modules of the core by the linter's contract, which knows all of them."""
    (contract,) = (c for c in settings()["contracts"] if c["id"] == "rooms")
    return {name.strip() for layer in contract["layers"] for name in layer.split("|")}


def test_every_folder_is_a_room():
    folders = {p.name for p in CORE.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert folders == rooms() - AT_THE_ROOT
    assert all((CORE / name / "__init__.py").exists() for name in folders)
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = page.partition("## The rooms")[2].partition("\n## ")[0]
    assert [name for name in sorted(rooms()) if not re.search(rf"`{name}[`./]", table)] == []


def test_stubs_lie_beside_the_core():
    """All of them: of a package that has such stubs, Pyright reads no others."""
    assert not list(CORE.rglob("*.pyi"))
    assert (ROOT / "mindtorch_core-stubs" / "py.typed").read_text("utf-8") == "partial\n"


def test_the_door_is_open_for_what_is_promised_alone():
    """A new room is forbidden to backends until somebody says that it is for them."""
    for_backends = {"backend", "communication", "dispatch", "library", "plugins", "testing"}
    (contract,) = (c for c in settings()["contracts"] if c["id"] == "door")
    closed = {name.removeprefix("mindtorch_core.") for name in contract["forbidden_modules"]}
    inside = {f"{room}.*" for room in for_backends - {"backend"}}
    assert closed == rooms() - for_backends | inside
    opened = {each.removeprefix("** -> ") for each in contract["ignore_imports"]}
    promised = {
        f"mindtorch_core.{module}"
        for module in public_modules.PUBLIC
        if "." in module and module.partition(".")[0] in for_backends
    }
    assert opened == promised | {"mindtorch_core.library.cpu_fallback"}


def test_every_room_says_what_it_holds():
    for package in CORE.rglob("__init__.py"):
        assert package.read_text("utf-8").startswith('"""'), package


def test_the_contracts_hold():
    found = lint(ROOT)
    assert found.returncode == 0, found.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("mindtorch_core/values/shapes.py", "from ..tensors.tensor import Tensor"),
        ("mindtorch_core/gradients/node.py", "def late():\n    from ..autograd import function"),
        ("mindtorch_core/dispatch/masks.py", "import mindtorch_core.operators"),
        ("mindtorch_core/tensors/storage.py", "import numpy"),
        (
            "plugins/mindtorch-cpu/src/mindtorch_cpu/arrays.py",
            "import mindtorch_core.values.shapes",
        ),
        (
            "plugins/mindtorch-cpu/src/mindtorch_cpu/arrays.py",
            "from mindtorch_core.dispatch import masks",
        ),
        (
            "plugins/mindtorch-npu/src/mindtorch_npu/runtime.py",
            "from mindtorch_core.plugins.loader import load",
        ),
        ("packages/mindtorch-vision/src/mindtorch_vision/nms.py", "import mindtorch_core.dispatch"),
        ("plugins/mindtorch-meta/src/mindtorch_meta/runtime.py", "import mindtorch_cpu"),
        ("mindtorch_core/nn/functional.py", "import mindtorch_nn"),
        (
            "packages/mindtorch-nn/src/mindtorch_nn/parameter.py",
            "from mindtorch_core.tensors.tensor import Tensor",
        ),
    ],
)
def test_an_import_turned_upwards_is_found(tmp_path, module, line):
    for place in ("mindtorch_core", "plugins", "packages"):
        shutil.copytree(
            ROOT / place,
            tmp_path / place,
            ignore=shutil.ignore_patterns(
                "build", "tests", "__pycache__", "mindtorch-npu-simulator"
            ),
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / module).open("a", encoding="utf-8") as file:
        file.write(f"\n\n{line}\n")
    found = lint(tmp_path)
    assert found.returncode == 1
    assert "BROKEN" in found.stdout
