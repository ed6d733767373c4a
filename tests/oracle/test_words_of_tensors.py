"""What making, reading and writing tensors, storages and their kinds refuse, a program a line: PyTorch's types of errors.

The words are PyTorch's too, but where they lead nowhere.
"""

import copy
import warnings

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome

pt = pytest.importorskip("torch")

PROGRAMS = """
    t.ones(4).split(0)
    t.ones(4).split(-1)
    t.ones(4).split([-1, 5])
    t.ones(4).split([1, 2])
    t.istft(t.ones(32), 8)
    t.istft(t.ones(3, dtype=t.complex64).real, 4)
    t.nn.GRUCell(2, 3)(t.ones(2, 2), t.ones(3, 3))
    t.nn.RNNCell(2, 3)(t.ones(2, 2), t.ones(2, 4))
    t.nn.LSTMCell(2, 3)(t.ones(2, 2), (t.ones(2, 3), t.ones(2, 4)))
    masked(t.ones(2), t.ones(2))
    t.tensor([[1], [2, 3]])
    t.tensor([[1, 2], [3]])
    t.tensor("a")
    t.tensor(["a"])
    t.tensor({})
    t.tensor(object())
    t.tensor([object()])
    t.tensor(None)
    t.tensor([None])
    t.from_numpy(3)
    t.frombuffer(3, dtype=t.uint8)
    t.frombuffer(b"", dtype=t.uint8)
    t.frombuffer(b"1234", dtype=t.int32, count=0)
    t.frombuffer(b"1234", dtype=t.int32, count=2)
    t.frombuffer(b"1234", dtype=t.int32, offset=4)
    t.frombuffer(b"1234", dtype=t.int32, offset=-1)
    t.frombuffer(b"12345", dtype=t.int32)
    t.asarray([1, 2], copy=False)
    t.asarray(t.ones(2), dtype=t.int64, copy=False)
    t.asarray(t.ones(2), device="meta", copy=False)
    t.asarray(np.ones(2), dtype=t.int64, copy=False)
    t.ones(2, requires_grad=True).numpy()
    t.ones(2, dtype=t.complex64).conj().numpy()
    t.ones(2).to_sparse().numpy()
    t.ones(2, device="meta").numpy()
    t.ones(2, requires_grad=True).__dlpack__()
    t.ones(2)[0, 0]
    t.ones(2)[2]
    t.ones(2)[-3]
    t.ones(2, 3)[0, 3]
    t.ones(2)[1.0]
    t.ones(2)[object()]
    t.ones(2)[::-1]
    t.ones(2)["a":]
    t.ones(2)[1.5:]
    t.ones(2)[t.tensor([2])]
    t.ones(2)[t.tensor([True])]
    t.ones(2, 2)[t.ones(2, 3) > 0]
    t.ones(2).__setitem__(0, t.ones(2))
    t.ones(2).__setitem__(slice(None), t.ones(3))
    t.ones(2).__setitem__(2, 1)
    t.ones(2).__delitem__(0)
    t.ones(2).item()
    t.ones(0).item()
    bool(t.ones(2))
    bool(t.ones(0))
    int(t.ones(2))
    float(t.ones(2))
    int(t.tensor(1j))
    float(t.tensor(1j))
    complex(t.ones(2))
    [1, 2][t.tensor(1.0)]
    [1, 2][t.tensor([0, 1])]
    len(t.tensor(1))
    iter(t.tensor(1))
    "a" in t.ones(2)
    [1] in t.ones(2)
    t.ones(2, 2).to_sparse().crow_indices()
    t.ones(2, 2).to_sparse().ccol_indices()
    t.ones(2, 2).crow_indices()
    t.ones(2, 2).indices()
    t.ones(2, 2).values()
    t.ones(2, 2).coalesce()
    t.sparse_coo_tensor([[0, 0]], [1.0, 2.0]).indices()
    t.sparse_coo_tensor([[0, 0]], [1.0, 2.0]).values()
    t.ones(2, 2).to_sparse_csr().indices()
    t.ones(2, 2).to_sparse_csr().ccol_indices()
    t.ones(2, 2).to_sparse_csc().crow_indices()
    t.ones(2, 2, 2).to_sparse().t()
    t.ones(2, 2).to_sparse().add(t.ones(3, 3).to_sparse())
    t.ones(2, 2).to_sparse().mv(t.ones(2, 2))
    t.mm(t.ones(2, 2).to_sparse(), t.ones(3, 2).to_sparse())
    t.sparse_coo_tensor([[0]], [1.0, 2.0])
    t.sparse_coo_tensor([0], [1.0])
    t.sparse.softmax(t.ones(2, 2).to_sparse(), 2)
    t.UntypedStorage(4)[4]
    t.UntypedStorage(4)["a"]
    t.UntypedStorage(4)[::2]
    t.UntypedStorage(4).__setitem__(0, 1.5)
    t.UntypedStorage(4).__setitem__(4, 1)
    t.UntypedStorage(4).copy_(t.UntypedStorage(3))
    t.UntypedStorage(4).fill_(1.5)
    t.from_numpy(np.ones(2)).untyped_storage().resize_(100)
    t.UntypedStorage("a")
    t.UntypedStorage(["a"])
    t.UntypedStorage([1.5])
    t.FloatStorage("a")
    t.FloatStorage(2)[2]
    t.FloatStorage(2).copy_(t.FloatStorage(3))
    t.TypedStorage(wrap_storage=t.UntypedStorage(4))
    t.TypedStorage(wrap_storage=3, dtype=t.float32)
    t.FloatStorage(wrap_storage=t.UntypedStorage(4), dtype=t.float64)
    t.FloatStorage(wrap_storage=t.UntypedStorage(4), device="cpu")
    t.ones(2).type(3)
    t.ones(2).names
    setattr(t.ones(2), "data", 3)
    setattr(t.ones(2), "grad", 3)
    setattr(t.ones(2), "requires_grad", 3)
    setattr(t.ones(2, requires_grad=True) * 2, "requires_grad", False)
    t.ones(2).H
    t.ones(2, 2, 2).H
    t.ones(2).mT
    t.ones(2).mH
    t.ones(2).real.other
    t.device("cpu:0", 1)
    t.device("cpu", 1.5)
    t.device("cpu:01")
    t.device("cpu:")
    t.device("cpu:a")
    t.finfo(3)
    t.ones(4).reshape(-1, -1)
    t.ones(4).reshape(3, -1)
    t.ones(4).reshape(-2)
    t.ones(0).reshape(0, -1)
    t.ones(4).view(3)
    t.ones(2, 2).t().view(4)
    t.ones(2).expand(3)
    t.ones(2).expand(-1, 2)
    t.ones(2).expand(())
    t.ones(2).as_strided((1,), (-1,))
    t.ones(2).as_strided((3,), (1,))
    t.ones(2).as_strided((1,), (1,), 2)
    t.ones(2).transpose(0, 1)
    t.ones(2, 2).permute(0, 0)
    t.ones(2).permute(1)
    t.ones(2).sum(1)
    t.ones(2, 2).sum((0, 0))
    t.ones(2, 2).sum((0, -2))
    t.ones(2) + t.ones(3)
    t.broadcast_tensors(t.ones(2), t.ones(3))
    t.ones(2).contiguous(memory_format=t.channels_last)
    t.ones(2, 2, 2, 2).contiguous(memory_format=3)
    t.ones(-1)
    t.ones("a")
    t.ones(1.5)
    t.empty((2, -1))
    t.empty_strided((2,), (1, 2))
    t.empty_strided((2,), (-1,))
    t.zeros(2, dtype=3)
    t.zeros(2, dtype="float32")
    t.zeros(2, layout=3)
    t.can_cast(3, t.int64)
    t.can_cast(t.int64, 3)
    t.promote_types(3, t.int64)
    t.iinfo(3)
    t.UntypedStorage(4).__setitem__("a", 1)
    t.sparse.spdiags(t.ones(2, 2), t.tensor([0, 0]), (2, 2))
"""
OWN_WORDS = """
    t.sparse.softmax(t.ones(2, 2), 0)
    t.sparse.log_softmax(t.ones(2, 2), 0)
    t.sparse.softmax(3, 0)
    t.sparse.log_softmax(None, 0)
    t.sparse.mm(t.eye(2).to_sparse(), 3)
    t.sparse.mm(3, t.eye(2))
    t.sparse.addmm(t.ones(2, 2), t.eye(2).to_sparse(), 3)
    t.sparse.sampled_addmm(3, t.eye(2), t.eye(2))
    t.sparse.spdiags(t.ones(1, 2), t.tensor([0]), (2, 2), layout=t.strided)
    masked(t.ones(2), 3)
    masked([1.0], t.ones(1) > 0)
    masked(masked(t.ones(2), t.ones(2) > 0), t.ones(2) > 0)
    masked(t.ones(2), masked(t.ones(2) > 0, t.ones(2) > 0))
    masked(t.ones(2), t.ones(3) > 0)
    masked(t.ones(2), t.ones(2) > 0) + masked(t.ones(2), t.ones(2) > 1)
    masked(t.ones(2), t.ones(2) > 0).tolist()
    masked(t.ones(2), t.ones(2) > 0).numpy()
    t.fft.fft(masked(t.ones(2), t.ones(2) > 0))
    t.tensor([[1], 2])
    t.tensor([1, [2]])
    t.tensor(2**63)
    t.tensor([2**63, 1])
    t.tensor(1j, dtype=t.float32)
    t.tensor([1j], dtype=t.int64)
    t.tensor(np.array(["a"]))
    t.tensor(np.array([object()]))
    t.tensor(np.array("2020-01-01", dtype="datetime64[D]"))
    t.from_numpy(np.array(["a"]))
    t.from_numpy(np.ones(2)[::-1])
    t.frombuffer(b"12345", dtype=t.int32, offset=2)
    t.ones(2, dtype=t.complex64).conj().__dlpack__()
    t.ones(2, device="meta").__dlpack__()
    t.tensor(1)[0]
    t.ones(2, 3, 4)[..., 0, ..., 0]
    t.ones(2)["a"]
    t.ones(2)[::0]
    t.ones(2)[t.ones(2)]
    t.ones(2).__setitem__(0, "a")
    t.ones(2).__setitem__(0, [1, 2])
    t.ones(2).__setitem__(0, 1j)
    t.ones(2, dtype=t.int64).__setitem__(0, 2**64)
    t.FloatTensor(2, other=3)
    t.FloatTensor("a")
    t.FloatTensor(1.5)
    t.FloatTensor(1, 2.0)
    t.FloatTensor(t.ones(2).double())
    t.FloatTensor([1], [2])
    t.ones(2).new(t.ones(2).double())
    t.ones(2).new("a")
    t.ones(2).cpu(3)
    C.deepcopy(t.ones(2, requires_grad=True) * 2)
    t.ones((), device="meta").item()
    t.ones(2).to_sparse(3)
    t.ones(2).to_sparse(-1)
    t.ones(2, 2).to_sparse().add_(t.ones(2, 2))
    t.sparse.mm(t.ones(2, 2).to_sparse(), t.ones(3, 2))
    t.mul(t.ones(2, 2).to_sparse(), t.ones(3, 2).to_sparse())
    t.ones(2, 3).to_sparse_bsr((2, 2))
    t.ones(2, 2).to_sparse_bsr((0, 1))
    t.ones(2, 2).to_sparse(layout=t.sparse_csr, blocksize=(1, 1))
    t.ones(2, 2).to_sparse(layout=t.sparse_bsr)
    t.sparse_csr_tensor([[0, 1]], [0], [1.0])
    t.sparse_compressed_tensor([0, 1], [0], [1.0], layout=t.strided)
    t.sparse_coo_tensor([[0]], [1.0], (1, 2))
    t.sparse_coo_tensor([[0]], [[1.0]], (2, 3))
    t.sparse.FloatTensor(3, 4, "a")
    t.UntypedStorage(4)[-5]
    t.UntypedStorage(4).copy_(t.ones(1))
    t.UntypedStorage(4).resize_(-1)
    t.UntypedStorage(-1)
    t.UntypedStorage(1, 2)
    t.UntypedStorage(1, other=2)
    t.UntypedStorage.from_buffer(b"1234", "other", dtype=t.int32)
    t.UntypedStorage.from_buffer(b"12345", "little", dtype=t.int32)
    t.UntypedStorage.from_buffer(b"1234", "little", 2, 3, dtype=t.uint8)
    t.FloatStorage(1, 2)
    t.FloatStorage(2)["a"]
    t.FloatStorage(2).fill_("a")
    t.FloatStorage(2).copy_([1])
    t.TypedStorage(1, wrap_storage=t.UntypedStorage(4), dtype=t.float32)
    t.TypedStorage(1, dtype=t.float32, other=2)
    t.FloatStorage(wrap_storage=t.FloatStorage(4))
    t.FloatStorage.from_buffer(b"1234", "other")
    t.FloatStorage.from_buffer(b"12345", "little")
    t.ones(2).data_ptr(3)
    t.ones(2).type("other")
    t.ones(2).share_memory_(3)
    setattr(t.ones(2), "grad", t.ones(3))
    setattr(t.ones(2), "grad", t.ones(2).double())
    setattr(t.ones(2, dtype=t.int64), "requires_grad", True)
    setattr(t.ones(2), "imag", t.ones(2))
    t.ones(2).imag
    t.device("cpu", -2)
    t.device(t.device("cpu"), 1)
    t.iinfo(t.float32)
    t.iinfo(t.bool)
    t.finfo(t.int64)
    t.finfo(t.bool)
    t.ones(1).expand(-2)
    t.ones(2).as_strided((2,), (1, 1))
    t.ones(2).as_strided((-1,), (1,))
    t.ones(2).as_strided((1,), (1,), -1)
    t.ones(2).permute(0, 0)
    t.broadcast_shapes((2,), (3,))
    t.broadcast_shapes((-1,), (3,))
    t.get_default_dtype(3)
    t.set_default_dtype(t.int64)
    t.set_default_dtype("a")
    t.result_type("a", 3)
    t.sparse.spdiags(t.ones(2), t.tensor([0, 1]), (2, 2))
    t.sparse.spdiags(t.ones(1, 2), t.tensor([0, 1]), (2, 2))
    t.sparse.spdiags(t.ones(2, 2), t.tensor([[0, 1]]), (2, 2))
"""


def told(lib, program):
    """The type of error that a program raises, and its words without the library's name."""
    given = {"t": lib, "np": np, "C": copy, "masked": lib.masked.masked_tensor}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        error = outcome(eval, program, given)
    assert isinstance(error, Exception), f"{program} is not refused by {lib.__name__}"
    return type(error).__name__, str(error).replace("mindtorch_core.", "torch.")


def lines(programs):
    return [line.strip() for line in programs.strip().splitlines()]


@pytest.mark.parametrize("program", lines(PROGRAMS))
def test_words_of_pytorch(program):
    assert told(torch, program) == told(pt, program)


@pytest.mark.parametrize("program", lines(OWN_WORDS))
def test_types_of_pytorch(program):
    (mine, words), (theirs, _) = told(torch, program), told(pt, program)
    assert mine == theirs
    assert words
