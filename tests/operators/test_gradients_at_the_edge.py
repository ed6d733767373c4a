"""Gradients where formulas are most easily wrong: in place, at infinities, of gradients."""

import pytest

import mindtorch_core as torch
import mindtorch_core.nn.functional as F

INF = float("inf")


def leaf(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_polygamma_in_place(n):
    x = leaf(0.7, 1.9, 3.2)
    changed = x.clone().polygamma_(n)
    assert torch.equal(changed, torch.polygamma(n, x))
    assert torch.autograd.gradcheck(lambda x: x.clone().polygamma_(n), x)
    part = x.detach().clone()
    part[1:].polygamma_(n)
    assert torch.equal(part[1:], torch.polygamma(n, x.detach()[1:]))


def test_absolute_values_in_place_need_real_memory():
    for change in (torch.Tensor.abs_, torch.Tensor.absolute_):
        z = torch.tensor([3 + 4j, -1j])
        with pytest.raises(RuntimeError, match="In-place abs is not supported for complex tensors"):
            change(z)
        assert z.tolist() == [3 + 4j, -1j]
    x = torch.tensor([-1.0, 2.0])
    assert x.abs_() is x
    assert x.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_second_gradients_of_sums_with_infinity(name):
    x, y = leaf(-INF, 800.0, -800.0, 1.0), leaf(2.0, -800.0, 800.0, 1.0)
    first = torch.autograd.grad(getattr(torch, name)(x, y).sum(), (x, y), create_graph=True)
    assert torch.stack(first).tolist() == [[0, 1, 0, 0.5], [1, 0, 1, 0.5]]
    for g in first:
        for second in torch.autograd.grad(g.sum(), (x, y), retain_graph=True):
            assert second[:3].tolist() == [0, 0, 0]
            assert second[3].abs() > 0.1


def test_masked_logaddexp_without_operands():
    x, y = leaf(1.0, 2.0, 3.0, 4.0), leaf(0.5, 1.5, 2.5, 3.5)
    mine, other = torch.tensor([1, 1, 0, 0]) != 0, torch.tensor([1, 0, 1, 0]) != 0

    def call(x, y):
        return torch.masked.logaddexp(x, y, input_mask=mine, other_mask=other)[:3]

    out = torch.masked.logaddexp(x, y, input_mask=mine, other_mask=other)
    assert out[1:].tolist() == [2.0, 2.5, -INF]
    assert torch.autograd.gradcheck(call, (x, y))
    assert torch.autograd.gradgradcheck(call, (x, y))


@pytest.mark.parametrize("shape", [(1, 2), (2, 1)])
def test_lengths_of_ctc_loss_may_have_any_shape(shape):
    found = []
    for lib in (torch, pytest.importorskip("torch")):
        x = lib.arange(40.0).reshape(5, 2, 4).sin().requires_grad_()
        steps, sizes = (lib.tensor(v).reshape(shape) for v in ([5, 4], [2, 1]))
        labels = lib.tensor([[1, 2], [1, 3]])
        value = lib.nn.functional.ctc_loss(x.log_softmax(2), labels, steps, sizes)
        found.append([value.item(), *lib.autograd.grad(value, x)[0].flatten().tolist()])
    assert found[0] == pytest.approx(found[1], abs=1e-6)


def test_the_second_gradient_of_ctc_loss_is_refused():
    x = torch.randn(5, 1, 4, dtype=torch.float64, requires_grad=True)
    value = F.ctc_loss(x.log_softmax(2), torch.tensor([[1, 2]]), [5], [2])
    (g,) = torch.autograd.grad(value, x, create_graph=True)
    with pytest.raises(NotImplementedError, match="second derivative of ctc_loss"):
        g.square().sum().backward()


def test_zero_in_place_as_a_function():
    x = leaf(1.0, 2.0)
    y = x * 3
    assert torch.zero_(y) is y
    y.sum().backward()
    assert (y.tolist(), x.grad.tolist()) == ([0, 0], [0, 0])
