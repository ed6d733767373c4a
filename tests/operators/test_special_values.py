"""Element-wise ops at zeros, infinities, NaN, poles and ends of domains, as in PyTorch.

Both what the CPU runs and what devices without a kernel run is compared.
"""

import math

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs.packets import front

pt = pytest.importorskip("torch")

VALUES = [
    *(0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 1e-3, -1e-3, 1e-30, -1e-30, 1.5, 2.5, -1.5),
    *(0.25, 0.75, 6, 5.999, -2.999, 4.5, -4.5, 7.5, 20, -20, 25, 50, -50, 100, -100, 1e4),
    *(math.inf, -math.inf, math.nan),
]
ONE = """
    acosh asinh atanh exp2 sinc deg2rad rad2deg angle signbit isposinf isneginf nan_to_num lgamma
    digamma erfinv i0 logit special_i0e special_i1 special_i1e special_erfcx special_ndtri
    special_log_ndtr special_entr special_spherical_bessel_j0 special_modified_bessel_k0
    special_modified_bessel_k1 special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1
    leaky_relu hardtanh hardshrink softshrink elu celu selu silu mish softplus log_sigmoid hardswish
    hardsigmoid
"""
TWO = "hypot copysign fmax fmin heaviside logaddexp xlogy special_xlog1py atan2 nextafter"
TOLERANCE = {"float32": 3e-6, "float64": 1e-9, "float16": 2e-3, "bfloat16": 1.6e-2}


def made_by(name):
    """The op as the CPU runs it and, where it is made of others, as other devices run it."""
    torch.special.entr  # defines the ops that are defined on demand
    entry = registry.entry(name)
    found = [front(entry)]
    if entry.definition.decomposition is not None:
        found.append(entry.definition.decomposition)
    return found


def compare(actual, expected, dtype):
    ours = pt.tensor(actual.tolist(), dtype=pt.float64)
    theirs = expected.to(pt.float64)
    tolerance = TOLERANCE[dtype]
    pt.testing.assert_close(ours, theirs, rtol=tolerance, atol=1e-9, equal_nan=True)


def both(values, dtype):
    return torch.tensor(values, dtype=getattr(torch, dtype)), pt.tensor(
        values, dtype=getattr(pt, dtype)
    )


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", ONE.split())
def test_one_operand(name, dtype):
    if name == "logit" and dtype in ("float16", "bfloat16"):
        pytest.skip("PyTorch rounds the odds to half precision on the way")
    ours, theirs = both(VALUES, dtype)
    try:
        expected = getattr(pt.ops.aten, name)(theirs)
    except NotImplementedError:
        pytest.skip("PyTorch does not serve the dtype")
    for run in made_by(name):
        compare(run(ours), expected, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TWO.split())
def test_two_operands(name, dtype):
    pairs = [(a, b) for a in VALUES for b in VALUES]
    ours, theirs = zip(*(both(v, dtype) for v in zip(*pairs, strict=True)), strict=True)
    expected = getattr(pt.ops.aten, name)(*theirs)
    for run in made_by(name):
        compare(run(*ours), expected, dtype)


