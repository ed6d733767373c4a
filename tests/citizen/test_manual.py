"""What ``help`` says of the functions that programs use most: arguments, errors, examples that run."""

import doctest
import importlib
import inspect
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core.opdefs import manual

NAMES = sorted(name for _, names in manual.homes.HOMES for name in names.split())
ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def function(name):
    homes = (torch, torch.Tensor, torch.nn.functional)
    return next(getattr(home, name) for home in homes if hasattr(home, name))


def test_there_are_a_hundred_and_each_has_one_home():
    assert len(NAMES) == len({*NAMES}) >= 100
    for family, names in manual.homes.HOMES:
        pages = importlib.import_module(f"{manual.__name__}.{family}").PAGES
        assert {*pages} == {*names.split()}, family


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_run(name):
    doc = inspect.getdoc(function(name))
    example = doctest.DocTestParser().get_doctest(doc, {"torch": torch}, name, None, 0)
    assert example.examples
    failures = []
    doctest.DocTestRunner(optionflags=FLAGS).run(example, out=failures.append)
    assert not failures, "".join(failures)


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_is_described_and_no_other(name):
    page = manual.page(name)
    described = re.findall(r"^    (\w+): ", page.split("Args:\n")[1].split("\n\n")[0], re.MULTILINE)
    assert len(described) == len({*described})
    taken = inspect.signature(function(name)).parameters
    assert {*described} == {"input" if name == "self" else name for name in taken}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_short_of_nothing(name):
    page = manual.page(name)
    assert page.startswith("Args:\n")
    assert page == page.strip()
    assert all(len(line) <= 110 for line in page.splitlines())
    sections = re.findall(r"^(\w+):$", page, re.MULTILINE)
    assert sections[0] == "Args"
    assert sections[-1] == "Example"
    assert {*sections} <= {"Args", "Returns", "Raises", "Example"}


@pytest.mark.parametrize("name", [n for n in NAMES if n not in manual.DIFFERENCES])
def test_what_is_said_to_agree_with_pytorch_does(name):
    kinds = (
        "reduction|binary|no_rounding|trunc_rounding|floor_rounding|constant|reflect|variadic|list"
    )
    row = re.compile(
        rf"^\| `(?:nn_functional_)?{name.rstrip('_')}(?:_(?:{kinds})\w*)?` \| (\w+) ", re.MULTILINE
    )
    found = row.findall((ROOT / "docs" / "opinfo.md").read_text("utf-8"))
    assert {*found} == {"pass"}


def test_help_shows_a_page_on_functions_and_methods():
    for thing in (torch.sum, torch.Tensor.sum):
        said = pydoc.plain(pydoc.render_doc(thing))
        assert "keepdim: whether reduced dimensions stay" in said
        assert ">>> x = torch.tensor" in said
        assert "·" not in said


def test_help_on_tensors_shows_what_is_public():
    said = pydoc.plain(pydoc.render_doc(torch.Tensor))
    assert re.findall(r"^ \|  (_[a-z]\w*)", said, re.MULTILINE) == []
    assert "sum(self, dim=None, keepdim=False" in said
    assert "·" not in said


def test_imports_read_no_page():
    code = "import sys, mindtorch_core; print(*(n for n in sys.modules if 'opdefs.manual' in n))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
