"""Shapes: functions that change, join and divide them, against NumPy's and the standard's words."""

import pytest

import mindtorch_core as torch
from mindtorch_core import array_api as xp

np = pytest.importorskip("numpy")

from against_numpy import ALL, check, sample  # noqa: E402

SHAPES = [(), (3,), (2, 3), (0, 3), (2, 1, 4)]
A = sample("int32", (2, 3, 4))


@pytest.mark.parametrize(
    "shapes", [((2, 3), (3,)), ((), (2,)), ((4, 1), (1, 3), ()), ((0, 1), (2,))], ids=str
)
def test_broadcasting(shapes):
    arrays = [sample("float32", shape) for shape in shapes]
    result = check("broadcast_arrays", *arrays)
    assert isinstance(result, list)
    whole = np.broadcast_shapes(*shapes)
    for a in arrays:
        check("broadcast_to", a, whole)


@pytest.mark.parametrize(
    "dtypes", [("int8", "uint16"), ("float32", "float64"), ("float32", "complex64")]
)
@pytest.mark.parametrize("name", ["concat", "stack"])
def test_joined_tensors_meet_in_a_dtype(name, dtypes):
    arrays = [sample(d, (2, 3)) for d in dtypes]
    for axis in (0, 1, -1, -2):
        check(name, arrays, axis=axis)
        check(name, tuple(arrays), axis=axis)


def test_concat_flattens():
    check("concat", [A, sample("int64", ()), sample("int8", (0,))], axis=None)
    check("concat", [sample("float32", (2, 0)), sample("float32", (2, 3))], axis=1)


def test_what_concat_refuses():
    with pytest.raises(ValueError, match="same number of dimensions"):
        xp.concat([torch.ones(0), torch.ones(2, 2)])
    with pytest.raises(TypeError, match="concat: operands must be tensors"):
        xp.concat([])


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_expand_dims(axis):
    check("expand_dims", sample("int8", (2, 3)), axis=axis)


def test_expand_dims_by_several():
    for axes in [(0, 1), (-1, 0), (1, 3), ()]:
        check("expand_dims", sample("int8", (2, 3)), axis=axes)
    for axis in (3, -4):
        with pytest.raises(IndexError, match="out of range"):
            xp.expand_dims(torch.ones(2, 3), axis=axis)


@pytest.mark.parametrize("dtype", ALL)
def test_squeeze(dtype):
    for axis in (0, -2, (0,), (0, 2), (-2, 0), ()):
        check("squeeze", sample(dtype, (1, 2, 1, 3)), axis=axis)
    with pytest.raises(ValueError, match="dimension 1 has size 2"):
        xp.squeeze(torch.ones(1, 2), 1)
    with pytest.raises(IndexError, match="out of range"):
        xp.squeeze(torch.ones(1, 2), 2)
    with pytest.raises(ValueError, match="names a dimension twice"):
        xp.squeeze(torch.ones(1, 2), (0, -2))


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), ()])
def test_flip(axis):
    check("flip", A, axis=axis)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes_of_every_rank(shape):
    a = sample("float32", shape)
    check("flip", a)
    check("roll", a, 2)
    check("reshape", a, (-1,))
    check("permute_dims", a, tuple(range(len(shape)))[::-1])
    check("tile", a, (2, 1, 3))
    check("repeat", a, 2)


@pytest.mark.parametrize(
    ("shift", "axis"),
    [(1, None), (-2, 0), (7, 1), ((1, 2), (0, 1)), (1, (0, 2)), ((1, 2, 3), (0, 0, 1)), (0, -1)],
)
def test_roll(shift, axis):
    check("roll", A, shift, axis=axis)


@pytest.mark.parametrize(
    ("source", "destination"), [(0, 2), (-1, 0), ((0, 1), (1, 2)), ((2, 0), (-3, -1))]
)
def test_moveaxis(source, destination):
    check("moveaxis", A, source, destination)


@pytest.mark.parametrize(
    "repeats", [2, 0, np.array([1, 0, 2]), np.array([3]), np.array(2)], ids=str
)
def test_repeat(repeats):
    check("repeat", A, repeats, axis=1)
    check("repeat", A[0, :, 0].copy(), repeats)
    if isinstance(repeats, np.ndarray):
        check("repeat", A, repeats.astype("uint8"), axis=-2)


def test_reshape_and_memory():
    x = torch.arange(6).reshape(2, 3)
    assert xp.reshape(x, (3, 2)).data_ptr() == x.data_ptr()
    assert xp.reshape(x, (3, 2), copy=False).data_ptr() == x.data_ptr()
    assert xp.reshape(x, (3, 2), copy=True).data_ptr() != x.data_ptr()
    assert xp.reshape(x.mT, (6,)).tolist() == [0, 3, 1, 4, 2, 5]
    with pytest.raises(ValueError, match="reshape: view size is not compatible"):
        xp.reshape(x.mT, (6,), copy=False)


@pytest.mark.parametrize("repetitions", [(2,), (2, 1), (1, 2, 1, 3), (0, 1), ()], ids=str)
def test_tile(repetitions):
    check("tile", sample("int8", (2, 3)), repetitions)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_unstack(axis):
    result = check("unstack", A, axis=axis)
    assert isinstance(result, tuple)
    assert result[0].data_ptr() == torch.asarray(A).data_ptr() or len(result) == A.shape[axis]


@pytest.mark.parametrize("name", ["flip", "roll", "squeeze", "concat"])
def test_axes_that_do_not_exist(name):
    arguments = {"roll": (1,)}.get(name, ())
    x = torch.ones(1, 2)
    with pytest.raises(IndexError):
        getattr(xp, name)([x] if name == "concat" else x, *arguments, axis=5)


@pytest.mark.parametrize("shift", [1, -2, (3,), 7])
def test_rolled_as_if_flat(shift):
    check("roll", A, shift if isinstance(shift, int) else shift[0])
    flat = xp.roll(xp.asarray(A), shift)
    assert flat.tolist() == np.roll(A, shift).tolist()
    with pytest.raises(ValueError, match="unpack"):
        xp.roll(xp.asarray(A), (1, 2))


@pytest.mark.parametrize("other", ALL)
def test_truths_beside_numbers_have_the_numbers_dtype(other):
    truths, numbers = xp.asarray([True, False]), xp.astype(xp.asarray([2, 0]), getattr(xp, other))
    for arrays in ((truths, numbers), (numbers, truths)):
        joined = xp.concat(arrays)
        assert joined.dtype is numbers.dtype is xp.result_type(*arrays)
        assert joined.tolist() == [v for a in arrays for v in a.tolist()]
