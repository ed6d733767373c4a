"""Batch norm's running statistics: what changes them, and which gradients depend on them."""

import pytest

import mindtorch_core as torch
import mindtorch_core.nn.functional as F

FORMS = {
    "batch_norm": lambda x, w, mean, var, training: F.batch_norm(x, mean, var, w, None, training),
    "native_batch_norm": lambda x, w, mean, var, training: torch.native_batch_norm(
        x, w, None, mean, var, training, 0.1, 1e-5
    )[0],
    "_native_batch_norm_legit": lambda x, w, mean, var, training: torch._native_batch_norm_legit(
        x, w, None, mean, var, training, 0.1, 1e-5
    )[0],
    "_batch_norm_with_update": lambda x, w, mean, var, training: torch._batch_norm_with_update(
        x, w, None, mean, var, 0.1, 1e-5
    )[0],
}
EVERY_FORM = pytest.mark.parametrize("norm", FORMS.values(), ids=FORMS)


def batch(seed):
    x = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return x.requires_grad_()


def arguments():
    weight = torch.tensor([1.0, 2.0, -0.5], dtype=torch.float64, requires_grad=True)
    mean, var = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    return weight, mean, var


def loss(out):
    return (out * out * torch.arange(18.0, dtype=torch.float64).view(out.shape)).sum()


@EVERY_FORM
def test_two_batches_before_one_backward(norm):
    alone = []
    for seed in (1, 2):
        x, (weight, mean, var) = batch(seed), arguments()
        loss(norm(x, weight, mean, var, True)).backward()
        alone.append((x.grad, weight.grad))
    first, second, (weight, mean, var) = batch(1), batch(2), arguments()
    total = loss(norm(first, weight, mean, var, True)) + loss(norm(second, weight, mean, var, True))
    total.backward()
    assert torch.equal(first.grad, alone[0][0])
    assert torch.equal(second.grad, alone[1][0])
    assert torch.allclose(weight.grad, alone[0][1] + alone[1][1])


def test_two_batches_of_instance_norm():
    x, (_, mean, var) = batch(1).detach().view(1, 3, 6).requires_grad_(), arguments()
    outs = [F.instance_norm(x, mean, var) for _ in range(2)]
    assert torch.equal(outs[0], outs[1])
    sum(loss(out) for out in outs).backward()
    once = torch.autograd.grad(loss(F.instance_norm(x)), x)[0]
    assert torch.allclose(x.grad, 2 * once)


@pytest.mark.parametrize("training", [True, False])
def test_statistics_of_instance_norm(training):
    found = []
    for lib in (torch, pytest.importorskip("torch")):
        x = lib.arange(24.0, dtype=lib.float64).view(2, 3, 4).sin()
        mean, var = lib.arange(3.0).double(), lib.ones(3, dtype=lib.float64)
        y = lib.nn.functional.instance_norm(x, mean, var, use_input_stats=training, momentum=0.3)
        found.append((mean.tolist(), var.tolist(), y.flatten().tolist()))
    for mine, expected in zip(*found, strict=True):
        assert mine == pytest.approx(expected)


@pytest.mark.parametrize("name", ["running_mean", "running_var"])
def test_one_statistic_of_instance_norm_is_not_enough(name):
    for lib in (torch, pytest.importorskip("torch")):
        with pytest.raises(ValueError, match="must either both be None or neither"):
            lib.nn.functional.instance_norm(lib.ones(2, 3, 4), **{name: lib.ones(3)})


@pytest.mark.parametrize("name", ["batch_norm", "native_batch_norm", "_native_batch_norm_legit"])
def test_evaluation_keeps_the_statistics_it_used(name):
    x, (weight, mean, var) = batch(1), arguments()
    out = FORMS[name](x, weight, mean, var, False)
    FORMS[name](batch(2), weight, mean, var, True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss(out).backward()


@EVERY_FORM
def test_finite_differences(norm):
    x, (weight, mean, var) = batch(3), arguments()
    for training in (True, False):
        call = lambda x, w: norm(x, w, mean.clone(), var.clone(), training)  # noqa: E731
        assert torch.autograd.gradcheck(call, (x, weight))
        assert torch.autograd.gradgradcheck(call, (x, weight))
