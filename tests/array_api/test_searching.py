"""Searching, sorting, selecting, and sets, against NumPy's and the standard's words."""

import pytest

import mindtorch_core as torch
from mindtorch_core import array_api as xp

np = pytest.importorskip("numpy")

from against_numpy import ALL, COMPLEX, INF, INTEGERS, NAN, REAL, assert_same, check, sample  # noqa: E402


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_of_extremes(name, dtype, axis, keepdims):
    check(name, sample(dtype, (4, 5)), axis=axis, keepdims=keepdims)
    check(name, sample(dtype, ()))


@pytest.mark.parametrize("stable", [True, False])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", REAL)
def test_sorting(dtype, axis, stable):
    x = sample(dtype, (4, 6))
    check("sort", x, axis=axis, stable=stable)
    ours = torch.asarray(x)
    for descending in (False, True):
        order = xp.argsort(ours, axis=axis, descending=descending, stable=stable)
        assert order.dtype is xp.int64
        ordered = xp.sort(ours, axis=axis, descending=descending, stable=stable)
        assert xp.take_along_axis(ours, order, axis=axis).tolist() == ordered.tolist()
        assert (
            bool(xp.all(ordered == xp.flip(xp.sort(ours, axis=axis), axis=axis))) or not descending
        )


def test_equals_stay_in_their_order():
    x = torch.tensor([2, 1, 2, 1, 2])
    assert xp.argsort(x).tolist() == [1, 3, 0, 2, 4]
    assert xp.argsort(x, descending=True).tolist() == [0, 2, 4, 1, 3]


@pytest.mark.parametrize("dtype", ALL)
def test_nonzero(dtype):
    x = sample(dtype, (3, 4))
    x[1] = 0
    result = check("nonzero", x)
    assert isinstance(result, tuple)
    check("nonzero", sample(dtype, (0, 2)))
    with pytest.raises(ValueError, match="must have a dimension"):
        xp.nonzero(torch.ones(()))


@pytest.mark.parametrize(
    "dtypes", [("float64", "float32"), ("int8", "uint16"), ("uint64", "uint64")]
)
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(dtypes, side):
    x1, x2 = sample(dtypes[0], (8,)), sample(dtypes[1], (3, 4), 1)
    check("searchsorted", np.sort(x1), x2, side=side)
    order = np.argsort(x1)
    for index in ("int64", "int32", "uint8"):
        expected = np.searchsorted(x1, x2, side=side, sorter=order)
        sorter = torch.asarray(order.astype(index))
        assert_same(
            xp.searchsorted(torch.asarray(x1), torch.asarray(x2), side=side, sorter=sorter),
            expected,
        )
    check("searchsorted", np.sort(x1), sample(dtypes[1], ()))


@pytest.mark.parametrize("index", ["int64", "int32", "int8", "uint8", "uint64"])
def test_taking(index):
    x = sample("float32", (3, 4))
    at = np.array([2, 0, 2]).astype(index)
    for axis in (0, 1, -1):
        check("take", x, at, axis=axis)
    check("take", x[0].copy(), at)
    along = np.array([[0, 2, 1, 1]]).astype(index)
    check("take_along_axis", x, along, axis=0)
    check("take_along_axis", x, along.T[:3].copy(), axis=1)
    if not index.startswith("u"):
        check("take", x, -at - 1, axis=0)
        check("take_along_axis", x, -along - 1, axis=0)
        check("take_along_axis", x, -along.T[:3] - 1)


def test_what_taking_refuses():
    x = torch.ones(2, 3)
    with pytest.raises(ValueError, match="axis must be given"):
        xp.take(x, torch.tensor([0]))
    for index in (3, -4):
        with pytest.raises((IndexError, RuntimeError), match=r"out of bounds|out of range"):
            xp.take(x, torch.tensor([index]), axis=1)
    with pytest.raises(IndexError):
        xp.take_along_axis(x, torch.tensor([[0]]), axis=2)


@pytest.mark.parametrize(
    "dtypes", [("int8", "int16"), ("uint8", "uint32"), ("float32", "complex64"), ("bool", "bool")]
)
@pytest.mark.parametrize("shapes", [((2, 3), (3,)), ((), (2, 3)), ((2, 1), ())], ids=str)
def test_where(dtypes, shapes):
    condition = sample("bool", (2, 3))
    check("where", condition, sample(dtypes[0], shapes[0]), sample(dtypes[1], shapes[1]))
    check("where", np.asarray(True), sample(dtypes[0], shapes[0]), sample(dtypes[1], shapes[1]))


def test_where_with_numbers():
    condition = torch.tensor([True, False])
    assert xp.where(condition, torch.tensor([1, 2], dtype=xp.int8), 7).tolist() == [1, 7]
    assert xp.where(condition, 0.5, torch.ones(2, dtype=xp.float64)).dtype is xp.float64
    assert xp.where(condition, 1, 0).tolist() == [1, 0]


# ---- sets -----------------------------------------------------------------------------------------

SETS = [(), (0,), (1,), (7,), (3, 4), (2, 0)]


@pytest.mark.parametrize("shape", SETS, ids=str)
@pytest.mark.parametrize("dtype", ALL)
def test_sets(dtype, shape):
    x = sample(dtype, shape)
    if dtype.startswith(("f", "c")):
        x = np.asarray(np.round(x))
    ours, theirs = xp.unique_all(torch.asarray(x)), np.unique_all(x)
    assert_same(tuple(ours), tuple(theirs))
    assert ours._fields == theirs._fields
    assert_same(tuple(xp.unique_counts(torch.asarray(x))), tuple(np.unique_counts(x)))
    assert_same(tuple(xp.unique_inverse(torch.asarray(x))), tuple(np.unique_inverse(x)))
    assert_same(xp.unique_values(torch.asarray(x)), np.sort(np.unique_values(x)))
    if x.size:
        again = ours.values[ours.inverse_indices]
        assert again.tolist() == x.tolist()


def test_nan_differs_from_itself_and_zeros_are_equal():
    x = torch.tensor([NAN, 0.0, -0.0, NAN, INF, 0.0])
    values, indices, inverse, counts = xp.unique_all(x)
    assert values[:2].tolist() == [0.0, INF]
    assert xp.isnan(values).tolist() == [False, False, True, True]
    assert indices.tolist() == [1, 4, 0, 3]
    assert counts.tolist() == [3, 1, 1, 1]
    assert inverse.tolist() == [2, 0, 0, 3, 1, 0]


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_numbers_are_different_in_one_part(dtype):
    z = np.array(
        [1 + 1j, 1 - 1j, 1 + 1j, -1 + 1j, complex(NAN, 0), complex(0, NAN), complex(NAN, 0)], dtype
    )
    values, indices, inverse, counts = xp.unique_all(torch.asarray(z))
    assert sorted(counts.tolist()) == [1, 1, 1, 1, 1, 2]
    assert values.numpy()[inverse.numpy()[:4]].tolist() == z[:4].tolist()
    np.testing.assert_array_equal(z[indices.numpy()], values.numpy())
    assert np.isnan(values.numpy()).sum() == 3


@pytest.mark.parametrize("dtype", INTEGERS)
def test_positions_are_those_of_the_first(dtype):
    x = sample(dtype, (200,))
    first = [x.tolist().index(v) for v in sorted(set(x.tolist()))]
    assert xp.unique_all(torch.asarray(x)).indices.tolist() == first
