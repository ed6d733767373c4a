"""Backends of third parties: the examples, two vendors in one process, and `mindtorch new-backend`."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mindtorch_core.cli import main

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"


def own_tests(site, folder, *names):
    """Run tests of a package that is installed in the site; its closing line."""
    arguments = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *names]
    done = site.python(*arguments, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


# ---- the examples --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["acme", "zed"])
def test_an_examples_own_tests_pass(site, name):
    """The kit on them is run by the sessions that install them from wheels."""
    for each in ("acme", "zed"):
        site.project(EXAMPLES / f"mindtorch-{each}")
    line = own_tests(site, EXAMPLES / f"mindtorch-{name}", "tests/test_device.py")
    assert int(re.match(r"(\d+) passed", line)[1]) >= 3


@pytest.mark.parametrize("name", ["acme", "zed"])
def test_an_example_is_typed(name):
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", os.devnull],
        cwd=EXAMPLES / f"mindtorch-{name}", capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_two_vendors_and_the_cpu_exchange_tensors(site):
    site.project(EXAMPLES / "mindtorch-acme")
    site.project(EXAMPLES / "mindtorch-zed")
    site.run(
        """
places = ("acme:0", "acme:1", "zed:0", "cpu")
source = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
for a in places:
    for b in places:
        there = torch.tensor(source, device=a)
        assert there.t().to(b).tolist() == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]], (a, b)
        target = torch.zeros(3, 2, 3, device=b)
        target[::2].copy_(there[:, :1])
        assert target.tolist()[0] == [[1.0] * 3, [4.0] * 3] == target.tolist()[2], (a, b)
        assert target[1].sum().item() == 0, (a, b)
        w = torch.tensor(source, device=a, requires_grad=True)
        (w.to(b) * 2).sum().backward()
        assert w.grad.device == w.device and w.grad.tolist() == [[2.0] * 3] * 2, (a, b)
        if torch.device(a) is not torch.device(b):
            try:
                there + there.to(b)
            except RuntimeError as error:
                assert "same device" in str(error) and a.split(":")[0] in str(error), error
            else:
                raise AssertionError((a, b))
assert plugins.load("zed").key == torch.DispatchKey.PrivateUse3
with torch.pipeline():
    x = torch.ones(2, device="acme") + 1
    y = torch.ones(2, device="zed") + x.to("zed")
assert y.tolist() == [3.0, 3.0]
"""
    )


def test_a_vendors_op_works_everywhere(site):
    site.project(EXAMPLES / "mindtorch-acme")
    site.project(EXAMPLES / "mindtorch-zed")
    site.run(
        """
torch.device("acme")
own = torch.ops.acme.softclip
assert own(torch.ones(2, 3, device="meta")).shape == (2, 3)
for on in ("acme", "zed", "cpu"):
    a = torch.zeros(2, device=on, requires_grad=True)
    own(a, 2.0).sum().backward()
    assert a.grad.tolist() == [1.0, 1.0], on
assert not hasattr(torch, "softclip") and not hasattr(torch.Tensor, "softclip")
plugins.unload("acme")
assert not hasattr(torch.ops.acme, "softclip")
"""
    )


def test_random_numbers_of_two_vendors_are_apart(site):
    site.project(EXAMPLES / "mindtorch-acme")
    site.project(EXAMPLES / "mindtorch-zed")
    site.run(
        """
torch.manual_seed(5)
first = torch.rand(3, device="acme").tolist()
torch.manual_seed(5)
torch.rand(3, device="zed"), torch.rand(3), torch.rand(3, device="acme:1")
assert torch.rand(3, device="acme").tolist() == first
"""
    )


def test_there_is_one_chip_simulation_per_loading(site):
    """A backend with threads, memory and generators goes without a trace, and comes back."""
    site.project(EXAMPLES / "mindtorch-acme")
    site.run(
        """
import gc, sys, threading, time
plugins.load("cpu"), plugins.load("meta")
registry.on_demand.define_all()
before = snapshot()
for _ in range(2):
    torch.manual_seed(1)
    a = torch.rand(4, device="acme", requires_grad=True)
    with torch.pipeline():
        (a * a).sum()
    found = a.tolist()
    plugins.unload("acme")
    assert snapshot() == before
    assert not [m for m in sys.modules if m.startswith("mindtorch_acme")]
    with refused("was made on acme:0, whose backend was unloaded"):
        a + 1
torch.manual_seed(1)
assert torch.rand(4, device="acme").tolist() == found
plugins.unload("acme")
del a
gc.collect()
until = time.monotonic() + 60
while any(t.name == "acme queue" for t in threading.enumerate()):
    assert time.monotonic() < until, "a queue's thread goes on"
    time.sleep(0.01)
