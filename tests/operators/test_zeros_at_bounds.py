"""Zeros of both signs at a bound of zero, and powers of them, as PyTorch has them: however they are computed.

What PyTorch computes element by element counts: its vectors take other zeros in a few ops, and it says so
of none.
"""

import math

import pytest

import mindtorch_core as torch
from mindtorch_core.operators.elementwise import elementary

pt = pytest.importorskip("torch")

DTYPES = ["float32", "float64", "float16", "bfloat16"]
ZEROS = (0.0, -0.0)
# By name, functions of the library and a tensor.
KEEPING = {
    "relu": lambda lib, x: lib.relu(x),
    "relu_": lambda lib, x: lib.relu_(x.clone()),
    "relu6": lambda lib, x: lib.nn.functional.relu6(x),
    "relu6_": lambda lib, x: lib.nn.functional.relu6(x.clone(), inplace=True),
    "gelu": lambda lib, x: lib.nn.functional.gelu(x),
    "gelu, tanh": lambda lib, x: lib.nn.functional.gelu(x, approximate="tanh"),
    "softshrink": lambda lib, x: lib.nn.functional.softshrink(x),
    "softshrink from below": lambda lib, x: lib.nn.functional.softshrink(x - 0.5),
    "hardshrink": lambda lib, x: lib.nn.functional.hardshrink(x),
    "hardshrink by nothing": lambda lib, x: lib.nn.functional.hardshrink(x, 0.0),
    "hardshrink from below": lambda lib, x: lib.nn.functional.hardshrink(x - 0.5),
    "cumsum": lambda lib, x: lib.stack([x, x]).cumsum(0),
    "cumsum of rows": lambda lib, x: x.cumsum(-1),
    "root": lambda lib, x: x**0.5,
    "root_": lambda lib, x: x.clone().pow_(0.5),
    "root of a tensor": lambda lib, x: x ** lib.tensor(0.5),
    "root_ of a tensor": lambda lib, x: x.clone().pow_(lib.tensor(0.5, dtype=x.dtype)),
    "one by a root": lambda lib, x: x**-0.5,
    "one by a root of a tensor": lambda lib, x: x ** lib.tensor(-0.5, dtype=x.dtype),
    **{
        f"{how} at {bound}": f
        for bound in ZEROS
        for how, f in {
            "hardtanh from": lambda lib, x, b=bound: lib.nn.functional.hardtanh(x, b, 1),
            "hardtanh to": lambda lib, x, b=bound: lib.nn.functional.hardtanh(x, -1, b),
            "clamp from": lambda lib, x, b=bound: x.clamp(min=b),
            "clamp to": lambda lib, x, b=bound: x.clamp(max=b),
            "clamp between": lambda lib, x, b=bound: x.clamp(b, -b),
            "clamp_": lambda lib, x, b=bound: x.clone().clamp_(b, 2),
            "clamp_min": lambda lib, x, b=bound: lib.clamp_min(x, b),
            "clamp from a tensor": lambda lib, x, b=bound: x.clamp(lib.full_like(x, b)),
            "clamp to a tensor": lambda lib, x, b=bound: x.clamp(max=lib.full_like(x, b)),
            "clamp to a tensor of one": lambda lib, x, b=bound: x.clamp(max=lib.tensor(b)),
        }.items()
    },
}  # fmt: skip


def laid_out(lib, value, dtype, n):
    """The same number in row-major order, with steps between, and without dimensions."""
    d = getattr(lib, dtype)
    yield lib.full((n,), value, dtype=d)
    yield lib.full((n, 2), value, dtype=d)[:, 0]


def runs(f, value, dtype, n):
    """What comes of it at once and in pipelines, where other ops are beside it or not."""
    for x in laid_out(torch, value, dtype, n):
        yield f(torch, x)
        with torch.pipeline():
            found = f(torch, x)
        yield found
        for _ in range(3):  # the same again is replayed
            with torch.pipeline():
                found = f(torch, (x * 1).reshape(-1)) + -0.0
            yield found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 29, 200, 40_000])
