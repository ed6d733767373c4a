"""``torch.sparse.mm`` with a reduction, and ``linear`` of sparse inputs: values and gradients as in PyTorch."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:Sparse (CSR )?(tensor support|invariant checks)")

ROWS = [[0.0, 2.0, 4.0], [0.0, 0.0, 0.0], [-3.0, 2.0, 0.0]]


def factors(lib, nan):
    a = lib.tensor(ROWS).to_sparse_csr().requires_grad_()
    last = float("nan") if nan else 2.0
    return a, lib.tensor([[1.0, -2.0], [2.0, last], [1.0, 1.0]]).requires_grad_()


@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin", "max", "min"])
@pytest.mark.parametrize("nan", [False, True])
def test_products_of_a_row_are_joined(reduce, nan):
    found = []
    for lib in (torch, pt):
        a, b = factors(lib, nan)  # (2, 1) * (4, 1): the first of equals has the gradient
        made = lib.sparse.mm(a, b, reduce)
        (made * lib.arange(6.0).reshape(3, 2)).sum().backward()
        found.append([made.tolist(), a.grad.values().tolist(), b.grad.tolist()])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(
            torch.tensor(ours), torch.tensor(theirs), equal_nan=True, rtol=0, atol=0
        )


def test_of_nothing_and_of_repeated_positions():
    empty = torch.zeros(2, 3).to_sparse_csr()
    assert torch.sparse.mm(empty, torch.ones(3, 2), "amin").tolist() == [[0, 0], [0, 0]]
    twice = torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (1, 2))  # is 3 there
    assert torch.sparse.mm(twice, torch.ones(2, 1), "mean").tolist() == [[3]]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda a, b: (a, b, "prod"),
        lambda a, b: (a, b[:2], "mean"),
        lambda a, b: (b, b, "mean"),
        lambda a, b: (a, a, "mean"),
    ],
)
def test_what_it_refuses(wrong):
    for lib in (torch, pt):
        with pytest.raises(RuntimeError):
            lib.sparse.mm(*wrong(*factors(lib, False)))


@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr"])
@pytest.mark.parametrize("bias", [False, True])
def test_linear(layout, bias):
    found = []
    for lib in (torch, pt):
        weight = lib.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).requires_grad_()
        more = [lib.tensor([0.5, -0.5])] if bias else []
        made = lib.nn.functional.linear(getattr(lib.tensor(ROWS), layout)(), weight, *more)
        made.square().sum().backward()
        found.append((made.tolist(), weight.grad.tolist()))
    assert found[0] == found[1]
