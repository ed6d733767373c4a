"""NumPy arrays and buffers: shared memory, conversions, and expressions that mix both."""

import array
import operator
import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core.values.dtypes import DTYPES

np = pytest.importorskip("numpy")
NAMES = sorted({*DTYPES} - {"bfloat16"})


@pytest.mark.parametrize("name", NAMES)
def test_memory_is_shared_both_ways(name):
    a = np.zeros((2, 3), name)
    t = torch.from_numpy(a.T)
    assert (t.dtype, t.shape, t.stride()) == (getattr(torch, name), (3, 2), (1, 3))
    t[0, 1] = 1
    a[0, 2] = 1
    assert a[1, 0] == 1
    assert t[2, 0].item() == 1
    assert t.numpy().ctypes.data == a.ctypes.data == t.data_ptr()


def test_arrays_that_cannot_be_shared():
    with pytest.raises(ValueError, match="stride in the given numpy array is negative"):
        torch.from_numpy(np.arange(4)[::-1])
    with pytest.raises(TypeError, match=r"can't convert np\.ndarray of type <U1"):
        torch.from_numpy(np.array(["a"]))
    with pytest.raises(ValueError, match="byte order"):
        torch.from_numpy(np.arange(3, dtype=">i4"))
    with pytest.raises(TypeError, match=r"expected np\.ndarray"):
        torch.from_numpy([1])


WRITES = {
    "add_": lambda t: t.add_(1),
    "setitem": lambda t: t.__setitem__(0, 5),
    "zero_": lambda t: t.zero_(),
    "copy_": lambda t: t.copy_(torch.ones(3)),
    "out": lambda t: torch.exp(t, out=t),
    "view": lambda t: t[1:].fill_(3),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_memory_that_is_read_only_stays_so(write):
    a = np.ones(3)
    a.flags.writeable = False
    for t in (torch.from_numpy(a), torch.from_dlpack(a), torch.as_tensor(a), torch.asarray(a)):
        with pytest.raises(ValueError, match="read-only"):
            write(t)
    assert a.tolist() == [1, 1, 1]
    assert write(torch.from_numpy(a).clone()) is not NotImplemented


def test_the_array_of_a_tensor():
    t = torch.arange(3.0)
    assert np.asarray(t).ctypes.data == t.data_ptr()
    assert np.array(t, copy=False).ctypes.data == t.data_ptr()
    assert np.array(t).ctypes.data != t.data_ptr()
    assert np.array(t, copy=True).ctypes.data != t.data_ptr()
    assert np.asarray(t, dtype=np.int64).tolist() == [0, 1, 2]
    assert np.asarray(t, dtype=np.int64).dtype == np.int64
    with pytest.raises(ValueError, match="cannot become an array of dtype int64 without a copy"):
        np.array(t, dtype=np.int64, copy=False)
    with pytest.raises(RuntimeError, match="requires grad"):
        np.asarray(torch.ones(2, requires_grad=True))
    with torch.no_grad():
        assert np.asarray(torch.ones(2, requires_grad=True)).tolist() == [1, 1]
    assert torch.ones(2, requires_grad=True).numpy(force=True).tolist() == [1, 1]
    with pytest.raises(TypeError, match="can't convert meta device type tensor to numpy"):
        torch.empty(2, device="meta").numpy()


def test_functions_of_numpy_return_tensors():
    t = torch.tensor([1.0, 4.0])
    for made, expected in (
        (np.sqrt(t), [1, 2]),
        (np.maximum(t, 2), [2, 4]),
        (np.multiply(np.array([2.0, 2.0]), t), [2, 8]),
        (np.float64(2) * t, [2, 8]),
        (np.int64(2) + t, [3, 6]),
        (np.isfinite(t), [True, True]),
    ):
        assert isinstance(made, torch.Tensor)
        assert made.tolist() == expected
    out = np.zeros(2)
    assert np.add(t, 1, out=out) is out
    assert type(np.concatenate([t, t])) is np.ndarray


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "pow", "mod", "floordiv"])
def test_a_tensor_with_an_array(name):
    t, a = torch.tensor([1.0, 4.0]), np.array([2.0, 3.0])
    made = getattr(operator, name)(t, a)
    assert isinstance(made, torch.Tensor)
    assert made.dtype is torch.float64
    assert made.tolist() == getattr(operator, name)(t.numpy(), a).tolist()
    with pytest.raises(TypeError):  # as in PyTorch: the array does not know what to do
        getattr(operator, name)(a, t)


def test_comparisons_with_arrays_are_not_by_identity():
    t, a = torch.tensor([1.0, 4.0]), np.array([1.0, 3.0])
    assert (t == a).tolist() == (a == t).tolist() == [True, False]
    assert (t != a).tolist() == (a != t).tolist() == [False, True]
    assert (t == "x") is False
    assert (t == None) is False  # noqa: E711


