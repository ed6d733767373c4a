"""``mindtorch run`` and ``mindtorch wheel-torch``."""

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mindtorch_core.cli import launch, main

ROOT = Path(__file__).parents[2]


def run(*arguments, env=None, text=None):
    """Run the command, with this project's packages on the path of what it runs."""
    source = {"stdin": subprocess.DEVNULL} if text is None else {"input": text}
    return subprocess.run(
        [sys.executable, "-m", "mindtorch_core", "run", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **(env or {})},
        **source, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture
def script(tmp_path):
    def write(text):
        file = tmp_path / "script.py"
        file.write_text(text)
        return file

    return write


def test_a_script_is_run_as_python_runs_it(script):
    file = script(
        "import sys, torch, mindtorch_core\n"
        "assert torch is mindtorch_core and __name__ == '__main__'\n"
        "print(sys.argv, __file__, sys.path[0])\n"
        "sys.exit(7)\n"
    )
    done = run(file, "--epochs", "3", "-m", "x")
    assert done.returncode == 7, done.stderr
    assert done.stdout == f"{[str(file), '--epochs', '3', '-m', 'x']} {file} {file.parent}\n"


def test_a_text_and_a_module():
    done = run("-c", "import sys, torch; print(sys.argv, torch.__version__ >= (2,))", "a", "-b")
    assert done.stdout == "['-c', 'a', '-b'] True\n", done.stderr
    done = run(
        "-m", "timeit", "-n", "1", "-r", "1", "import torch; assert torch.ones(2).sum() == 2"
    )
    assert done.returncode == 0, done.stderr


def test_options_of_python_are_handed_on(script):
    text = (
        "import sys, torch\n"
        "print(sys.stdout.write_through, sys.flags.optimize, sys.dont_write_bytecode)\n"
        "print(sys.warnoptions[-2:], sys._xoptions.get('faulthandler'), sys.argv)\n"
    )
    file = script(text)
    given = ("-uOO", "-B", "-W", "error", "-Wignore::UserWarning", "-X", "faulthandler")
    done = run(*given, file, "-u")
    facts = "True 2 True\n['error', 'ignore::UserWarning'] True"
    assert done.stdout == f"{facts} {[str(file), '-u']}\n", done.stderr
    done = run(*given, "-c", text, "-O")
    assert done.stdout == f"{facts} ['-c', '-O']\n", done.stderr


def test_a_prompt_stands_after_the_program_or_instead_of_one():
    left = "import torch; left = torch.ones(2).sum()"
    done = run("-iqbb", "-c", left, text="import sys; print(left, sys.flags.bytes_warning)\n")
    assert (done.returncode, done.stdout) == (0, "tensor(2.) 2\n"), done.stderr
    done = run("-i", text=f"{left}; print(left)\n")
    assert (done.returncode, done.stdout) == (0, "tensor(2.)\n"), done.stderr


@pytest.mark.parametrize("flag", ["-E", "-I", "-S"])
def test_options_with_which_python_would_not_find_it_are_refused(flag, capsys):
    assert main(["run", f"-u{flag[1]}", "-c", "import torch"]) == 2
    assert capsys.readouterr().err.startswith(f"mindtorch run: {flag} hides mindtorch from Python")


def test_an_unknown_option_is_the_commands_error(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["run", "--nonesuch", __file__])
    assert capsys.readouterr().err.endswith(
        "mindtorch run: error: unrecognized arguments: --nonesuch\n"
    )


def test_a_program_may_be_piped_in():
    text = "import sys, torch; print(sys.argv, torch.ones(2).tolist())"
    assert run(text=text).stdout == "[''] [1.0, 1.0]\n"
    assert run("-", "x", text=text).stdout == "['-', 'x'] [1.0, 1.0]\n"
    refused = run("-n", "2", text=text)
    assert refused.returncode == 2
    assert "name a script" in refused.stderr


def test_errors_and_signals_are_the_scripts(script):
    done = run(script("import torch\nraise KeyError('mine')\n"))
    assert done.returncode == 1
    assert done.stderr.endswith("KeyError: 'mine'\n")
    assert "cli/run.py" not in done.stderr
    done = run(script("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n"))
    assert done.returncode == -signal.SIGTERM


def test_profilers_and_debuggers(script, tmp_path):
    file = script("import sys, torch\nx = torch.ones(2)\nprint(x.sum().item(), sys.argv)\n")
    found = tmp_path / "found.prof"
    done = run("-m", "cProfile", "-o", found, file, "a")
    assert done.stdout == f"2.0 {[str(file), 'a']}\n", done.stderr
    done = run(
        "-m", "pstats", found, env={"COLUMNS": "200"}
    )  # its commands come from here, and end
    assert done.returncode == 0
    assert "statistics browser" in done.stdout
    done = run("-m", "pdb", "-c", "until 3", "-c", "p x.shape, __name__", "-c", "q", file)
    assert "(torch.Size([2]), '__main__')" in done.stdout, done.stdout + done.stderr
    done = run("-m", "cProfile", script("import torch\nraise KeyError('mine')\n"))
    assert done.returncode == 1
    assert done.stderr.endswith("KeyError: 'mine'\n")


def test_children_inherit_it(script):
    done = run(
        script(
            "import multiprocessing, subprocess, sys, torch\n"
            "def work(answer): answer.put(torch.__version__)\n"
            "if __name__ == '__main__':\n"
            "    ask = 'import torch; print(torch.__version__)'\n"
            "    print(subprocess.check_output([sys.executable, '-c', ask], text=True), end='')\n"
            "    for method in ('spawn', 'fork'):\n"
            "        context = multiprocessing.get_context(method)\n"
            "        answer = context.SimpleQueue()\n"
            "        child = context.Process(target=work, args=(answer,))\n"
            "        child.start()\n"
            "        print(answer.get())\n"
            "        child.join()\n"
        )
    )
    versions = done.stdout.split()
    assert len(versions) == 3, done.stderr
    assert set(versions) == {versions[0]}
    assert "+mindtorch." in versions[0]


def test_a_device_that_stands_for_cuda(script):
    done = run(
        "--device", "cpu", "--as-cuda",
        script(
            "import torch, torch.cuda\n"
            "assert torch.accelerator.current_accelerator() == torch.device('cpu')\n"
            "assert torch.cuda.is_available() and torch.cuda.device_count() == 1\n"
            "x = torch.ones(2, device='cuda').cuda()\n"
            "assert x.is_cuda and x.device == torch.device('cuda')\n"
            "with torch.autocast('cuda', dtype=torch.bfloat16):\n"
            "    assert (torch.ones(2, 2, device='cuda') @ torch.ones(2, 2)).dtype is torch.bfloat16\n"
        ),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "from torch.nn import Linaer",
            "cannot import name 'Linaer' from 'torch.nn': mindtorch lacks it.",
        ),
        (
            "from torch.optim import Adamm",
            "from 'torch.optim': mindtorch lacks it. Did you mean Adam",
        ),
        ("from torch.nn.functional import foo", "from 'torch.nn.functional': mindtorch lacks it."),
        ("from torch import foo_bar", "from 'torch': mindtorch lacks it."),
        ("import torch.utils.data as d; d.Foo", "module 'torch.utils.data' has no attribute 'Foo'"),
        (
            "import torch; torch.backends.cudnn.foo",
            "module 'torch.backends.cudnn' has no attribute",
        ),
    ],
)
def test_errors_name_pytorchs_modules(text, said):
    done = run("-c", text)
    last = done.stderr.splitlines()[-1]
    assert said in last
    assert last.endswith("If PyTorch has it, ask for it in mindtorch's list of issues.")
    assert "mindtorch_" not in last


