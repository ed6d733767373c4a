"""`torch.pipeline.capture`: what is put in the place of something else, or comes in another order, is noticed."""

import array
import ctypes
import dataclasses
import functools
import math
import operator
import sys
import types
from collections import OrderedDict, UserList
from queue import Queue

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core import nn
from mindtorch_core.nn import functional as F

capture = torch.pipeline.capture


def refuses_afterwards(fn, change, x=None):
    """Capture a function, change what it reads, and see that this is refused and computed anew."""
    x = torch.tensor([0.5, 1.5]) if x is None else x
    step = capture(fn)
    assert torch.equal(step(x), fn(x))
    assert torch.equal(step(x * 2), fn(x * 2))
    before = fn(x)
    change()
    wanted = fn(x)
    assert not torch.equal(before, wanted), "this changes nothing"
    with pytest.raises(torch.CaptureError, match=r"when it was captured, and is .* now"):
        step(x)
    step.reset()
    assert torch.equal(step(x), wanted)


# ---- functions of libraries ------------------------------------------------------------------------


REPLACED = {
    "torch": (lambda x: torch.relu(x), torch, "relu", lambda x: x * 3),
    "functional": (lambda x: F.relu(x), F, "relu", lambda x: x * 3),
    "by its module": (lambda x: torch.nn.functional.silu(x), F, "silu", lambda x: x * 3),
    "a method": (lambda x: x.relu(), torch.Tensor, "relu", lambda x: x * 3),
    "an operator": (lambda x: x + 1, torch.Tensor, "__add__", lambda x, other: x * 3),
    "in a layer": (nn.ReLU(), nn.ReLU, "forward", lambda self, x: x * 3),
    "math": (lambda x: x * math.sqrt(4), math, "sqrt", lambda x: 3.0),
    "a number of math": (lambda x: x * math.pi, math, "pi", 3.0),
    "builtin": (lambda x: x * max(1, 2), sys.modules[__name__], "max", lambda *args: 3),
    "sys": (lambda x: x * sys.captured, sys, "captured", 3.0),
}


@pytest.mark.parametrize("what", REPLACED)
def test_functions_that_are_replaced(what, monkeypatch):
    fn, holder, name, other = REPLACED[what]
    monkeypatch.setattr(sys, "captured", 2.0, raising=False)
    refuses_afterwards(fn, lambda: monkeypatch.setattr(holder, name, other, raising=False))


def test_what_a_layer_calls_is_replaced(monkeypatch):
    layer = nn.Linear(2, 2).requires_grad_(False)
    refuses_afterwards(layer, lambda: monkeypatch.setattr(F, "linear", lambda x, w, b: x * 3))


ASKED = {
    "get_num_threads": lambda: torch.set_num_threads(torch.get_num_threads() + 1),
    "initial_seed": lambda: torch.manual_seed(torch.initial_seed() + 1),
    "are_deterministic_algorithms_enabled": lambda: torch.use_deterministic_algorithms(True),
    "is_anomaly_enabled": lambda: torch.autograd.set_detect_anomaly(True),
}


@pytest.mark.parametrize("name", ASKED)
def test_settings_that_the_code_asks_for(name):
    seed, threads = torch.initial_seed(), torch.get_num_threads()
    try:
        refuses_afterwards(lambda x: x * float(getattr(torch, name)() % 97 + 1), ASKED[name])
    finally:
        torch.manual_seed(seed)
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(False)
        torch.autograd.set_detect_anomaly(False)


# ---- defaults and attributes of functions -----------------------------------------------------------


def scaled(x, by=2.0, *, more=1.0, held=[1.0]):  # noqa: B006
    """Has defaults of three kinds."""
    return x * by * more * held[-1]


def by_attribute(x):
    """Has an attribute that it may lack."""
    return x * getattr(by_attribute, "rate", 2.0)


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("change", ["defaults", "keywords", "replaced keywords", "list", "longer"])
def test_defaults_are_guarded(change, direct):
    def changed():
        match change:
            case "defaults":
                fn.__defaults__ = (3.0,)
            case "keywords":
                fn.__kwdefaults__["more"] = 3.0
            case "replaced keywords":
                fn.__kwdefaults__ = {"more": 3.0, "held": [1.0]}
            case "list":
                fn.__kwdefaults__["held"][0] = 3.0
            case "longer":
                fn.__kwdefaults__["held"].append(3.0)

    fn = types.FunctionType(scaled.__code__, globals(), "scaled", (2.0,))
    fn.__kwdefaults__ = {"more": 1.0, "held": [1.0]}
    refuses_afterwards(fn if direct else lambda x: fn(x), changed)


