"""Functions whose code is exchanged are code like any other, to debuggers, tracebacks and warnings."""

import inspect
import linecache
import subprocess
import sys
import traceback
import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.calls.generated import Template
from mindtorch_core.dispatch.exchanged import as_it_was, exchange

MARK = "to warnings importlib._bootstrap"  # in the names of their files
# All functions that are there, armed: their frames are read where debuggers, tracebacks with
# ``capture_locals`` and pytest read them.
READING = """
import sys, traceback, types, gc
MARK = sys.argv[1]
import mindtorch_core as torch
import mindtorch_core.nn.functional
torch.nn.Linear
class Mine(torch.Tensor):
    pass
Mine([1.0]) + 1
read = set()
def look(frame, event, arg):
    if MARK in frame.f_code.co_filename:
        found = frame.f_locals
        assert all(name in found for name in frame.f_code.co_freevars), (frame.f_code, found)
        read.add(frame.f_code)
    return look
functions = [f for f in gc.get_objects() if isinstance(f, types.FunctionType) and hasattr(f, "__wrapped__")]
functions = [f for f in functions if MARK in f.__code__.co_filename]
for function in functions:
    sys.settrace(look)
    try:
        function(*[object()] * 40)
    except BaseException as error:
        sys.settrace(None)
        traceback.TracebackException.from_exception(error, capture_locals=True)
    sys.settrace(None)
codes = {f.__code__ for f in functions}
print(len(codes - read), len(codes) > 100, sum(bool(f.__code__.co_freevars) for f in functions) > 20)
"""


def test_all_of_their_frames_can_be_read():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", READING, MARK], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.split()) == (0, ["0", "True", "True"]), done.stderr


def counting():
    """A function with free variables, one of them called as what stands before it calls its own."""
    args, _original, kwargs = 1, 2, 3

    def function(a, *, b=4):
        if a == 0:
            raise ValueError("zero")
        return args, _original, kwargs, a, b

    return function


RELAY = Template("""\
@seen.append((@args, @kwargs))
return @original(*@args, **@kwargs)
""")


def test_free_variables_keep_their_values_and_names():
    function, seen = counting(), []
    before = function.__code__.co_freevars
    exchange(function, as_it_was(function), "who looks", RELAY, seen=seen)
    assert function(5, b=6) == (1, 2, 3, 5, 6)
    assert function(5) == (1, 2, 3, 5, 4)
    assert seen == [((5,), {"b": 6}), ((5,), {})]
    assert function.__code__.co_freevars == before == ("_original", "args", "kwargs")
    assert list(inspect.signature(function).parameters) == ["a", "b"]


def test_what_is_exchanged_can_be_exchanged_again():
    function, seen = counting(), []
    for _ in range(3):
        exchange(function, as_it_was(function), "who looks", RELAY, seen=seen)
    assert function(5) == (1, 2, 3, 5, 4)
    assert len(seen) == 3


def test_a_traceback_shows_the_line_and_the_free_variables():
    function = counting()
    exchange(function, as_it_was(function), "who looks", RELAY, seen=[])
    with pytest.raises(ValueError, match="zero") as caught:
        function(0)
    _, relay, _ = traceback.TracebackException.from_exception(
        caught.value, capture_locals=True
    ).stack
    assert relay.name == "function"
    assert relay.line == "return mt·original(*mt·args, **mt·kwargs)"
    assert (relay.locals["args"], relay.locals["mt·args"]) == ("1", "(0,)")
    assert linecache.getline(relay.filename, 2).strip().startswith("def mt·called(")


def test_functions_of_the_core_show_what_stands_before_them(monkeypatch):
    monkeypatch.setenv("MINDTORCH_TRACEBACK", "full")
    with pytest.raises(TypeError) as caught:
        torch.nn.functional.max_pool2d(torch.ones(1, 2, 8, 8), "a")
    frames = [f for f, _ in traceback.walk_tb(caught.value.__traceback__)]
    shown = traceback.extract_tb(caught.value.__traceback__)
    lines = [s.line for f, s in zip(frames, shown, strict=True) if MARK in f.f_code.co_filename]
    assert lines
    assert all(lines)


def test_warnings_do_not_count_their_frames():
    def warn():
        warnings.warn("here", stacklevel=2)

    exchange(warn, as_it_was(warn), "who looks", RELAY, seen=[])
    with pytest.warns(UserWarning, match="here") as caught:
        warn()
    assert caught[0].filename == __file__