def test_one_sign_however_it_is_computed(n, dtype):
    for name, f in KEEPING.items():
        for zero in ZEROS:
            expected = f(pt, next(laid_out(pt, zero, dtype, 1))).double()
            for found in runs(f, zero, dtype, n):
                assert found.isinf().all() or not found.any(), name
                assert found.signbit().all().item() == expected.signbit().all().item(), name
                assert found.signbit().any().item() == expected.signbit().any().item(), name
                assert found.isinf().any().item() == expected.isinf().any().item(), name


@pytest.mark.parametrize("dtype", DTYPES)
def test_zeros_without_dimensions(dtype):
    for name, f in KEEPING.items():
        for zero in ZEROS:
            if "cumsum" not in name:
                mine, other = (
                    f(lib, lib.tensor(zero, dtype=getattr(lib, dtype))) for lib in (torch, pt)
                )
                assert mine.signbit().item() == other.signbit().item(), name


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_composition_of_relu(dtype):
    x = torch.tensor([0.0, -0.0, math.nan, -math.inf, 2, -2], dtype=getattr(torch, dtype))
    mine, other = elementary.relu(x), pt.tensor(x.tolist()).relu()
    assert repr(mine.tolist()) == repr(other.tolist())


def every(lib, dtype):
    bits = lib.arange(1 << 16, dtype=lib.int32).to(lib.int16).view(getattr(lib, dtype))
    return bits[~bits.isnan()]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("exponent", [0.5, -0.5, 2, 3, -2, -1, 1, 0, 4, 1.5, -3])
def test_powers_of_all_halves(exponent, dtype):
    expected = (every(pt, dtype) ** exponent).float().numpy()
    x = every(torch, dtype)
    with torch.pipeline():
        deferred = (x * 1) ** exponent * 1
    for found in (x**exponent, x.clone().pow_(exponent), deferred):
        mine = found.float().numpy()
        nan = mine != mine
        assert (nan == (expected != expected)).all()
        assert (mine.view("i4") == expected.view("i4"))[~nan].all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("exponent", [0.5, -0.5, 2, 3, -2, -1, 1, 0, 1.5, math.inf, -math.inf])
def test_powers_of_special_values(exponent, dtype):
    values = [0.0, -0.0, math.inf, -math.inf, math.nan, 1, -1, 0.25, -0.25, 4, 1e30, -1e30]
    for power in (
        lambda lib, x: x**exponent,
        lambda lib, x: x ** lib.tensor(float(exponent)),
        lambda lib, x: x ** lib.tensor(float(exponent), dtype=x.dtype),
        lambda lib, x: x ** lib.full_like(x, exponent),
        lambda lib, x: lib.pow(x, exponent, out=lib.empty_like(x)),
        lambda lib, x: lib._foreach_pow([x], exponent)[0],
    ):
        for again in (1, 30):
            mine, other = (
                power(lib, lib.tensor(values * again, dtype=getattr(lib, dtype)))
                for lib in (torch, pt)
            )
            mine, other = pt.tensor(mine.tolist()), pt.tensor(other.tolist())
            pt.testing.assert_close(mine, other, equal_nan=True)
            assert (mine.isnan() | (mine.signbit() == other.signbit())).all()


@pytest.mark.parametrize("exponent", [True, False])
def test_powers_of_booleans(exponent):
    for power in (
        lambda lib, x: x**exponent,
        lambda lib, x: x.clone().pow_(exponent),
        lambda lib, x: lib.pow(x, exponent, out=lib.empty(0)),
        lambda lib, x: lib._foreach_pow([x], exponent)[0],
    ):
        mine, other = (power(lib, lib.tensor([True, False])) for lib in (torch, pt))
        assert str(mine.dtype) == str(other.dtype)
        assert mine.tolist() == other.tolist()
    x = torch.tensor([True, False])
    assert (x.to("meta") ** exponent).dtype is torch.bool
    with torch.pipeline():
        deferred = (x & True) ** exponent
    assert deferred.tolist() == (x**exponent).tolist()
    for refused in (torch.tensor(exponent), torch.tensor([exponent])):
        with pytest.raises(NotImplementedError, match="\"pow\" not implemented for 'Bool'"):
            x**refused
