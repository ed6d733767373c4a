"""Reductions, cumulative sums and differences, against NumPy's and the standard's words."""

import pytest

import mindtorch_core as torch
from mindtorch_core import array_api as xp

np = pytest.importorskip("numpy")

from against_numpy import ALL, COMPLEX, FLOATING, INTEGERS, NAN, NUMERIC, REAL, check, sample  # noqa: E402

AXES = [None, 0, 1, -1, (0,), (0, 2), (-1, 0), (0, 1, 2), ()]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize(
    ("name", "dtypes"),
    [
        ("sum", NUMERIC),
        ("prod", NUMERIC),
        ("max", REAL),
        ("min", REAL),
        ("mean", FLOATING + COMPLEX),
        ("all", ALL),
        ("any", ALL),
        ("var", FLOATING),
        ("std", FLOATING),
        ("count_nonzero", ALL),
    ],
)
def test_dimensions(name, dtypes, axis, keepdims):
    for dtype in dtypes:
        if name == "count_nonzero" and axis == ():  # NumPy's gives truth values
            counts = xp.count_nonzero(torch.asarray(sample(dtype)), axis=())
            assert counts.dtype is xp.int64
            assert counts.tolist() == (sample(dtype) != 0).astype(int).tolist()
            continue
        x = sample(dtype, (2, 3, 4), low=1 if name == "prod" else None)
        rtol = 1e-4 if dtype in ("float32", "complex64") else 1e-12
        check(name, x, axis=axis, keepdims=keepdims, within=rtol)


@pytest.mark.parametrize("name", ["sum", "prod", "all", "any", "count_nonzero"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_what_has_no_elements(name, axis):
    for dtype in ("float32", "int8", "uint16"):
        check(name, sample(dtype, (0, 3)), axis=axis)


@pytest.mark.parametrize(
    "name", ["sum", "prod", "max", "min", "all", "any", "mean", "var", "count_nonzero"]
)
def test_what_has_no_dimensions(name):
    check(name, sample("float64", ()))
    check(name, sample("float64", ()), keepdims=True)


@pytest.mark.parametrize("name", ["max", "min"])
def test_the_extreme_of_nothing(name):
    with pytest.raises((IndexError, RuntimeError)):
        getattr(xp, name)(torch.ones(0, 2), axis=0)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "cumulative_prod"])
def test_integers_are_summed_in_the_widest_type_of_their_signedness(name, dtype):
    x = sample(dtype, (4,), low=1)
    result = check(name, x)
    assert result.dtype is (xp.uint64 if dtype.startswith("u") else xp.int64)
    for given in ("int32", "uint8", "float32"):
        check(name, x, dtype=np.dtype(given), within=1e-5)


def test_truth_values_are_counted():
    assert xp.sum(torch.tensor([True, True, False])).tolist() == 2


@pytest.mark.parametrize("correction", [0, 1, 0.5, 1.0, 2])
@pytest.mark.parametrize("name", ["var", "std"])
def test_corrections(name, correction):
    check(name, sample("float64", (5, 4)), axis=0, correction=correction)
    check(name, sample("float32", (5, 4)), correction=correction, within=1e-5)


def test_nan_reaches_every_reduction():
    x = torch.tensor([1.0, NAN])
    for name in ("sum", "prod", "max", "min", "mean", "var", "std"):
        assert xp.isnan(getattr(xp, name)(x)).item(), name


@pytest.mark.parametrize("include_initial", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", NUMERIC)
@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_cumulation(name, dtype, axis, include_initial):
    x = sample(dtype, (2, 3), low=1)
    check(name, x, axis=axis, include_initial=include_initial, within=1e-5)
    check(name, sample(dtype, (0,)), include_initial=include_initial)


def test_the_axis_of_a_cumulation_may_be_left_out_of_one():
    with pytest.raises(ValueError, match="cumulative_sum: axis must be given"):
        xp.cumulative_sum(torch.ones(2, 2))
    with pytest.raises(ValueError, match="cumulative_prod: axis must be given"):
        xp.cumulative_prod(torch.ones(()))


@pytest.mark.parametrize("dtype", NUMERIC)
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_differences(dtype, n):
    x = sample(dtype, (3, 4))
    for axis in (0, -1):
        check("diff", x, axis=axis, n=n)
        more = sample(dtype, (1, 4) if axis == 0 else (3, 1))
        check("diff", x, axis=axis, n=n, prepend=more, append=more)


@pytest.mark.parametrize(
    "name", ["sum", "prod", "max", "all", "mean", "var", "cumulative_sum", "diff"]
)
def test_axes_that_do_not_exist(name):
    with pytest.raises(IndexError, match="axis 2 is out of range for a tensor with 2 dimensions"):
        getattr(xp, name)(torch.ones(2, 2), axis=2)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "all", "mean", "var"])
def test_axes_named_twice(name):
    with pytest.raises(ValueError, match="names a dimension twice"):
        getattr(xp, name)(torch.ones(2, 2), axis=(0, -2))