def test_a_default_that_each_call_makes_longer():
    def fn(x, held=[]):  # noqa: B006
        held.append(1.0)
        return x * len(held)

    step, x = capture(fn), torch.ones(2)
    assert step(x).tolist() == [1, 1]
    with pytest.raises(torch.CaptureError, match=r"len\(held\) was 1 before the call") as raised:
        step(x)
    assert raised.value.result.tolist() == [2, 2]


def test_attributes_of_functions_and_tensors(monkeypatch):
    w = torch.ones(2)
    w.rate = 2.0
    set_rate = functools.partial(monkeypatch.setattr, by_attribute, "rate", 3.0, raising=False)
    refuses_afterwards(by_attribute, set_rate)
    refuses_afterwards(lambda x: x * w.rate, lambda: setattr(w, "rate", 3.0))


# ---- elements of memory, and the order of things ----------------------------------------------------


def _set(held, at, value):
    held[at] = value


def _again(held):
    held["a"] = held.pop("a")


READ = {
    "array": (lambda: np.ones(2), lambda h: float(h[0]), lambda h: _set(h, 0, 2)),
    "part of an array": (lambda: np.ones(4)[::2], lambda h: float(h[1]), lambda h: _set(h, 1, 2)),
    "tensor of an array": (lambda: np.ones(2), torch.tensor, lambda h: _set(h, 0, 2)),
    "sum of an array": (lambda: np.ones(2, "f4"), lambda h: h.sum(), lambda h: _set(h, 0, 2)),
    "array.array": (lambda: array.array("d", [1]), lambda h: h[0], lambda h: _set(h, 0, 2)),
    "bytes": (lambda: bytearray(b"\1"), lambda h: h[0], lambda h: _set(h, 0, 2)),
    "memoryview": (lambda: memoryview(bytearray(b"\1")), lambda h: h[0], lambda h: _set(h, 0, 2)),
    "of C": (lambda: ctypes.c_double(1), lambda h: h.value, lambda h: setattr(h, "value", 2)),
    "UserList": (lambda: UserList([1.0]), lambda h: h[0], lambda h: _set(h, 0, 2.0)),
    "first key": (lambda: {"a": 1.0, "b": 2.0}, lambda h: h[next(iter(h))], _again),
    "values": (lambda: {"a": 1.0, "b": 2.0}, lambda h: next(iter(h.values())), _again),
    "OrderedDict": (
        lambda: OrderedDict(a=1.0, b=2.0), lambda h: h[next(iter(h))], lambda h: h.move_to_end("a")
    ),
    "entry that was missed": (dict, lambda h: _or_one(h), lambda h: _set(h, "a", 2.0)),
    "mapping proxy": (
        lambda: (d := {"a": 1.0}, types.MappingProxyType(d)),
        lambda h: h[1]["a"],
        lambda h: _set(h[0], "a", 2.0),
    ),
    "view of a dict": (
        lambda: (d := {"a": 1.0}, d.values()), lambda h: sum(h[1]), lambda h: _set(h[0], "a", 2.0)
    ),
}  # fmt: skip


def _or_one(held):
    try:
        return held["a"]
    except KeyError:
        return 1.0


@pytest.mark.parametrize("what", READ)
def test_elements_and_order_are_guarded(what):
    make, use, change = READ[what]
    held = make()
    refuses_afterwards(lambda x: x * use(held), lambda: change(held))


def test_the_order_of_modules():
    net = nn.ModuleDict({"a": nn.Tanh(), "b": nn.Softplus()})

    def fn(x):
        for each in net.values():
            x = each(x)
        return x

    refuses_afterwards(fn, lambda: net.update({"a": net.pop("a")}))


def test_an_array_that_a_tensor_shows_is_read_anew():
    held = np.ones(2, np.float32)
    step, x = capture(lambda x: x * torch.from_numpy(held)), torch.ones(2)
    for n in (1.0, 2.0, 3.0):
        held[0] = n
        assert step(x).tolist() == [n, 1.0]


def test_an_array_that_each_call_writes_to():
    count = np.zeros(1)

    def fn(x):
        count[0] += 1
        return x * float(count[0])

    step, x = capture(fn), torch.ones(2)
    assert step(x).tolist() == [1, 1]
    with pytest.raises(torch.CaptureError, match="what count holds was something"):
        step(x)


