"""Generated functions are code like any other: their source, tracebacks and debuggers show it."""

import gc
import inspect
import linecache
import pdb
import traceback
from io import StringIO

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry


def shown(error):
    return "".join(traceback.format_exception(error))


def files():
    return {name for name in linecache.cache if name.startswith("<mindtorch ")}


@pytest.mark.parametrize(
    ("fn", "line"),
    [
        (torch.add, "def add(input, other, *mt·older, alpha=1, out=None):"),
        (torch.Tensor.add, "def add(input, other, *mt·older, alpha=1, out=None):"),
        (torch.Tensor.__mul__, "def __mul__(self, other):"),
        (torch.Tensor.__neg__, "def __neg__(self):"),
        (torch.linalg.inv, "def linalg_inv(A, *, out=None):"),
    ],
)
def test_the_source_of_an_op_is_what_runs(fn, line):
    source = inspect.getsource(fn)
    assert source.startswith(line)
    again = {}
    exec(compile(source, "again", "exec"), vars(inspect.getmodule(object)).copy(), again)
    (copy,) = again.values()
    assert copy.__code__.co_code == fn.__code__.co_code
    linecache.checkcache()
    assert inspect.getsource(fn) == source


def test_a_signature_is_that_of_the_schema():
    parameters = inspect.signature(torch.add).parameters
    assert list(parameters) == ["input", "other", "alpha", "out"]
    assert parameters["alpha"].default == 1
    assert inspect.signature(torch.zeros).parameters["dtype"].default is None


def test_a_traceback_shows_the_line_of_the_call(monkeypatch):
    monkeypatch.setenv("MINDTORCH_TRACEBACK", "full")
    with pytest.raises(RuntimeError) as caught:
        torch.ones(2).matmul(torch.ones(3))
    assert "kernel(input, other)" in shown(caught.value)


def test_recording_and_gradients_are_shown_in_tracebacks(monkeypatch):
    monkeypatch.setenv("MINDTORCH_TRACEBACK", "full")
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError) as caught:
        x * torch.ones(3)
    frames = traceback.extract_tb(caught.value.__traceback__)
    generated = [f for f in frames if f.filename.startswith("<mindtorch")]
    assert len(generated) == 2
    assert all(f.line for f in generated)
    assert generated[1].filename.startswith("<mindtorch mul, recorded")


def test_a_debugger_lists_a_generated_function():
    torch.mul(torch.ones(2), 2)
    said = StringIO()
    debugger = pdb.Pdb(stdin=StringIO("step\nlonglist\ncontinue\n"), stdout=said, nosigint=True)
    debugger.runcall(lambda: torch.mul(torch.ones(2), 2))
    debugger = pdb.Pdb(stdin=StringIO("longlist\ncontinue\n"), stdout=said, nosigint=True)
    debugger.runcall(torch.mul, torch.ones(2), 2)
    assert "def mul(input, other" in said.getvalue()


def test_two_functions_of_one_name_have_a_file_each():
    torch.ones(2) + 1
    add, add_out_of_place = torch.add, torch.ops.aten.add.Tensor
    add_out_of_place(torch.ones(2), torch.ones(2))
    one = inspect.getsourcefile(add)
    with registry.scope():
        torch.library.define("shown_twice::add", "(Tensor x) -> Tensor")
        torch.library.impl("shown_twice::add", "CPU", lambda x: x.clone())
        torch.ops.shown_twice.add(torch.ones(2))
        assert len({f for f in files() if f.startswith("<mindtorch add")}) > 1
    assert inspect.getsource(add).startswith("def add(input, other")
    assert inspect.getsourcefile(add) == one


def test_what_was_undone_is_shown_no_longer():
    torch.ones(2).sum()
    before = files()
    with registry.scope():
        torch.library.define("shown_once::twice", "(Tensor x) -> Tensor")
        torch.library.impl("shown_once::twice", "CPU", lambda x: x + x)
        torch.ops.shown_once.twice(torch.ones(2))
        assert any("twice" in name for name in files() - before)
    gc.collect()
    assert not [name for name in files() if "twice" in name]
