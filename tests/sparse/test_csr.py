"""Sparse matrices in compressed rows against PyTorch: what they hold, products, gradients, errors."""

import copy
import pickle
import warnings

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")
PROGRAMS = [
    "s.crow_indices()", "s.col_indices()", "s.values()", "s.to_dense()", "s.layout", "s.is_sparse", "s.is_sparse_csr",
    "s.shape", "s._nnz()", "s.sparse_dim()", "s.dense_dim()", "s.indices()", "s @ d.t()", "s @ d[0]",
    "torch.sparse.mm(s, d.t())", "torch.mm(s, d.t())", "torch.addmm(torch.ones(3, 3), s, d.t())", "(s * 2).values()",
    "(s + s).to_dense()", "(s + s).layout", "s.to_sparse().indices()", "s.to_sparse_coo().layout", "s.t().to_dense()",
    "d.to_sparse_csr().crow_indices()", "d.to_sparse(layout=torch.sparse_csr).col_indices()", "s.sum()", "s.neg().layout",
    "s.to_sparse_coo().to_sparse_csr().crow_indices()", "s.to_sparse_csr() is s", "s.double().dtype", "s.clone().layout",
    "s.detach().layout", "s.to(torch.float64).layout", "torch.sparse_csr_tensor(r, c, v).shape", "(g @ d.t()).requires_grad",
    "torch.sparse_csr_tensor([0, 1], [0], [1], dtype=torch.float64).values()", "unordered.to_dense()", "unordered @ d.t()",
    "unordered.col_indices()", "torch.sparse_coo_tensor([[0, 0], [1, 1]], [1., 2.]).to_sparse_csr().values()",
    "d.crow_indices()", "d.values()", "d.indices()", "d.coalesce()", "d.is_coalesced()", "d.sparse_dim()", "d.dense_dim()",
    "torch.zeros(3, 4).to_sparse_csr().crow_indices()", "torch.zeros(3, 4).to_sparse_csr() @ d.t()",
]  # fmt: skip


def names(lib):
    r, c, v = lib.tensor([0, 2, 2, 3]), lib.tensor([0, 3, 1]), lib.tensor([1.0, 2.0, 3.0])
    made = lib.sparse_csr_tensor
    return {
        "torch": lib, "r": r, "c": c, "v": v, "d": lib.arange(12.0).reshape(3, 4), "s": made(r, c, v, (3, 4)),
        "g": made(r, c, v, (3, 4), requires_grad=True), "unordered": made(r, lib.tensor([3, 0, 1]), v, (3, 4)),
    }  # fmt: skip


def outcome(lib, program):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch's, that they are new
            return repr(eval(program, names(lib)))
    except (RuntimeError, NotImplementedError) as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_pytorch(program):
    assert outcome(torch, program) == outcome(pt, program)


def test_gradients_lie_at_its_positions():
    found = names(torch)
    g = found["g"]
    (g @ found["d"].t()).sum().backward()
    assert g.grad.layout is torch.sparse_csr
    assert g.grad.to_dense().tolist() == [[12, 0, 0, 21], [0, 0, 0, 0], [0, 15, 0, 0]]


def test_it_is_kept_and_printed():
    s = names(torch)["s"]
    for back in (copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        assert back.layout is torch.sparse_csr
        assert torch.equal(back.to_dense(), s.to_dense())
    assert repr(s) == (
        "tensor(crow_indices=tensor([0, 2, 2, 3]),\n       col_indices=tensor([0, 3, 1]),\n"
        "       values=tensor([1., 2., 3.]), size=(3, 4), nnz=3,\n       layout=torch.sparse_csr)"
    )


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (([0, 5, 2, 3], [0, 3, 1], [1.0, 2, 3], (3, 4)), RuntimeError, "must not fall"),
        (([1, 2, 2, 3], [0, 3, 1], [1.0, 2, 3], (3, 4)), RuntimeError, r"crow_indices\[0\]"),
        (([0, 2, 2, 3], [0, 3, 1], [1.0, 2], (3, 4)), RuntimeError, "must be nnz, 2"),
        (([0, 2, 2, 3], [0, 3], [1.0, 2, 3], (3, 4)), RuntimeError, "same length"),
        (([0, 2, 2, 3], [0, 3, 9], [1.0, 2, 3], (3, 4)), RuntimeError, "found index 9"),
        (([0, 2, 2, 3], [0, -3, 1], [1.0, 2, 3], (3, 4)), RuntimeError, "negative index"),
        (([0, 2, 2, 3], [0, 3, 1], [1.0, 2, 3], (2, 4)), RuntimeError, "3 elements for 2 rows"),
        (([0, 1], [0], 1.0, (1, 1)), NotImplementedError, "only matrices"),
    ],
)
def test_what_does_not_fit(arguments, error, words):
    with pytest.raises(error, match=words):
        torch.sparse_csr_tensor(*arguments)