def test_a_queue_that_each_call_takes_from():
    held = Queue()
    for n in (1.0, 2.0, 3.0):
        held.put(n)
    step, x = capture(lambda x: x * held.get()), torch.ones(2)
    assert step(x).tolist() == [1, 1]
    with pytest.raises(torch.CaptureError, match="something else in each call") as raised:
        step(x)
    assert raised.value.result.tolist() == [2, 2]


# ---- names that are found in other ways -------------------------------------------------------------


class Meta(type):
    """A class of classes with a number."""

    rate = 2.0


class Source:
    """A number that others read when they are made, shown or called."""

    rate = 2.0


@dataclasses.dataclass
class Made(metaclass=Meta):
    """Reads it when it is made."""

    value: float = 0.0

    def __post_init__(self):
        self.value = Source.rate

    def __str__(self):
        return "x" * int(Source.rate)

    def __call__(self, x):
        return x * 1.0

    def times(self, x, by):
        return x * by * Source.rate

    twice = functools.partialmethod(times, by=2.0)


class Gradient(torch.autograd.Function):
    """Reads it in its backward pass, which no code calls by name."""

    @staticmethod
    def forward(ctx, x):
        return x * 1.0

    @staticmethod
    def backward(ctx, grad):
        return grad * Source.rate


def _grad(held, x):
    w = torch.ones(2, requires_grad=True)
    return torch.autograd.grad(Gradient.apply(w * x).sum(), w)[0]


FOUND = {
    "made": (lambda h, x: x * Made().value, Source),
    "shown": (lambda h, x: x * len(str(h)), Source),
    "formatted": (lambda h, x: x * len(f"{h}"), Source),
    "part of a method": (lambda h, x: h.twice(x), Source),
    "class of a class": (lambda h, x: x * Made.rate, Meta),
    "backward": (_grad, Source),
    "name that is put together": (lambda h, x: x * getattr(Source, "ra" + "te"[:2]), Source),
    "evaluated": (lambda h, x: x * eval("Source.rate + 1"), Source),
    "module by its name": (lambda h, x: x * sys.modules["captured_by_name"].rate, None),
    "attrgetter": (lambda h, x: x * operator.attrgetter("rate")(Source), Source),
    "methodcaller": (lambda h, x: operator.methodcaller("twice", x)(h), Source),
}


@pytest.mark.parametrize("what", FOUND)
def test_names_that_are_found_in_other_ways(what, monkeypatch):
    use, holder = FOUND[what]
    module = types.ModuleType("captured_by_name")
    module.rate = 2.0
    monkeypatch.setitem(sys.modules, module.__name__, module)
    held = Made()
    holder = holder or module
    refuses_afterwards(lambda x: use(held, x), lambda: monkeypatch.setattr(holder, "rate", 3.0))


def test_a_method_that_calls_an_object_is_replaced(monkeypatch):
    held = Made()
    change = functools.partial(monkeypatch.setattr, Made, "__call__", lambda self, x: x * 3)
    refuses_afterwards(lambda x: held(x), change)


def test_attributes_that_are_asked_for_and_classes_that_change():
    class Other(Made):
        pass

    lacking, held = types.SimpleNamespace(), Made()
    refuses_afterwards(
        lambda x: x * 2 if hasattr(lacking, "rate") else x, lambda: setattr(lacking, "rate", 1)
    )
    refuses_afterwards(
        lambda x: x * 2 if isinstance(held, Other) else x, lambda: setattr(held, "__class__", Other)
    )


@pytest.mark.parametrize("name", ["requires_grad", "dtype", "shape"])
def test_what_a_tensor_is_like_that_nothing_is_computed_with(name):
    w, was = torch.ones(2), getattr(torch.ones(2), name)

    def change():
        if name == "requires_grad":
            w.requires_grad_()
        else:
            w.data = torch.ones(3, dtype=torch.float64)

    refuses_afterwards(lambda x: x if getattr(w, name) == was else x * 2, change)


def test_a_variable_of_another_function_is_none_of_it():
    """A name within a function is not the variable outside that happens to be called the same."""
    names = {}
    exec(
        "held = 1.0\ndef fn(x):\n    held = x * 2\n    return sum(held * n for n in (1.0, 2.0))",
        names,
    )
    step, x = capture(names["fn"]), torch.ones(2)
    assert step(x).tolist() == [6, 6]
    names["held"] = 2.0
    assert step(x).tolist() == [6, 6]
