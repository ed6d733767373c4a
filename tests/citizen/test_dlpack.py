"""DLPack: memory shared with NumPy and PyTorch, by capsules of both kinds."""

import gc
import weakref

import pytest

import mindtorch_core as torch
from mindtorch_core.values.dtypes import DTYPES

np = pytest.importorskip("numpy")
pt = pytest.importorskip("torch")

NAMES = list(DTYPES)
SHAPES = [(), (0,), (0, 3), (1,), (2, 3)]


@pytest.mark.parametrize("name", NAMES)
def test_pytorch_shares_memory_both_ways(name):
    ours = torch.tensor([[0, 1], [0, 1]]).to(getattr(torch, name)).t()
    theirs = pt.from_dlpack(ours)
    assert str(theirs.dtype) == str(ours.dtype)
    assert theirs.stride() == ours.stride()
    assert theirs.data_ptr() == ours.data_ptr()
    theirs[0, 0] = 1
    assert ours.tolist() == [[1, 0], [1, 1]]
    back = torch.from_dlpack(theirs)
    assert (back.dtype, back.stride()) == (ours.dtype, ours.stride())
    back[1, 0] = 0
    assert ours.tolist() == theirs.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(shape, name):
    ours = torch.ones(shape, dtype=getattr(torch, name))
    theirs = pt.from_dlpack(ours)
    assert tuple(theirs.shape) == shape
    assert theirs.tolist() == ours.tolist() == torch.from_dlpack(theirs).tolist()


@pytest.mark.parametrize("name", sorted({*NAMES} - {"bfloat16"}))
def test_numpy_shares_memory_both_ways(name):
    ours = torch.zeros(2, 3, dtype=getattr(torch, name)).t()
    array = np.from_dlpack(ours)
    assert array.ctypes.data == ours.data_ptr()
    ours[0, 0] = 1
    assert array[0, 0] == 1
    a = np.zeros((2, 3), name).T
    made = torch.from_dlpack(a)
    made[0, 1] = 1
    assert a[0, 1] == 1


def test_numpy_has_no_bfloat16():
    with pytest.raises(RuntimeError, match="Unsupported dtype"):
        np.from_dlpack(torch.ones(2, dtype=torch.bfloat16))


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_both_kinds_of_capsules(name):
    ours = torch.ones(2, dtype=getattr(torch, name))
    old, new = ours.__dlpack__(), ours.__dlpack__(max_version=(1, 0))
    assert 'capsule object "dltensor"' in repr(old)
    assert 'capsule object "dltensor_versioned"' in repr(new)
    for capsule in (old, new):
        assert pt.from_dlpack(capsule).data_ptr() == ours.data_ptr()
    theirs = pt.ones(2, dtype=getattr(pt, name))
    for capsule in (theirs.__dlpack__(), theirs.__dlpack__(max_version=(1, 0))):
        assert torch.from_dlpack(capsule).data_ptr() == theirs.data_ptr()
        with pytest.raises(RuntimeError, match="consumed only once"):
            torch.from_dlpack(capsule)


def test_a_producer_from_before_the_versions():
    class Old:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, stream=None):
            return self.array.__dlpack__()

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    a = np.ones(2)
    assert torch.from_dlpack(Old(a)).data_ptr() == a.ctypes.data


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_memory_lives_as_long_as_somebody_uses_it(name):
    ours = torch.ones(1000, dtype=getattr(torch, name))
    memory = weakref.ref(ours.untyped_storage().memory)
    theirs = pt.from_dlpack(ours)
    unused = ours.__dlpack__(max_version=(1, 0))
    del ours
    gc.collect()
    assert theirs.float().sum() == 1000
    assert memory() is not None
    del theirs, unused
    gc.collect()
    assert memory() is None

    theirs = pt.ones(1000, dtype=getattr(pt, name))
    made = torch.from_dlpack(theirs)
    del theirs
    gc.collect()
    assert made.float().sum().item() == 1000


def test_consumers_wishes():
    t = torch.ones(2)
    assert pt.from_dlpack(t.__dlpack__(copy=True)).data_ptr() != t.data_ptr()
    assert pt.from_dlpack(t.__dlpack__(copy=False)).data_ptr() == t.data_ptr()
    assert pt.from_dlpack(t.__dlpack__(dl_device=(1, 0), stream=-1)).data_ptr() == t.data_ptr()
    assert t.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match="stream should be None on cpu"):
        t.__dlpack__(stream=3)
    with pytest.raises(BufferError, match="DLPack device"):
        t.__dlpack__(dl_device=(2, 0))


def test_own_wishes():
    a = np.ones(2)
    assert torch.from_dlpack(a, copy=True).data_ptr() != a.ctypes.data
    assert torch.from_dlpack(a, copy=False).data_ptr() == a.ctypes.data
    assert torch.from_dlpack(a, device="meta").device.type == "meta"
    with pytest.raises(ValueError, match="can't alias tensor from device"):
        torch.from_dlpack(a, device="meta", copy=False)


def test_what_cannot_be_shared():
    class Elsewhere:
        def __dlpack__(self, **options):
            raise AssertionError("must not be asked")

        def __dlpack_device__(self):
            return (2, 0)

    with pytest.raises(BufferError, match=r"layout other than torch\.strided"):
        torch.ones(2).to_sparse().__dlpack__()
    with pytest.raises(BufferError, match="require gradient"):
        torch.ones(2, requires_grad=True).__dlpack__()
    with pytest.raises(BufferError, match="Cannot pack tensors on meta"):
        torch.empty(2, device="meta").__dlpack__()
    with pytest.raises(ValueError, match="Unknown device type meta"):
        torch.empty(2, device="meta").__dlpack_device__()
    with pytest.raises(BufferError, match="not in host memory"):
        torch.from_dlpack(Elsewhere())
    with pytest.raises(TypeError, match="does not support the DLPack protocol"):
        torch.from_dlpack(3)
    with pytest.raises(ValueError, match="negative"):
        torch.from_dlpack(np.arange(4)[::-1])


def test_recorded_work_is_launched_first():
    with torch.pipeline():
        t = torch.ones(3) * 2
        assert np.from_dlpack(t).tolist() == [2, 2, 2]
        assert pt.from_dlpack(t + 1).tolist() == [3, 3, 3]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["float64", "bfloat16", "bool"])
def test_capsules_of_old_are_written(name, shape):
    """Capsules without a version cannot say that memory is read-only."""
    for lib in (torch, pt):
        source = lib.zeros(shape, dtype=getattr(lib, name))
        made = torch.from_dlpack(source.__dlpack__())
        made.fill_(1)
        assert source.tolist() == made.tolist()


def test_a_capsule_keeps_its_memory():
    source = torch.ones(3)
    made = torch.from_dlpack(source.__dlpack__())
    memory = weakref.ref(source.untyped_storage().memory)
    del source
    assert memory() is not None
    assert made.tolist() == [1, 1, 1]


def test_a_stream_is_a_number():
    for lib in (torch, pt):
        with pytest.raises(TypeError, match="stream must be"):
            lib.ones(3).__dlpack__(stream=object())
