"""``import torch`` is mindtorch, in processes of its own: PyTorch may be what this one means by it."""

import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SOURCE = Path(__file__).parents[1] / "src"
CORE = Path(__file__).parents[3] / "mindtorch_core"


def run(*arguments, env=None, status=0):
    """Run Python where the package is first on the path, whatever else is installed."""
    path = os.pathsep.join([str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])])
    given = {**os.environ, "PYTHONPATH": path, "MINDTORCH_TORCH": "1", **(env or {})}
    done = subprocess.run(
        [sys.executable, "-W", "error", *map(str, arguments)],
        env=given, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


def test_it_is_the_core():
    run(
        "-c",
        "import torch, torch.nn.functional as F, mindtorch_core\n"
        "assert torch is mindtorch_core and F is mindtorch_core.nn.functional\n"
        "from torch.utils.data import DataLoader\n"
        "from mindtorch_nn.data import DataLoader as Same\n"
        "assert DataLoader is Same\n"
        "assert isinstance(torch.nn.Linear(2, 2).weight, mindtorch_core.Tensor)",
    )


def test_names_are_pytorchs():
    said = run(
        "-c",
        "import torch, torch.optim as optim\n"
        "from torch.nn.utils.parametrizations import weight_norm\n"
        "for kind in (torch.Tensor, torch.nn.Linear, torch.nn.Parameter, optim.AdamW, torch.Size,\n"
        "             torch.utils.data.TensorDataset, torch.distributions.Normal, torch.Generator,\n"
        "             torch.nn.utils.parametrize.ParametrizationList, type(torch.ones(2).max(0))):\n"
        "    print(kind)",
    )
    assert re.findall(r"'(.*)'", said) == [
        "torch.Tensor", "torch.nn.modules.linear.Linear", "torch.nn.parameter.Parameter",
        "torch.optim.adamw.AdamW", "torch.Size", "torch.utils.data.dataset.TensorDataset",
        "torch.distributions.normal.Normal", "torch.Generator",
        "torch.nn.utils.parametrize.ParametrizationList", "torch.return_types.max",
    ]  # fmt: skip


def test_pickles_name_torch_and_come_back(tmp_path):
    file = tmp_path / "model.pickle"
    run(
        "-c",
        "import pickle, sys, torch\n"
        "model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())\n"
        "functions = torch.relu, torch.Tensor.add, torch.Tensor.relu, torch.nn.functional.gelu\n"
        "open(sys.argv[1], 'wb').write(pickle.dumps((model, torch.optim.SGD, functions)))",
        file,
    )
    data = file.read_bytes()
    assert b"torch.nn.modules.linear" in data
    assert b"mindtorch" not in data
    run(
        "-c",
        "import pickle, sys\n"
        "model, kind, functions = pickle.loads(open(sys.argv[1], 'rb').read())\n"
        "import torch\n"
        "assert functions[:2] == (torch.relu, torch.Tensor.add)\n"
        "assert kind is torch.optim.SGD and model(torch.ones(1, 2)).shape == (1, 3)",
        file,
    )
    assert pickle.dumps  # the file is another process's: nothing of it is loaded here


def test_pickles_of_dtypes_come_back_and_name_torch():
    said = run(
        "-c",
        "import pickle, torch\n"
        "for kind in {d for d in vars(torch).values() if isinstance(d, torch.dtype)}:\n"
        "    assert pickle.loads(pickle.dumps(kind)) is kind, kind\n"
        "print(pickle.dumps((torch.bool, torch.int8), 0).decode())",
    )
    assert "ctorch\nbool\n" in said
    assert "ctorch\nint8\n" in said


def test_annotations_can_be_read():
    run(
        "-c",
        "import typing, torch\n"
        "class Model(torch.nn.Module):\n"
        "    size: int\n"
        "assert typing.get_type_hints(Model)['size'] is int",
    )


def test_metadata():
    said = run(
        "-c",
        "import importlib.metadata, torch\n"
        "assert importlib.metadata.version('torch') == torch.__version__ == torch.version.__version__\n"
        "assert torch.__version__ >= (2, 13) and torch.__version__ > '2.9' and torch.version.cuda is None\n"
        "print(torch.__version__)",
    )
    assert re.fullmatch(r"2\.13\.0\+mindtorch\.[\d.]+\n", said)


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_children_have_it(method, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import multiprocessing, sys, torch\n"
        "def work(x, answer): answer.put((torch.__version__, (x * 2).tolist()))\n"
        "if __name__ == '__main__':\n"
        "    context = multiprocessing.get_context(sys.argv[1])\n"
        "    answer = context.SimpleQueue()\n"
        "    child = context.Process(target=work, args=(torch.ones(2), answer))\n"
        "    child.start()\n"
        "    assert answer.get() == (torch.__version__, [2.0, 2.0])\n"
        "    child.join()\n"
        "    assert child.exitcode == 0\n"
    )
    run(script, method)


def test_where_pytorch_is_installed_too_it_refuses(tmp_path):
    theirs = tmp_path / "torch"
    theirs.mkdir()
    (theirs / "version.py").write_text("")
    path = os.pathsep.join([str(SOURCE), str(tmp_path), os.environ.get("PYTHONPATH", "")])
    both = {"PYTHONPATH": path, "MINDTORCH_TORCH": ""}
    said = run("-c", "import torch", env=both, status=1)
    assert "ImportError: both PyTorch" in said
    assert str(theirs) in said or "site-packages" in said
    assert "pip uninstall mindtorch-torch" in said
    assert "MINDTORCH_TORCH=1" in said
    run("-c", "import torch; torch.ones(2)", env={**both, "MINDTORCH_TORCH": "1"})


def test_what_is_missing():
    said = run("-c", "import torch; torch.nonesuch", status=1)
    assert "AttributeError: module 'torch' has no attribute 'nonesuch': mindtorch" in said
    assert "ask for it" in said
    said = run("-c", "import torch.nonesuch", status=1)
    assert "ModuleNotFoundError: No module named 'torch.nonesuch': mindtorch lacks it" in said
    said = run("-c", "import torch.fx; torch.fx.nonesuch", status=1)
    assert "module 'torch.fx' has no attribute 'nonesuch'" in said


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_a_compiled_module_says_what_it_lacks(tmp_path):
    package = tmp_path / "compiledpkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (tmp_path / "empty.c").write_text("void nothing(void) {}\n")
    lib = tmp_path / "libtorch_cpu.so"
    build = ["cc", "-shared", "-fPIC", str(tmp_path / "empty.c")]
    subprocess.run([*build, "-o", str(lib)], check=True)
    linked = ["-Wl,--no-as-needed", f"-L{tmp_path}", "-ltorch_cpu", "-o", str(package / "_C.so")]
    subprocess.run([*build, *linked], check=True)
    lib.unlink()
    script = tmp_path / "script.py"
    script.write_text("import torch, compiledpkg._C\n")
    said = run(script, status=1)
    assert (
        "ImportError: compiledpkg._C is compiled against PyTorch, which mindtorch does not" in said
    )
    assert "mindtorch.extensions" in said


def test_a_step_of_training_on_the_device_asked_for():
    run(
        "-c",
        "import torch\n"
        "import torch.nn as nn, torch.nn.functional as F\n"
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
        "torch.backends.cudnn.benchmark = True\n"
        "scaler = torch.amp.GradScaler(device, enabled=device == 'cuda')\n"
        "model = nn.Linear(3, 1).to(device)\n"
        "opt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "x = torch.randn(16, 3, device=device)\n"
        "first = None\n"
        "for _ in range(20):\n"
        "    loss = F.mse_loss(model(x), x.sum(1, keepdim=True))\n"
        "    opt.zero_grad(set_to_none=True)\n"
        "    scaler.scale(loss).backward()\n"
        "    scaler.step(opt)\n"
        "    scaler.update()\n"
        "    first = loss.item() if first is None else first\n"
        "assert loss.item() < first",
    )


@pytest.mark.skipif(not CORE.is_dir(), reason="the sources of the core are not beside this package")
def test_the_command_run_has_the_same_files():
    """``mindtorch run`` puts a copy on the path, since this package need not be installed."""

    def files(folder):
        return {
            f.relative_to(folder).as_posix(): f.read_bytes()
            for f in folder.rglob("*")
            if f.is_file() and f.suffix != ".pyc"
        }

    assert files(SOURCE) == files(CORE / "cli" / "dropin")
