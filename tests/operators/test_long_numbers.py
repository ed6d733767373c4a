"""Python's ints have no end; numbers beside tensors have 64 bits, with a sign or without, as in PyTorch."""

import enum
import operator

import pytest

import mindtorch_core as torch

LONG = {1 << 64: "int too big to convert", -(1 << 63) - 1: "can't convert negative int to unsigned"}
LONG |= {1 << 1100: LONG[1 << 64]}
OPERATORS = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
)
WRITING = ("iadd", "isub", "imul", "itruediv", "ipow")
BINARY = (
    "add",
    "sub",
    "mul",
    "div",
    "floor_divide",
    "remainder",
    "fmod",
    "pow",
    "eq",
    "lt",
    "xlogy",
    "copysign",
)


def by_operators(name):
    f = getattr(operator, name)
    yield name, f
    if name in OPERATORS:
        yield f"{name}, reflected", lambda x, v: f(v, x)


def by_functions(name):
    f = getattr(torch, name)
    yield f"torch.{name}", f
    yield f"{name}_", lambda x, v: getattr(x, f"{name}_")(v)
    yield f"{name}, out", lambda x, v: f(x, v, out=torch.empty_like(x))


OTHERS = {
    "alpha": lambda x, v: torch.add(x, x, alpha=v),
    "value": lambda x, v: torch.addcmul(x, x, x, value=v),
    "clamp": lambda x, v: x.clamp(max=v),
    "clamp_": lambda x, v: x.clamp_(v),
    "fill_": lambda x, v: x.fill_(v),
    "masked_fill": lambda x, v: x.masked_fill(x > 0, v),
    "index_fill": lambda x, v: x.index_fill(0, torch.tensor([0]), v),
    "where": lambda x, v: torch.where(x > 0, x, v),
    "where, first": lambda x, v: torch.where(x > 0, v, x),
    "threshold": lambda x, v: torch.threshold(x, 0, v),
    "lerp": lambda x, v: torch.lerp(x, x, v),
    "full": lambda x, v: torch.full((2,), v),
    "full, float": lambda x, v: torch.full((2,), v, dtype=torch.float32),
    "full_like": lambda x, v: torch.full_like(x, v),
    "new_full": lambda x, v: x.new_full((2,), v),
    "scalar_tensor": lambda x, v: torch.scalar_tensor(v),
    "result_type": lambda x, v: torch.result_type(x, v),
    "an enum's": lambda x, v: x * enum.IntEnum("Long", {"v": v}).v,
}
CALLS = dict(OTHERS)
for _name in OPERATORS + WRITING:
    CALLS.update(by_operators(_name))
for _name in BINARY:
    CALLS.update(by_functions(_name))


def in_a_pipeline(call, x, v):
    with torch.pipeline():
        return call(x, v)


@pytest.mark.parametrize("value", LONG, ids=["large", "small", "huge"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_longer_ones_are_refused_by_the_call(call, value):
    for device in ("cpu", "meta"):
        x = torch.ones(2, device=device)
        with pytest.raises(OverflowError, match=LONG[value]):
            call(x, value)
    with pytest.raises(OverflowError, match=LONG[value]):
        in_a_pipeline(call, torch.ones(2), value)


@pytest.mark.parametrize("value", [-(1 << 63), (1 << 63) - 1, (1 << 64) - 1])
def test_those_of_64_bits_are_taken(value):
    x = torch.ones(2, dtype=torch.float64)
    assert (x * value).tolist() == [float(value)] * 2
    assert (value + x).tolist() == [1.0 + value] * 2
    assert (x == value).tolist() == [False, False]
    assert torch.where(x > 2, x, value).tolist() == [float(value)] * 2
    assert x.clone().fill_(value).tolist() == [float(value)] * 2
    assert torch.full((2,), value, dtype=torch.float64).tolist() == [float(value)] * 2


@pytest.mark.parametrize("value", [1 << 63, 1 << 70, -(1 << 63) - 1])
def test_elements_are_assigned_numbers_that_int64_holds(value):
    x = torch.ones(2)
    for index in (0, x > 0, torch.tensor([1])):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            x[index] = value
    assert x.tolist() == [1.0, 1.0]


def test_what_is_a_float_takes_longer_ones():
    assert torch.nn.functional.pad(torch.ones(1), (1, 0), value=1 << 70).tolist() == [2.0**70, 1.0]