def test_names_of_cuda_where_another_device_stands_for_it(script):
    done = run(
        "--device", "meta", "--as-cuda",
        script(
            "import io, torch\n"
            "x = torch.cuda.FloatTensor([1.0])\n"
            "assert x.is_cuda and isinstance(x, torch.cuda.FloatTensor)\n"
            "assert not isinstance(torch.ones(1), torch.cuda.FloatTensor)\n"
            "assert torch.ones(1).type('torch.cuda.DoubleTensor').dtype is torch.float64\n"
            "assert torch.ones(1).type(torch.cuda.FloatTensor).is_cuda\n"
            "assert x.type() == torch.typename(x) == 'torch.cuda.FloatTensor'\n"
            "assert torch.ones(1).type(x.type()).is_cuda\n"
            "torch.set_default_tensor_type(torch.cuda.DoubleTensor)\n"
            "assert torch.ones(1).is_cuda and torch.ones(1).dtype is torch.float64\n"
            "torch.set_default_tensor_type('torch.cuda.FloatTensor')\n"
            "assert torch.ones(1).is_cuda and torch.ones(1).dtype is torch.float32\n"
            "torch.set_default_tensor_type('torch.FloatTensor')\n"
            "assert not torch.ones(1).is_cuda\n"
            "for name in ('CUDAGraph', 'make_graphed_callables'):\n"
            "    try:\n"
            "        getattr(torch.cuda, name)()\n"
            "    except NotImplementedError as error:\n"
            "        assert \"backend of 'meta'\" in str(error) and 'has no graphs' in str(error)\n"
            "    else:\n"
            "        raise AssertionError(name)\n"
            "try:\n"
            "    raise torch.OutOfMemoryError('full')\n"
            "except torch.cuda.OutOfMemoryError:\n"
            "    pass\n"
        ),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_file_is_loaded_where_another_device_stands_for_cuda(script):
    simulator = pytest.importorskip("mindtorch_npu_simulator")
    done = run(
        "--device", "npu", "--as-cuda",
        script(
            "import io, torch\n"
            "file = io.BytesIO()\n"
            "torch.save(torch.ones(2, device='cuda'), file)\n"
            "def load(where):\n"
            "    file.seek(0)\n"
            "    return torch.load(file, map_location=where)\n"
            "assert load({'cuda:0': 'cpu'}).is_cpu and load({'npu:0': 'cpu'}).is_cpu\n"
            "assert load({'cuda:0': 'cuda:0'}).is_cuda and load({'cuda:7': 'cpu'}).is_cuda\n"
            "seen = []\n"
            "assert load(lambda storage, place: seen.append(place)).is_cuda\n"
            "assert seen == ['cuda:0']\n"
            "assert load(lambda storage, place: storage).is_cpu\n"
        ),
        env={"ASCEND_TOOLKIT_HOME": str(simulator.toolkit_root())},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_what_cannot_be_run(capsys, monkeypatch):
    for arguments, said in [
        ([], "name a script"),
        (["nonesuch.py"], "there is no file 'nonesuch.py'"),
        (["-m"], "-m wants an argument"),
        (["--device", "nonesuch", __file__], "nonesuch"),
    ]:
        assert main(["run", *arguments]) == 2
        assert said in capsys.readouterr().err


def test_the_wheel(tmp_path, capsys):
    assert main(["wheel-torch", str(tmp_path / "new")]) == 0
    made = Path(capsys.readouterr().out.strip())
    first = made.read_bytes()
    assert main(["wheel-torch", str(tmp_path / "new")]) == 0
    assert made.read_bytes() == first
    with zipfile.ZipFile(made) as archive:
        names = archive.namelist()
        (metadata,) = (n for n in names if n.endswith("/METADATA"))
        text = archive.read(metadata).decode()
        record = archive.read(next(n for n in names if n.endswith("/RECORD"))).decode()
    assert "Name: torch\n" in text
    assert "Private :: Do Not Upload" in text
    assert "Requires-Dist: mindtorch~=" in text
    assert [line.partition(",")[0] for line in record.splitlines()] == names
    (tmp_path / "file").write_text("")
    assert main(["wheel-torch", str(tmp_path / "file")]) == 2


def test_a_launcher_that_starts_nothing_is_quoted(tmp_path, monkeypatch, capsys, script):
    launcher = tmp_path / "mpiexec"
    launcher.write_text("#!/bin/sh\necho there are no slots\nexit 5\n")
    launcher.chmod(0o755)
    monkeypatch.setattr(launch, "mpiexec", lambda *, replaces: [str(launcher)])
    assert main(["run", "-n", "2", str(script("raise SystemExit(0)"))]) == 5
    said = capsys.readouterr().err
    assert said.endswith("rank 0 was not started, or was killed\nthere are no slots\n")
