"""Matrices in compressed rows and columns whose elements are dense tensors: as in PyTorch."""

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome

pt = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:Sparse (CS[RC] )?(tensor support|invariant checks)")

PARTS = [
    "x",
    "x.shape, x.dense_dim(), x.sparse_dim(), x._nnz(), x.layout",
    "x.values().tolist()",
    "x.to_dense().tolist()",
    "x.to_sparse_coo()",
    "x.to_sparse_csr()",
    "x.to_sparse_csc()",
    "x.clone().values().tolist()",
    "(x * 2).values().tolist()",
    "(x + x).values().tolist()",
    "x.abs().values().tolist()",
    "x.double().dtype",
    "x[0]",
    "x.sum()",
    "x.to_dense().to_sparse_csr(dense_dim=1)",
    "x.to_dense().to_sparse_csc(dense_dim=1).row_indices()",
    "x.to_sparse_coo().coalesce().to_sparse_csr()",
]


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("part", PARTS)
def test_as_in_pytorch(kind, part):
    found = []
    for lib in (torch, pt):
        values = lib.arange(6.0).reshape(3, 2) + 1
        ends, places = lib.tensor([0, 2, 2, 3]), lib.tensor([0, 2, 1])
        x = getattr(lib, f"sparse_{kind}_tensor")(ends, places, values)
        found.append(outcome(lambda x=x: str(eval(part, {"x": x}))))
    assert found[0] == found[1], part


def test_its_values_have_gradients():
    values = (torch.arange(6.0).reshape(3, 2) + 1).requires_grad_()
    x = torch.sparse_csr_tensor([0, 2, 3], [0, 2, 1], values)
    (x.to_dense() * torch.arange(12.0).reshape(2, 3, 2)).sum().backward()
    assert values.grad.tolist() == [[0, 1], [4, 5], [8, 9]]


@pytest.mark.parametrize("dense_dim", [-1, 2])
def test_dense_dims_that_there_are_not(dense_dim):
    for lib in (torch, pt):
        with pytest.raises(RuntimeError, match=r"dense_dim argument must be in \[0,1\] range"):
            lib.ones(2, 2, 2).to_sparse_csr(dense_dim=dense_dim)
    with pytest.raises(RuntimeError, match="need a size of two numbers and these"):
        torch.sparse_csr_tensor([0, 1], [0], [[1.0, 2.0]], (1, 1, 3))
    batch = torch.tensor([[0, 1], [0, 1]])
    for batched in (
        torch.ones(2, 2, 2).to_sparse_csr,
        lambda: torch.sparse_csr_tensor(batch, batch[:, :1], torch.ones(2, 1)),
    ):
        with pytest.raises(NotImplementedError, match="only matrices, and for rows and columns"):
            batched()
