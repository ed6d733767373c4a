"""Tensors and NumPy arrays share dtypes and memory; pickles and copies do not share."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.values.dtypes import DTYPES
from mindtorch_cpu import addresses
from mindtorch_cpu.arrays import np_dtype, torch_dtype

NAMES = sorted(DTYPES)
PLAIN = [n for n in NAMES if n != "bfloat16"]


def numpy_type(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


# ---- dtypes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_dtype_has_a_numpy_dtype_of_its_size(name):
    d = DTYPES[name]
    assert np_dtype(d) == numpy_type(name)
    assert np_dtype(d).itemsize == d.itemsize
    assert torch_dtype(np_dtype(d)) is d


@pytest.mark.parametrize("name", NAMES)
def test_results_keep_their_dtype_as_arrays(name):
    t = torch.ones(2, dtype=DTYPES[name])
    assert t.numpy().dtype == numpy_type(name)
    assert (t + t).numpy().dtype == numpy_type(name)


@pytest.mark.parametrize("kind", ["U3", "S3", "O", "datetime64[s]", "longdouble"])
def test_dtypes_without_counterpart_are_refused(kind):
    with pytest.raises(TypeError, match=r"can't convert np\.ndarray of type .* supported types"):
        torch.from_numpy(np.zeros(2, kind))


def test_another_byte_order_is_refused():
    with pytest.raises(ValueError, match="byte order different from the native"):
        torch.from_numpy(np.zeros(2, ">f4"))


# ---- arrays -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_from_numpy_shares_memory(name):
    a = np.zeros((2, 3), numpy_type(name))
    t = torch.from_numpy(a)
    a[0, 1] = 1
    assert t[0, 1].item() == 1
    t[1, 2] = 1
    assert a[1, 2] == 1


def test_from_numpy_keeps_strides_and_offset():
    a = np.arange(24.0).reshape(4, 6)
    t = torch.from_numpy(a[1:, ::2].T)
    assert t.shape == (3, 3)
    assert t.stride() == (2, 6)
    assert t.tolist() == a[1:, ::2].T.tolist()
    t.mul_(2)
    assert a[1, 2] == 16


def test_numpy_of_a_view_shares_memory_with_its_base():
    t = torch.zeros(3, 4)
    part = t.transpose(0, 1)[1].numpy()
    part[2] = 5
    assert t[2, 1].item() == 5
    assert t.numpy().base is part.base or np.shares_memory(t.numpy(), part)


def test_from_numpy_refuses_what_has_no_strides_of_ours():
    with pytest.raises(ValueError, match="negative"):
        torch.from_numpy(np.arange(3)[::-1])
    record = np.zeros(3, np.dtype([("a", "i4"), ("b", "i1")]))
    with pytest.raises(ValueError, match="not a multiple of the element byte size"):
        torch.from_numpy(record["a"])
    with pytest.raises(TypeError, match=r"expected np\.ndarray \(got list\)"):
        torch.from_numpy([1, 2])


def test_a_read_only_array_is_not_written():
    a = np.arange(3.0)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        torch.from_numpy(a).add_(1)
    assert a.tolist() == [0, 1, 2]


def test_numpy_refuses_a_tensor_that_requires_grad():
    t = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        t.numpy()
    assert t.numpy(force=True).tolist() == [1, 1]


def test_numpy_functions_take_tensors():
    t = torch.tensor([1.0, 4.0])
    assert np.asarray(t) is not None
    assert np.shares_memory(np.asarray(t), t.numpy())
    assert np.array(t, dtype=np.int32).tolist() == [1, 4]
    assert np.sqrt(t).tolist() == [1, 2]


def test_a_pending_tensor_is_computed_for_numpy():
    with torch.pipeline():
        t = torch.ones(2) + 1
        assert np.asarray(t).tolist() == [2, 2]
        assert np.from_dlpack(torch.ones(2) + 2).tolist() == [3, 3]


def test_numpy_scalars_are_numbers():
    t = torch.ones(2)
    assert (t + np.float64(2)).dtype is torch.float32
    assert (t.to(torch.int32) * np.int64(3)).tolist() == [3, 3]
    assert torch.full((2,), np.float32(0.5)).tolist() == [0.5, 0.5]


# ---- DLPack -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLAIN)
def test_numpy_takes_tensors_through_dlpack(name):
    t = torch.ones(2, 3, dtype=DTYPES[name]).transpose(0, 1)
    a = np.from_dlpack(t)
    assert a.dtype == numpy_type(name)
    assert a.strides == tuple(s * t.itemsize for s in t.stride())
    assert a.tolist() == t.tolist()


def test_dlpack_shares_memory():
    t = torch.zeros(4)
    np.from_dlpack(t[1:])[0] = 5
    assert t.tolist() == [0, 5, 0, 0]
    assert t.__dlpack_device__() == (1, 0)


def test_dlpack_refuses_a_tensor_that_requires_grad():
    with pytest.raises(BufferError, match="require gradient"):
        np.from_dlpack(torch.ones(2, requires_grad=True))


# ---- pickles and copies -------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(2, 3), (), (0, 2)])
def test_pickles_keep_values_and_dtype(name, shape):
    t = torch.ones(shape, dtype=DTYPES[name])
    back = pickle.loads(pickle.dumps(t))
    assert (back.dtype, back.shape, back.device) == (t.dtype, t.shape, t.device)
    assert back.tolist() == t.tolist()


def test_pickles_keep_the_memory_that_views_share():
    whole = torch.arange(1000)
    whole, part = pickle.loads(pickle.dumps((whole, whole[::500])))
    assert part.tolist() == [0, 500]
    whole.zero_()
    assert part.tolist() == [0, 0]
    assert len(pickle.dumps(torch.arange(1000)[::500].clone())) < 1000


def test_pickles_keep_requires_grad():
    leaf = torch.ones(2, requires_grad=True)
    assert pickle.loads(pickle.dumps(leaf)).requires_grad
    result = pickle.loads(pickle.dumps(leaf * 2))
    assert result.requires_grad
    assert result.is_leaf


def test_copies_are_independent():
    t = torch.zeros(2, requires_grad=True)
    copied = copy.deepcopy(t)
    assert copied.requires_grad
    copied.data.add_(1)
    assert t.tolist() == [0, 0]
    assert copied.tolist() == [1, 1]


@pytest.mark.parametrize("known", [True, False])
def test_addresses_are_numpys(known, monkeypatch):
    monkeypatch.setattr(addresses, "KNOWN", known)
    whole = np.arange(12.0).reshape(3, 4)
    for a in (whole, whole[1:, ::2], whole.T, np.empty(0), np.array(np.float32(3))):
        assert addresses.address(a) == a.__array_interface__["data"][0]
