"""`torch.pipeline.capture` of functions that ask which objects, modules and registered classes there are."""

import abc
import collections.abc
import gc
import inspect
import locale
import os
import signal
import sys
import threading
import traceback

import pytest

import mindtorch_core as torch
from mindtorch_core import nn

capture = torch.pipeline.capture


class Shape(abc.ABC):
    """What others may be registered as."""

    @abc.abstractmethod
    def area(self):
        """Its size."""


class Wide(Shape):
    """A kind of that, with others of its own."""


class Thing:
    """An object that is registered later."""

    def __init__(self):
        self.part = object()


THING = Thing()
LAYER = nn.Linear(2, 2)
NAME = "of_a_capture_by_name"


def _arguments_attribute(x, held):
    return x * (id(held.part) % 7)


HELD = {
    "variable": lambda x: x * (id(THING) % 7),
    "attribute": lambda x: x * (id(THING.part) % 7),
    "parameters": lambda x: x * len({id(p) for p in LAYER.parameters()}),
    "fixed": lambda x: x * (id(NAME) % 7) * (id(int) % 7) * (hash("text") % 7),
    "hash of what is held": lambda x: x * (hash(THING) % 7),
}
OTHERS = {
    "argument": lambda x: x * (id(x) % 7),
    "its hash": lambda x: x * (hash(x) % 7),
    "result": lambda x: x * (id(x * 2) % 7),
    "new object": lambda x: x * (id([]) % 7),
    "new object by a name": lambda x: next(x * (id(new) % 7) for new in [[1]]),
    "attribute of an argument": lambda x: x * (id(x.shape) % 7),
}


@pytest.mark.parametrize("what", HELD)
def test_identities_of_what_the_function_holds_are_the_same_again(what):
    step, x = capture(HELD[what]), torch.ones(2)
    for _ in range(3):
        assert step(x).tolist() == HELD[what](x).tolist()


def test_identities_of_objects_that_are_given_are_the_same_again():
    step, x, held = capture(_arguments_attribute), torch.ones(2), Thing()
    for _ in range(3):
        assert step(x, held).tolist() == _arguments_attribute(x, held).tolist()


@pytest.mark.parametrize("what", OTHERS)
def test_identities_of_other_objects_are_refused(what):
    text = r"identity of an object that it does not hold, .* by (id|hash)\(\) at .*_identity.py:\d+"
    with pytest.raises(torch.CaptureError, match=text) as raised:
        capture(OTHERS[what])(torch.ones(2))
    assert raised.value.result.shape == (2,)


def test_identities_that_something_else_asks_for_are_refused():
    def step(x):
        return x * len({*map(id, [x, x * 2])})

    with pytest.raises(torch.CaptureError, match=r"passes on id\(\), .*_identity.py:\d+: call it"):
        capture(step)(torch.ones(2))


def _isinstance(kind):
    return lambda x: x * (2 if isinstance(THING, kind) else 1)


def _of_library(x):
    return x * (2 if isinstance(THING, collections.abc.Sequence) else 1)


REGISTERED = {
    "class": (_isinstance(Shape), Shape),
    "class of it": (_isinstance(Shape), Wide),
    "of Python": (_of_library, collections.abc.Sequence),
    "subclass": (lambda x: x * (2 if issubclass(Thing, Wide) else 1), Wide),
}


@pytest.mark.parametrize("what", REGISTERED)
def test_classes_that_are_registered_later(what):
    fn, kind = REGISTERED[what]
    step, x = capture(fn), torch.ones(2)
    assert [step(x).tolist(), step(x).tolist()] == [fn(x).tolist()] * 2
    kind.register(type("Another", (), {}))
    with pytest.raises(torch.CaptureError, match=r"classes registered with .* and is .* now"):
        step(x)


MODULES = {
    "in": lambda x: x * (2 if "of_a_capture_in" in sys.modules else 1),
    "by name": lambda x: x * (2 if NAME in sys.modules else 1),
    "get": lambda x: x * (2 if sys.modules.get("of_a_capture_get") else 1),
    "number": lambda x: x * len(sys.modules),
    "all": lambda x: x * len([*sys.modules.values()]),
}


@pytest.mark.parametrize("what", MODULES)
def test_modules_that_are_imported_later(what, monkeypatch):
    step, x = capture(MODULES[what]), torch.ones(2)
    assert [step(x).tolist(), step(x).tolist()] == [MODULES[what](x).tolist()] * 2
    monkeypatch.setitem(sys.modules, f"of_a_capture_{what.replace(' ', '_')}", torch)
    with pytest.raises(torch.CaptureError, match=r"sys.modules.* when it was captured"):
        step(x)


MACHINE = {
    "references": lambda x: x * sys.getrefcount(THING),
    "objects": lambda x: x * len(gc.get_objects()),
    "load": lambda x: x * os.getloadavg()[0],
    "times": lambda x: x * os.times().user,
    "signal": lambda x: x * (signal.getsignal(signal.SIGTERM) is None),
    "locale": lambda x: x * len(locale.setlocale(locale.LC_ALL)),
    "derived": lambda x: x * len(Shape.__subclasses__()),
    "stack": lambda x: x * len(inspect.stack(0)),
    "frame": lambda x: x * inspect.currentframe().f_lineno,
    "trace": lambda x: x * len(traceback.extract_stack()),
}


@pytest.mark.parametrize("what", MACHINE)
def test_what_may_be_another_thing_in_each_call_is_refused(what):
    text = r"another answer in each call: .*\(\) at .*test_capture_identity.py:\d+"
    with pytest.raises(torch.CaptureError, match=text) as raised:
        capture(MACHINE[what])(torch.ones(2))
    assert raised.value.result.shape == (2,)


def test_threads_that_are_started_later():
    go = threading.Event()
    step, x = capture(lambda x: x * len(threading.enumerate())), torch.ones(2)
    assert step(x).tolist() == step(x).tolist()
    thread = threading.Thread(target=go.wait)
    thread.start()
    try:
        with pytest.raises(torch.CaptureError, match=r"threading.enumerate\(\) was"):
            step(x)
    finally:
        go.set()
        thread.join()
