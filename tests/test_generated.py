"""Generated files are what the one command writes, which says so and mends it where they are not."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "docs" / "make.py"


@pytest.fixture
def make(tmp_path, monkeypatch):
    """The command as a module, whose files lie in a folder of their own."""
    spec = importlib.util.spec_from_file_location("make_under_test", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # dataclasses look their module up
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


def test_all_are_current():
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--check"],
        capture_output=True, text=True, encoding="utf-8", timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}{done.stderr}run: python docs/make.py"


def test_every_generator_has_its_module_and_every_module_is_named(make):
    modules = {p.stem for p in (ROOT / "docs" / "generators").glob("*.py")} - {"__init__"}
    assert {g.module for g in make.GENERATORS.values()} == modules


def test_what_differs_is_written_and_what_should_not_be_there_goes(make, tmp_path):
    (tmp_path / "old.pyi").write_text("gone")
    (tmp_path / "same.md").write_text("same")
    made = {"new/page.md": "new", "old.pyi": None, "same.md": "same", "never.md": None}
    assert make.update(made, check=True) == ["new/page.md", "old.pyi"]
    assert (tmp_path / "old.pyi").exists()
    assert not (tmp_path / "new").exists()
    assert make.update(made, check=False) == ["new/page.md", "old.pyi"]
    assert (tmp_path / "new" / "page.md").read_text() == "new"
    assert make.update(made, check=True) == []


def test_an_unknown_name_is_refused(make, capsys):
    with pytest.raises(SystemExit):
        make.main(["tables"])
    assert "no generator tables; there are" in capsys.readouterr().err


def test_all_are_those_that_can_run_and_the_others_are_named(make, monkeypatch, capsys):
    Generator = make.Generator
    table = {
        "here": Generator("here"),
        "far": Generator("far", by_default=False),
        "lost": Generator("lost", by_default=False, needs=("json", "never_installed")),
    }
    monkeypatch.setattr(make, "GENERATORS", table)
    ran = []

    class Process:
        """Runs nothing, and says what it was to run."""

        def __init__(self, *args, **kwargs):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *exc_info):
            pass

        def submit(self, function, name):
            ran.append(name)
            return self

        def result(self):
            return {}

    monkeypatch.setattr(make, "ProcessPoolExecutor", Process)
    assert make.main(["--all", "--check"]) == 0
    assert ran == ["here", "far"]
    assert capsys.readouterr().out == "left out: lost (needs never_installed)\n"
    ran.clear()
    assert make.main(["--check"]) == 0
    assert ran == ["here"]
