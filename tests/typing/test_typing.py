"""What type checkers make of users' code: a project that is right, and files of typos.

In a typo's file each line that is to be reported says so: ``# wrong: why``.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mindtorch_core

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
# Where the wheels are installed, checkers find by themselves what is in them.
INSTALLED = "site-packages" in mindtorch_core.__file__
FOLDERS = (".", "packages/mindtorch/src", "packages/mindtorch-nn/src")
SOURCES = () if INSTALLED else tuple(ROOT / folder for folder in FOLDERS)
PROJECT = sorted((HERE / "project").glob("*.py"))
TYPOS = sorted((HERE / "typos").glob("*.py"))


def with_mypy(files, folder):
    """Lines of errors by file, as mypy finds them in its strict mode."""
    pytest.importorskip("mypy")
    command = ["mypy", "--strict", "--config-file", os.devnull, "--follow-imports", "silent"]
    said = run([*command, "--cache-dir", str(folder.parent / "mypy")], files, folder, "MYPYPATH")
    return errors(r"^(.+?):(\d+): error: (.*)", said)


def with_pyright(files, folder):
    """Lines of errors and warnings by file, as Pyright finds them."""
    pytest.importorskip(
        "pyright", reason="Pyright, of the dependency group `typing`, is not installed"
    )
    said = run(["pyright", "--pythonpath", sys.executable], files, folder, "PYTHONPATH")
    return errors(r"^ +(.+?):(\d+):\d+ - (?:error|warning): (.*)", said)


def run(command, files, folder, variable):
    """What a type checker prints about copies of files, in a folder where nothing else is."""
    folder.mkdir()
    copies = [shutil.copy(file, folder) for file in files]
    done = subprocess.run(
        [sys.executable, "-m", *command, *map(str, copies)],
        env={**os.environ, variable: os.pathsep.join(map(str, SOURCES))},
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert done.stdout.strip(), done.stderr
    return done.stdout


def errors(pattern, said):
    found = {}
    for file, line, text in re.findall(pattern, said, re.MULTILINE):
        found.setdefault(Path(file).name, {}).setdefault(int(line), []).append(text)
    return found


def marked(file):
    """The lines of a file that are to be reported."""
    lines = file.read_text("utf-8").splitlines()
    return {number for number, line in enumerate(lines, 1) if "# wrong: " in line}


CHECKERS = {"mypy": with_mypy, "pyright": with_pyright}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Errors by checker, made when they are first asked for."""
    made, root = {}, tmp_path_factory.mktemp("typing")

    def by(checker, files):
        key = f"{checker}-{files[0].parent.name}"
        if key not in made:
            made[key] = CHECKERS[checker](files, root / key)
        return made[key]

    return by


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_typed_project_is_accepted(found, checker):
    assert found(checker, PROJECT) == {}


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize("file", TYPOS, ids=lambda file: file.stem)
def test_typos_are_found_and_nothing_else(found, checker, file):
    reported = found(checker, TYPOS).get(file.name, {})
    wanted = marked(file)
    assert len(wanted) > 20
    assert {line: reported[line] for line in reported if line not in wanted} == {}
    assert wanted - {*reported} == set(), "not reported"


def test_the_typed_project_runs(tmp_path):
    code = "import pathlib, sys, train; print(train.main(pathlib.Path(sys.argv[1])))"
    paths = [str(HERE / "project"), *sys.path]
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "'launched'" in done.stdout
