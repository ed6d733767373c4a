"""Compiled kernels give what NumPy's do, to the last bit: by op and dtype, on numbers that are hard."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_cpu.native.reference import probes, same

DTYPES = {
    "f4": torch.float32, "f8": torch.float64, "f2": torch.float16, "bf": torch.bfloat16,
    "i8": torch.int64, "i4": torch.int32, "i1": torch.int8, "u1": torch.uint8, "b1": torch.bool,
}  # fmt: skip
FLOATS = ("f4", "f8", "f2", "bf")
ONE = [
    "abs",
    "ceil",
    "clone",
    "cos",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log1p",
    "log2",
    "logical_not",
    "neg",
    "reciprocal",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]
TWO = [
    "add",
    "atan2",
    "copysign",
    "div",
    "eq",
    "fmax",
    "fmin",
    "ge",
    "gt",
    "hypot",
    "le",
    "logical_and",
    "logical_or",
    "logical_xor",
    "lt",
    "maximum",
    "minimum",
    "mul",
    "ne",
    "nextafter",
    "pow",
    "sub",
]
INTEGERS = [
    "add",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "eq",
    "ge",
    "gt",
    "le",
    "lt",
    "maximum",
    "minimum",
    "mul",
    "ne",
]
ACTIVATIONS = [
    "celu",
    "elu",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "logsigmoid",
    "mish",
    "relu",
    "relu6",
    "selu",
    "silu",
    "softplus",
    "softsign",
    "tanhshrink",
]
OTHERS = {
    "where": lambda x, y: torch.where(x > y, x, y),
    "where number": lambda x, y: torch.where(x > y, x, 1.5),
    "clamp": lambda x, y: x.clamp(-1, 2),
    "addcmul": lambda x, y: torch.addcmul(x, x, y, value=0.5),
    "addcdiv": lambda x, y: torch.addcdiv(x, x, y, value=0.5),
    "lerp": lambda x, y: torch.lerp(x, y, 0.3),
    "alpha": lambda x, y: torch.add(x, y, alpha=0.7),
    "number left": lambda x, y: 1.5 - x,
    "masked_fill": lambda x, y: x.masked_fill(y > 0, -0.0),
    "threshold_backward": lambda x, y: torch.ops.aten.threshold_backward(x, y, 0),
    "gelu_backward": lambda x, y: torch.ops.aten.gelu_backward(x, y, approximate="tanh"),
    "hardswish_backward": lambda x, y: torch.ops.aten.hardswish_backward(x, y),
    "hardtanh_backward": lambda x, y: torch.ops.aten.hardtanh_backward(x, y, -0.5, 2),
    "elu_backward": lambda x, y: torch.ops.aten.elu_backward(x, 0.5, 1.5, 2.0, False, y),
    "log_sigmoid_backward": lambda x, y: torch.ops.aten.log_sigmoid_backward(x, y, x),
}
# Left to NumPy: half precision that ml_dtypes computes with functions of the C library, and the like.
BRAIN = frozenset(
    [
        "add",
        "sub",
        "mul",
        "div",
        "neg",
        "abs",
        "sqrt",
        "floor",
        "ceil",
        "trunc",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "maximum",
        "minimum",
        "isnan",
        "relu",
    ]
)
# To which dtypes programs convert, where not to all.
CONVERTED = {
    "f8": ("f4", "f8", "i8", "i4", "i1", "u1", "b1"),
    "f2": ("f4", "f8", "f2", "b1"),
    "bf": ("f4", "f8", "bf", "b1"),
    "i8": ("f4", "f8", "i8", "i4", "i1", "u1", "b1"),
    "i4": ("f4", "f8", "i8", "i4", "i1", "u1", "b1"),
    "i1": ("f4", "f8", "f2", "i8", "i4", "i1", "u1", "b1"),
    "u1": ("f4", "f8", "f2", "i8", "i4", "i1", "u1", "b1"),
}


def operand(code, seed, count=4133):
    if code == "bf":
        return torch.from_numpy(probes("f4", seed, count)).bfloat16()
    return torch.from_numpy(np.asarray(probes(code, seed, count)))


def assert_same(one, other, name=None):
    if one.dtype is torch.bfloat16:
        one, other = one.float(), other.float()
    assert one.dtype is other.dtype, name
    assert same(one.numpy(), other.numpy()), name


def check(both, calls, code, compiled=True):
    """All calls in one group, which is one kernel."""
    x, y = operand(code, 1), operand(code, 2)

    def group():
        return [made for call in calls.values() for made in (call(x, y), call(x, y).clone())]

    found, wanted, notes = both(group)
    names = [name for name in calls for _ in range(2)]
    for name, one, other in zip(names, found, wanted, strict=True):
        assert_same(one, other, name)
    if compiled:
        assert set(notes) == {"compiled"}


def functions(names, where=torch, operands=2):
    return {name: lambda *xy, name=name: getattr(where, name)(*xy[:operands]) for name in names}


@pytest.mark.parametrize("code", FLOATS)
def test_functions_of_one_operand(both, code):
    names = [n for n in ONE if code != "bf" or n in BRAIN]
    check(both, functions(names, operands=1), code)


@pytest.mark.parametrize("code", FLOATS)
def test_functions_of_two_operands(both, code):
    names = [n for n in TWO if code != "bf" or n in BRAIN]
    check(both, functions(names), code)


def test_what_is_left_to_numpy_is_the_same(both):
    rest = [n for n in ONE if n not in BRAIN]
    check(both, functions(rest, operands=1), "bf", compiled=False)


@pytest.mark.parametrize("code", ["i8", "i4", "i1", "u1", "b1"])
def test_integers(both, code):
    check(both, functions(INTEGERS), code)


@pytest.mark.parametrize("code", ["f4", "f8", "f2"])
def test_activations(both, code):
    for names in (ACTIVATIONS[::2], ACTIVATIONS[1::2]):  # a kernel has 400 operations at most
        check(both, functions(names, F, operands=1), code)


@pytest.mark.parametrize("code", ["f4", "f8", "f2"])
def test_ops_with_numbers_and_of_several_steps(both, code):
    check(both, OTHERS, code)


@pytest.mark.parametrize("code", DTYPES)
def test_conversions(both, code):
    served = [to for to in DTYPES if to in CONVERTED.get(code, DTYPES)]
    check(both, {to: (lambda x, y, d=DTYPES[to]: x.to(d)) for to in served}, code)


@pytest.mark.parametrize("code", CONVERTED)
def test_conversions_that_are_left_to_numpy(both, code):
    rest = [to for to in DTYPES if to not in CONVERTED[code]]
    check(both, {to: (lambda x, y, d=DTYPES[to]: x.to(d)) for to in rest}, code, compiled=False)


@pytest.mark.parametrize("code", ["i8", "u1"])
def test_integer_division_by_zero_is_the_error_that_it_is_eagerly(both, code):
    x, y = operand(code, 1), operand(code, 2) * 0
    with pytest.raises(torch.PipelineError, match="ZeroDivisionError"):
        both(lambda: ((x + 1) // y).clone())


@pytest.mark.parametrize("value", [0.0, -0.0, float("nan"), float("inf"), 1e-45])
def test_numbers_are_arguments(both, value):
    """The same structure with other numbers, of which some are equal and yet differ."""
    x = operand("f4", 1)
    found, wanted, notes = both(lambda: (torch.where(x > 0, value, x), x + value))
    for one, other in zip(found, wanted, strict=True):
        assert_same(one, other)
    assert notes == {"compiled": 1}