def test_indexing_across():
    assert np.arange(4)[torch.tensor([1, 2])].tolist() == [1, 2]
    assert torch.arange(4)[np.array([1, 2])].tolist() == [1, 2]
    assert torch.arange(4)[np.int64(2)].item() == 2


# ---- buffers ------------------------------------------------------------------------------------


def test_buffers_share_memory():
    raw = bytearray(8)
    t = torch.frombuffer(raw, dtype=torch.int16)
    t[1] = 0x0201
    assert raw == b"\0\0\x01\x02\0\0\0\0"
    raw[0] = 5
    assert t.tolist() == [5, 0x0201, 0, 0]
    with pytest.raises(BufferError):  # the tensor keeps it in place
        raw.append(1)
    assert torch.frombuffer(raw, dtype=torch.int16, count=2, offset=2).tolist() == [0x0201, 0]
    assert torch.frombuffer(array.array("d", [1.5, 2]), dtype=torch.float64).tolist() == [1.5, 2]
    assert torch.frombuffer(bytearray(4), dtype=torch.float32, requires_grad=True).requires_grad
    assert torch.frombuffer(bytearray(4), dtype=torch.bfloat16).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("buffer", "options", "text"),
    [
        (bytearray(3), {}, "must be a multiple of element size"),
        (bytearray(), {}, "must not be 0"),
        (bytearray(4), {"count": 0}, "must not be 0"),
        (bytearray(4), {"offset": 9}, "must be non-negative and no greater"),
        (bytearray(4), {"offset": -1}, "must be non-negative and no greater"),
        (bytearray(4), {"count": 5}, "must not be greater than actual buffer length"),
        (3, {}, "does not implement Python buffer protocol"),
    ],
)
def test_buffers_that_do_not_fit(buffer, options, text):
    with pytest.raises(ValueError, match=text):
        torch.frombuffer(buffer, dtype=torch.int16, **options)


def test_asarray_shares_what_it_can():
    a = np.ones(2)
    t = torch.ones(2)
    raw = bytearray(b"abcd")
    assert torch.asarray(t) is t
    assert torch.asarray(a).data_ptr() == a.ctypes.data
    assert torch.asarray(a, copy=True).data_ptr() != a.ctypes.data
    assert torch.asarray(a, copy=False).data_ptr() == a.ctypes.data
    assert torch.asarray(t, copy=True) is not t
    assert torch.asarray(raw, dtype=torch.uint8).tolist() == [97, 98, 99, 100]
    assert torch.asarray([1, 2]).tolist() == [1, 2]
    assert torch.asarray(np.float64(2)).dtype is torch.float64
    assert torch.asarray(a, dtype=torch.int32).dtype is torch.int32
    assert torch.asarray(a, device="meta").device.type == "meta"
    assert torch.asarray(a, requires_grad=True).requires_grad
    leaf = torch.ones(2, requires_grad=True)
    assert torch.asarray(leaf) is leaf
    assert not torch.asarray(leaf, requires_grad=False).requires_grad
    with pytest.raises(ValueError, match="can't alias arbitrary sequence"):
        torch.asarray([1], copy=False)
    with pytest.raises(ValueError, match="dtype 'Double' into dtype 'Int'"):
        torch.asarray(a, dtype=torch.int32, copy=False)
    with pytest.raises(ValueError, match="from device 'cpu' to 'meta'"):
        torch.asarray(a, device="meta", copy=False)


# ---- against PyTorch ----------------------------------------------------------------------------

SCRIPTS = {
    "asarray bytes": lambda lib: lib.asarray(bytearray(b"abcd")),
    "asarray array": lambda lib: lib.asarray(array.array("i", [1, 2]), dtype=lib.int32),
    "asarray scalar": lambda lib: lib.asarray(1.5),
    "frombuffer": lambda lib: lib.frombuffer(bytearray(b"abcdefgh"), dtype=lib.int32),
    "sin": lambda lib: np.sin(lib.ones(2)),
    "reduce": lambda lib: np.add.reduce(lib.ones(2)),
    "norm": lambda lib: np.linalg.norm(lib.ones(2)),
    "of scalars": lambda lib: np.array([lib.tensor(1.0), lib.tensor(2.0)]),
    "stack": lambda lib: np.stack([lib.ones(2), lib.ones(2)]),
    "inplace": lambda lib: operator.iadd(lib.ones(2), 1),
    "is_set_to": lambda lib: [
        lib.ones(2).is_set_to(lib.ones(2)),
        (x := lib.ones(2)).is_set_to(x.view(2)),
        x.is_set_to(x[:1]),
    ],
    "placed": lambda lib: [
        lib.ones(2).get_device(), lib.ones(2).is_pinned(), lib.ones(2).is_shared(),
        lib.ones(2).layout == lib.strided, len(lib.ones(3)[1:].untyped_storage()),
    ],
}  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_agrees_with_pytorch(script):
    pt = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's methods are older than NumPy's rules
        assert repr(script(torch)) == repr(script(pt))