"""
    )


def code_lines(file):
    """Lines of code, without comments, docstrings and empty lines."""
    import ast
    import io
    import tokenize

    text = file.read_text("utf-8")
    skip = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    kept = {
        line
        for t in tokenize.generate_tokens(io.StringIO(text).readline)
        if t.type not in skip and t.string
        for line in range(t.start[0], t.end[0] + 1)
    }
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            kept -= set(range(body[0].lineno, body[0].end_lineno + 1))
    return len(kept)


def test_a_complete_backend_is_short():
    files = (EXAMPLES / "mindtorch-acme/src/mindtorch_acme").glob("*.py")
    counted = {f.name: code_lines(f) for f in files}
    arithmetic = counted.pop("kernels.py") + counted.pop("elements.py")
    assert sum(counted.values()) < 400, counted
    assert arithmetic > 100, "the wrong files are counted"


# ---- mindtorch new-backend -----------------------------------------------------------------------


@pytest.fixture
def made(tmp_path, capsys):
    """A package that the command has just written."""
    assert main(["new-backend", "my_chip", "--directory", str(tmp_path)]) == 0
    folder = tmp_path / "mindtorch-my-chip"
    assert f"wrote {folder}" in capsys.readouterr().out
    return folder


def test_a_new_backend_loads_and_passes_the_kit_at_once(made, site):
    site.project(made)
    assert re.match(r"4 passed", own_tests(site, made))
    site.run(
        """
row = plugins.load("my_chip")
assert row.distribution == "mindtorch-my-chip 0.1.0"
assert row.key in {torch.DispatchKey[f"PrivateUse{i}"] for i in (1, 2, 3)}
"""
    )


@pytest.mark.parametrize("name", ["x", "my_chip", "a" * 20])
def test_a_new_backend_is_clean(tmp_path, name):
    assert main(["new-backend", name, "--directory", str(tmp_path)]) == 0
    (folder,) = tmp_path.iterdir()
    for tool in (["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]):
        pytest.importorskip(tool[0])
        where = ["."] if tool[0] == "ruff" else ["--cache-dir", str(ROOT / ".mypy_cache")]
        done = subprocess.run(
            [sys.executable, "-m", *tool, *where],
            cwd=folder, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (tool, done.stdout, done.stderr)


def test_a_new_backend_is_complete(made):
    files = {str(f.relative_to(made)) for f in made.rglob("*") if f.is_file()}
    assert files == {
        "pyproject.toml", "README.md", ".gitignore", ".github/workflows/ci.yml", ".github/workflows/publish.yml",
        "src/mindtorch_my_chip/__init__.py", "src/mindtorch_my_chip/plugin.py",
        "src/mindtorch_my_chip/runtime.py", "src/mindtorch_my_chip/kernels.py",
        "src/mindtorch_my_chip/known_failures.txt", "tests/test_conformance.py",
        "tests/test_device.py",
    }  # fmt: skip
    text = "".join((made / f).read_text("utf-8") for f in files)
    assert "${{ matrix.python }}" in text
    assert not re.search(r"\$[a-z]|\$\{[a-z]", text), "a word was not filled in"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Acme", "cannot be a device's name"),
        ("a-b", "cannot be a device's name"),
        ("a b", "cannot be a device's name"),
        ("", "cannot be a device's name"),
        ("_a", "cannot be a device's name"),
        ("7a", "cannot be a device's name"),
        ("lambda", "cannot be a device's name"),
        ("../x", "cannot be a device's name"),
        ("é", "cannot be a device's name"),
        ("a_", "cannot be a device's name"),
        ("a__b", "cannot be a device's name"),
        ("My-Chip", "such as my_chip"),
        ("mindtorch-zap", "such as zap"),
        ("--", "such as acme"),
        ("none", "MINDTORCH_BACKENDS=none means no backend"),
        ("core", "a package mindtorch_core is installed already"),
        ("pytest", "a package mindtorch_pytest is installed already"),
        ("a" * 21, "is too long: at most 20"),
        ("cpu", "supplied by mindtorch-cpu"),
        ("cuda", "a device that PyTorch knows"),
        ("exp", "torch.exp is something else"),
        ("float32", "torch.float32 is something else"),
    ],
)
def test_bad_names_are_refused(tmp_path, capsys, name, reason):
    assert main(["new-backend", "--directory", str(tmp_path), "--", name]) == 2
    assert reason in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_existing_folders_are_left_alone(made, capsys):
    (made / "README.md").write_text("mine")
    shutil.rmtree(made / "src")
    assert main(["new-backend", "my_chip", "--directory", str(made.parent)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert (made / "README.md").read_text() == "mine"
    assert not (made / "src").exists()
    assert main(["new-backend", "x", "--directory", str(made / "none")]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch, capsys):
    def write_text(path, text, encoding):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_text", write_text)
    assert main(["new-backend", "zap", "--directory", str(tmp_path)]) == 2
    assert re.search(r"cannot write '.*toml': No space left", capsys.readouterr().err)
