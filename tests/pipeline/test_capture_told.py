"""`torch.pipeline.capture`: what libraries say is set, and what things are called, is guarded."""

import decimal
import gc
import os
import sys
import threading
from decimal import Decimal
from os import getcwd

import numpy as np
import pytest

import mindtorch_core as torch

capture = torch.pipeline.capture


class Named:
    """What may be called otherwise later."""


def helper():
    """The same."""


THING = Named()


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    monkeypatch.chdir(os.path.dirname(__file__))
    limit = sys.getrecursionlimit()
    with decimal.localcontext(), np.errstate():
        yield
    sys.setrecursionlimit(limit)
    gc.enable()
    Named.__name__, helper.__name__ = "Named", "helper"


def _precision(x):
    return x * float(decimal.Decimal(1) / decimal.Decimal(3))


def _precision_by_class(x):
    return x * float(Decimal(1) / Decimal(3))


def _class(x):
    return x * len(Named.__name__)


def _class_of_object(x):
    return x * len(type(THING).__name__)


def _function(x):
    return x * len(helper.__name__)


TOLD = {
    "precision": (_precision, lambda: setattr(decimal.getcontext(), "prec", 3), "prec of decimal"),
    "precision by class": (
        _precision_by_class,
        lambda: setattr(decimal.getcontext(), "prec", 3),
        "prec of decimal",
    ),
    "class": (_class, lambda: setattr(Named, "__name__", "N"), r"Named.__name__ was 'Named'"),
    "class of object": (_class_of_object, lambda: setattr(Named, "__name__", "N"), "is 'N' now"),
    "function": (_function, lambda: setattr(helper, "__name__", "h"), r"helper.__name__ was"),
    "folder": (lambda x: x * len(os.getcwd()), lambda: os.chdir(os.sep), r"os.getcwd\(\) was"),
    "folder by its function": (
        lambda x: x * len(getcwd()),
        lambda: os.chdir(os.sep),
        r"getcwd\(\) was",
    ),
    "collector": (lambda x: x * gc.isenabled(), gc.disable, r"gc.isenabled\(\) was True .* False"),
    "recursion": (
        lambda x: x * sys.getrecursionlimit(),
        lambda: sys.setrecursionlimit(sys.getrecursionlimit() + 1),
        r"sys.getrecursionlimit\(\) was \d+ when",
    ),
    "errors": (
        lambda x: x * len(np.geterr()["divide"]),
        lambda: np.seterr(divide="ignore"),
        r"np.geterr\(\) was",
    ),
}


@pytest.mark.parametrize("what", TOLD)
def test_what_is_told_otherwise_is_refused(what):
    fn, change, text = TOLD[what]
    captured = capture(fn)
    x = torch.ones(2)
    assert all(torch.equal(captured(x), fn(x)) for _ in range(2))
    change()
    with pytest.raises(torch.CaptureError, match=text):
        captured(x)
    captured.reset()
    assert torch.equal(captured(x), fn(x))


ASKED_OF_THREADS = {
    "name": lambda x: x * len(threading.current_thread().name),
    "number": lambda x: x * (threading.get_ident() % 97),
}


@pytest.mark.parametrize("what", ASKED_OF_THREADS)
def test_another_thread_is_refused_where_the_code_asks_for_it(what):
    fn = ASKED_OF_THREADS[what]
    captured, x, raised = capture(fn), torch.ones(2), []

    def there():
        try:
            captured(x)
        except torch.CaptureError as error:
            raised.append(str(error))

    assert all(torch.equal(captured(x), fn(x)) for _ in range(2))
    thread = threading.Thread(target=there, name="another")
    thread.start()
    thread.join()
    assert len(raised) == 1
    assert " when it was captured, and is " in raised[0]


ASKED_OF_HISTORY = {
    "is_leaf": lambda x: x.detach() * (2 if x.is_leaf else 3),
    "grad_fn": lambda x: x.detach() * (2 if x.grad_fn is None else 3),
}


@pytest.mark.parametrize("what", ASKED_OF_HISTORY)
def test_where_an_argument_stands_in_a_graph_is_guarded_where_the_code_asks_for_it(what):
    captured = capture(ASKED_OF_HISTORY[what])
    leaf = torch.ones(2, requires_grad=True)
    assert [captured(leaf).tolist() for _ in range(2)] == [[2, 2]] * 2
    with pytest.raises(
        torch.CaptureError,
        match=r"argument 'x' was a leaf when it was captured, and is a result of MulBackward0 now",
    ):
        captured(leaf * 1)
    captured.reset()
    assert captured(leaf * 1).tolist() == captured(leaf * 1).tolist() == [3, 3]


def test_a_count_of_writes_is_refused_as_each_call_may_find_another():
    x = torch.ones(2)
    with pytest.raises(
        torch.CaptureError, match=r"_version at .*test_capture_told.py:\d+"
    ) as raised:
        capture(lambda t: t * float(t._version))(x.add_(1))
    assert raised.value.result.tolist() == [2.0, 2.0]


BIG = np.ones((3, 1 << 20))
COMPLEX = np.ones(3 << 20, np.complex64)
BYTES = bytearray(20 << 20)


def fill(memory, number):
    memory[...] = number


LARGE = {
    "first": (lambda x: x * float(BIG[0, 0]), lambda: fill(BIG[0, :1], 2)),
    "last": (lambda x: x * float(BIG[-1, -1]), lambda: fill(BIG[-1, -1:], 3)),
    "all": (lambda x: x * float(BIG[1, 5]), lambda: fill(BIG[1], 4)),
    "bytes": (lambda x: x * BYTES[-7], lambda: BYTES.__setitem__(-7, 5)),
}


@pytest.mark.parametrize("what", LARGE)
def test_memory_too_large_to_be_compared_is_compared_in_places(what):
    fn, change = LARGE[what]
    captured = capture(fn)
    x = torch.ones(2)
    assert all(torch.equal(captured(x), fn(x)) for _ in range(2))
    change()
    with pytest.raises(torch.CaptureError, match="holds was something when it was captured"):
        captured(x)


def test_large_memory_of_other_formats_is_left_alone():
    captured = capture(lambda x: x * COMPLEX[0].real)
    assert all(captured(torch.ones(2)).tolist() == [1.0, 1.0] for _ in range(3))
