"""Functions that make tensors, against NumPy's and the standard's words."""

import array

import pytest

import mindtorch_core as torch
from mindtorch_core import array_api as xp

np = pytest.importorskip("numpy")

from against_numpy import ALL, COMPLEX, FLOATING, REAL, check, sample  # noqa: E402


def dtype(name):
    return getattr(xp, name)


RANGES = [(5,), (0,), (-3,), (2, 7), (7, 2), (2, 8, 3), (8, 2, -3), (2, 8, -1), (5, 5)]


@pytest.mark.parametrize("arguments", RANGES)
@pytest.mark.parametrize("name", REAL)
def test_arange(arguments, name):
    if name.startswith("u") and min(np.arange(*arguments), default=0) < 0:
        return
    check("arange", *arguments, dtype=np.dtype(name))


@pytest.mark.parametrize(
    "arguments", [*RANGES, (0, -1, 0.5), (1.5,), (0.0, 1, 0.25), (-1, 0.0, -1)]
)
def test_arange_without_dtype(arguments):
    result = (
        check("arange", *arguments, dtype=None)
        if not any_float(arguments)
        else xp.arange(*arguments)
    )
    assert result.dtype is (torch.float32 if any_float(arguments) else torch.int64)
    assert result.tolist() == np.arange(*arguments).tolist()


def any_float(arguments):
    return any(isinstance(a, float) for a in arguments)


@pytest.mark.parametrize("name", [*FLOATING, *COMPLEX])
@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("arguments", [(0, 1, 5), (1.5, -1.5, 4), (0, 1, 0), (2, 3, 1), (5, 5, 3)])
def test_linspace(arguments, endpoint, name):
    check("linspace", *arguments, endpoint=endpoint, dtype=np.dtype(name))


def test_linspace_without_dtype():
    assert xp.linspace(0, 1, 3).dtype is torch.float32
    assert xp.linspace(0, 1j, 3).tolist() == [0, 0.5j, 1j]
    assert xp.linspace(0, 1j, 3).dtype is torch.complex64


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("shape", [3, (), (2, 0), (2, 3)], ids=str)
def test_shapes_and_fills(name, shape):
    for make in ("zeros", "ones"):
        check(make, shape, dtype=np.dtype(name))
    check("full", shape, 1, dtype=np.dtype(name))
    assert xp.empty(shape, dtype=dtype(name)).shape == np.empty(shape).shape
    like = sample(name, (3,) if shape == 3 else shape)
    check("zeros_like", like)
    check("ones_like", like, dtype=np.dtype("int8"))
    check("full_like", like, 1)
    assert xp.empty_like(torch.asarray(like)).dtype is dtype(name)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(True, xp.bool), (2, xp.int64), (0.5, xp.float32), (1j, xp.complex64)],
)
def test_numbers_decide_the_dtype(value, expected):
    assert xp.full(2, value).dtype is xp.asarray(value).dtype is expected
    assert xp.asarray([value, value]).dtype is expected
    assert xp.full((2,), value).tolist() == [value, value]
    assert {xp.zeros(1).dtype, xp.ones(1).dtype, xp.empty(1).dtype, xp.eye(1).dtype} == {xp.float32}


@pytest.mark.parametrize("k", range(-4, 5))
@pytest.mark.parametrize("size", [(3,), (2, 4), (4, 2), (0, 2), (3, None)], ids=str)
def test_eye(size, k):
    check("eye", *size, k=k, dtype=np.dtype("int32"))


@pytest.mark.parametrize("k", [-2, 0, 1])
@pytest.mark.parametrize("shape", [(3, 3), (2, 3), (2, 4, 2), (0, 3)], ids=str)
@pytest.mark.parametrize("name", ["tril", "triu"])
def test_triangles(name, shape, k):
    check(name, sample("float64", shape), k=k)


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sizes", [(), (3,), (2, 3), (2, 3, 4), (0, 2)], ids=str)
def test_meshgrid(sizes, indexing):
    axes = [sample("int16", (size,), seed) for seed, size in enumerate(sizes)]
    assert isinstance(check("meshgrid", *axes, indexing=indexing), list)


def test_meshgrid_of_other_indexing():
    with pytest.raises(ValueError, match='"xy" or "ij"'):
        xp.meshgrid(xp.ones(2), indexing="yx")


# ---- asarray and from_dlpack --------------------------------------------------------------------


def test_asarray_shares_memory_where_it_can():
    x = torch.ones(2)
    assert xp.asarray(x) is xp.asarray(x, copy=False) is x
    assert xp.asarray(x, copy=True).data_ptr() != x.data_ptr()
    a = np.ones(2)
    for copy in (None, False):
        xp.asarray(a, copy=copy)[0] = 5
        assert a[0] == 5
        a[0] = 1
    xp.asarray(a, copy=True)[0] = 5
    assert a[0] == 1
    buffer = array.array("d", [1.0, 2.0])
    assert xp.asarray(buffer, dtype=xp.float64).tolist() == [1, 2]


@pytest.mark.parametrize("obj", [[1, 2], 3.5, (True, False)], ids=str)
def test_a_copy_that_is_refused(obj):
    with pytest.raises(ValueError, match="can't alias"):
        xp.asarray(obj, copy=False)


def test_asarray_stays_where_the_tensor_is():
    meta = torch.ones(2, device="meta")
    assert xp.asarray(meta).device == meta.device
    with torch.device("meta"):
        assert xp.asarray(torch.ones(2, device="cpu")).device.type == "cpu"
    with pytest.raises(ValueError, match="alias tensor from device"):
        xp.asarray(torch.ones(2), device="meta", copy=False)
    with pytest.raises(ValueError, match="alias tensor with dtype"):
        xp.asarray(torch.ones(2), dtype=xp.int8, copy=False)


@pytest.mark.parametrize("name", ALL)
def test_from_dlpack(name):
    a = sample(name)
    for source in (a, torch.asarray(a)):
        for copy in (None, False):
            shared = xp.from_dlpack(source, copy=copy)
            assert shared.data_ptr() == a.ctypes.data
            assert shared.dtype is dtype(name)
        copied = xp.from_dlpack(source, copy=True)
        assert copied.data_ptr() != a.ctypes.data
        assert copied.tolist() == a.tolist()
    meta = torch.ones(2, device="meta")
    assert xp.from_dlpack(meta).device == meta.device
    assert not xp.from_dlpack(torch.ones(2, requires_grad=True)).requires_grad


def test_devices():
    for make in (xp.zeros, xp.ones, xp.empty):
        assert make(2, device="meta").device.type == "meta"
    assert xp.arange(3, device="meta").device.type == "meta"
    assert xp.zeros_like(torch.ones(2), device="meta").device.type == "meta"
    assert xp.eye(3, k=1, device="meta").shape == (3, 3)
