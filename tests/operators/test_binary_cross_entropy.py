"""The loss of logits: gradients of all its operands, beside PyTorch and finite differences."""

import itertools

import pytest

import mindtorch_core as mt

REDUCTIONS = ("mean", "sum", "none")


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(
    "shapes", [((2, 3), (3,)), ((3,), (2, 3)), ((1,), (2, 1)), ((), ()), ((2, 2, 3), (3,))]
)
def test_all_operands_have_a_gradient(shapes, reduction):
    """PyTorch has none for the weights."""
    mt.manual_seed(0)
    operands = [mt.randn(2, 3), mt.rand(2, 3), *(mt.rand(shape) + 0.5 for shape in shapes)]
    given = [t.double().requires_grad_() for t in operands]

    def loss(x, target, weight, pos_weight):
        return mt.nn.functional.binary_cross_entropy_with_logits(
            x, target, weight, pos_weight=pos_weight, reduction=reduction
        )

    assert mt.autograd.gradcheck(loss, given)
    assert mt.autograd.gradgradcheck(loss, given)
    for missing in (2, 3):
        part = [None if i == missing else t for i, t in enumerate(given)]
        assert mt.autograd.gradcheck(loss, part)


def told(torch, dtype, weight, pos_weight, reduction):
    """The loss, its gradients and those of their sum, and what made it."""
    d = getattr(torch, dtype)
    x = torch.tensor([[0.5, -1.0, 30.0], [-200.0, 2.0, 0.0]], dtype=d, requires_grad=True)
    target = torch.tensor([[0.0, 1.0, 0.3], [1.0, 0.0, 0.5]], dtype=d, requires_grad=True)
    weights = [None if v is None else torch.tensor(v, dtype=d) for v in (weight, pos_weight)]
    loss = torch.nn.functional.binary_cross_entropy_with_logits(
        x, target, weights[0], pos_weight=weights[1], reduction=reduction
    )
    total = loss * torch.arange(6, dtype=d).reshape(2, 3) if loss.dim() else loss
    first = torch.autograd.grad(total.sum(), (x, target), create_graph=True)
    second = torch.autograd.grad(first[0].sum(), (x, target))
    return loss.grad_fn.name(), [t.double().tolist() for t in (loss, *first, *second)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_it_is_pytorchs(dtype):
    pt = pytest.importorskip("torch")
    close = 0.02 if dtype == "bfloat16" else 1e-6
    weights = (None, [[0.5, 2.0, 1.0]] * 2, [0.5, 2.0, 1.0])
    for case in itertools.product(weights, (None, [3.0, 0.5, 1.0]), REDUCTIONS):
        wanted, found = told(pt, dtype, *case), told(mt, dtype, *case)
        assert found[0] == wanted[0]
        for a, b in zip(found[1], wanted[1], strict=True):
            mt.testing.assert_close(mt.tensor(a), mt.tensor(b), rtol=close, atol=close)