@pytest.mark.parametrize("name", ["gcd", "lcm", "bitwise_left_shift", "bitwise_right_shift"])
@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8"])
def test_whole_numbers(name, dtype):
    values = [0, 1, 2, 3, 7, 8, 12, 30, 63, 100] + [-1, -2, -8, -60] * (dtype != "uint8")
    pairs = [(a, b) for a in values for b in values]
    ours, theirs = zip(*(both(v, dtype) for v in zip(*pairs, strict=True)), strict=True)
    expected = getattr(pt, name)(*theirs).tolist()
    for run in made_by(name):
        assert run(*ours).tolist() == expected


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8"])
def test_multiples_that_overflow(dtype):
    info = pt.iinfo(getattr(pt, dtype))
    values = [info.max, info.max - 1, info.max // 2, info.max // 3, 1, 2, 7, 64, 0]
    values += [-v for v in values] * (info.min < 0)
    pairs = [(a, b) for a in values for b in values]
    ours, theirs = zip(*(both(v, dtype) for v in zip(*pairs, strict=True)), strict=True)
    expected = pt.lcm(*theirs).tolist()
    assert torch.lcm(*ours).tolist() == expected
    assert ours[0].clone().lcm_(ours[1]).tolist() == expected
    with torch.pipeline():
        deferred = torch.lcm(ours[0] + 0, ours[1])
    assert deferred.tolist() == expected


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
def test_frexp(dtype):
    values = [v for v in VALUES if abs(v) != 1e-30]
    ours, theirs = both(values, dtype)
    expected = pt.frexp(theirs)
    for run in made_by("frexp.Tensor"):
        mantissa, exponent = run(ours)
        compare(mantissa, expected.mantissa, dtype)
        assert exponent.tolist() == expected.exponent.tolist()


def test_frexp_of_the_smallest_numbers():
    tiny = [2.0**-1074, 3 * 2.0**-1070, -(2.0**-1022), 2.0**-1023]
    for run in made_by("frexp.Tensor"):
        mantissa, exponent = run(torch.tensor(tiny, dtype=torch.float64))
        assert list(zip(mantissa.tolist(), exponent.tolist(), strict=True)) == [
            math.frexp(v) for v in tiny
        ]


def test_integers_to_negative_powers():
    base, exponent = [2, 1, -1, -1, 0, -3], [-1, -2, -3, -2, -1, 3]
    found = torch.tensor(base, dtype=torch.int8) ** torch.tensor(exponent, dtype=torch.int8)
    assert found.tolist() == [0, 1, -1, 1, 0, -27]
    with pytest.raises(RuntimeError, match="Integers to negative integer powers"):
        torch.tensor(base) ** -1


def test_second_derivatives_where_the_first_divides_by_zero():
    x = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    for function, expected in (
        (torch.sinc, -(math.pi**2) / 3),
        (torch.special.spherical_bessel_j0, -1 / 3),
        (torch.special.i1, 0.0),
        (torch.special.bessel_j1, 0.0),
    ):
        (slope,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
        (curvature,) = torch.autograd.grad(slope.sum(), x)
        assert curvature.tolist() == pytest.approx([expected] * 3)


@pytest.mark.parametrize(
    "numbers", [[math.nan, 1, math.nan], [0, math.nan, 0], [2, -1, 2], [math.inf] * 2]
)
@pytest.mark.parametrize("name", ["max", "min", "median", "nanmedian"])
def test_the_gradient_of_one_of_all_goes_to_those_that_are_like_it(name, numbers):
    found = []
    for lib in (torch, pt):
        x = lib.tensor(numbers, dtype=lib.float32, requires_grad=True)
        y = getattr(x, name)()
        y.backward()
        found.append((y.item(), y.grad_fn.name(), x.grad.tolist()))
    assert repr(found[0]) == repr(found[1])


@pytest.mark.parametrize(
    "row", [[math.nan, 1, math.inf], [1, math.nan, 0], [0, 1, -math.inf], [2, 1, 0]]
)
@pytest.mark.parametrize("name", ["multi_margin_loss", "multilabel_margin_loss"])
def test_margins_that_are_no_numbers_are_none(name, row):
    found = []
    for lib in (torch, pt):
        x = lib.tensor([row], dtype=lib.float32, requires_grad=True)
        target = lib.tensor([0] if name == "multi_margin_loss" else [[0, -1, 1]])
        y = getattr(lib.nn.functional, name)(x, target)
        y.backward()
        found.append((y.item(), x.grad.tolist()))
    assert repr(found[0]) == repr(found[1])


@pytest.mark.parametrize(
    "name", ["laguerre_polynomial_l", "chebyshev_polynomial_t", "hermite_polynomial_he"]
)
def test_degrees_that_are_no_numbers_give_zero(name):
    degrees = [math.nan, math.inf, -math.inf, -3, 2, 2.9]
    ours, theirs = both(degrees, "float64")
    x, y = both([0.5] * 6, "float64")
    compare(getattr(torch.special, name)(x, ours), getattr(pt.special, name)(y, theirs), "float64")
