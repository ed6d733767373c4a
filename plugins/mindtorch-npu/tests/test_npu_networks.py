"""Norms and losses with and without their optional operands: the CPU's numbers, by one operator each way."""

import pytest

import mindtorch_core as torch
import mindtorch_core.nn.functional as F


@pytest.fixture(autouse=True)
def _no_fallback(monkeypatch):
    monkeypatch.setenv("MINDTORCH_NPU_FALLBACK", "error")


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def both_ways(function, *operands):
    """A result with the gradients of the operands that are there."""
    leaves = [t.detach().requires_grad_() for t in operands if t is not None]
    given = iter(leaves)
    result = function(*(None if t is None else next(given) for t in operands))
    result.backward(torch.arange(1.0, result.numel() + 1, device=result.device).view_as(result))
    return [result.detach(), *(t.grad for t in leaves)]


def on(device, operands):
    return [None if t is None else t.to(device) for t in operands]


NORMS = {
    "GroupNorm": (lambda x, w, b: F.group_norm(x, 3, w, b), (2, 6, 4), 6),
    "LayerNorm": (lambda x, w, b: F.layer_norm(x, (4,), w, b), (2, 6, 4), 4),
    "BatchNorm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, True), (4, 6, 3), 6),
    "InstanceNorm": (lambda x, w, b: F.instance_norm(x, weight=w, bias=b), (4, 6, 5), 6),
}


@pytest.mark.usefixtures("npu")
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("weight", [True, False])
@pytest.mark.parametrize("name", NORMS)
def test_norms_without_weight_or_bias(name, weight, bias):
    function, shape, channels = NORMS[name]
    operands = [
        drawn(*shape),
        drawn(channels, seed=1) if weight else None,
        drawn(channels, seed=2) if bias else None,
    ]
    expected = both_ways(function, *operands)
    found = both_ways(function, *on("npu", operands))
    for ours, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(ours.cpu(), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5, 4)])
def test_losses_of_classes_are_one_operator_each_way(launched, shape, weighted, reduction):
    target = torch.arange(shape[0] * max(1, drawn(*shape)[0, 0].numel())) % 3
    target = target.view(shape[0], *shape[2:])
    weight = torch.tensor([0.5, 2.0, 1.5]) if weighted else None

    def loss(x):
        device = x.device
        w = None if weight is None else weight.to(device)
        return F.nll_loss(x, target.to(device), w, ignore_index=1, reduction=reduction)

    x = drawn(*shape)
    expected = both_ways(loss, x)
    far = x.to("npu")
    found, names, _ = launched(lambda: both_ways(loss, far))
    for ours, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(ours.cpu(), wanted, rtol=1e-5, atol=1e-5)
    of_images = "2d" if len(shape) == 4 else ""
    assert names[f"NLLLoss{of_images}"] == 1
    assert names[f"NLLLoss{of_images}Backward"] == 1


COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_are_one_operator(launched, name):
    a, b = drawn(4, 5).round(), drawn(4, 5, seed=3).round()
    x, y = a.to("npu"), b.to("npu")
    found, names, _ = launched(lambda: getattr(torch, name)(x, y))
    assert names == {f"{name.capitalize()}Tensor": 1}
    assert found.tolist() == getattr(torch, name)(a, b).tolist()


@pytest.mark.usefixtures("npu")
def test_a_step_with_amp_under_the_devices_own_name():
    """As programs for these devices write it: `torch.npu.amp` beside `torch.amp` with the type's name."""
    amp, losses = torch.npu.amp, []
    assert torch.npu.amp is amp
    assert amp.__all__ == ["autocast", "GradScaler", "custom_fwd", "custom_bwd"]
    assert amp.GradScaler(enabled=False).state_dict() == {}
    assert amp.GradScaler()._device == "npu"
    for autocast, scaler in (
        (amp.autocast, amp.GradScaler(init_scale=8.0)),
        (lambda: torch.autocast("npu"), torch.amp.GradScaler("npu", init_scale=8.0)),
    ):
        w = drawn(4, 3).to("npu").requires_grad_()
        optimizer = torch.optim.SGD([w], lr=0.1)
        with autocast():
            y = drawn(5, 4, seed=1).to("npu") @ w
            loss = y.float().square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        assert y.dtype is torch.get_autocast_dtype("npu")
        losses.append((loss.item(), w.detach().cpu()))
    assert losses[0][0] == losses[1][0]
    assert torch.equal(losses[0][1], losses[1][1])
    with amp.autocast(enabled=False):
        assert not torch.is_autocast_enabled("npu")
    with pytest.raises(TypeError, match="autocast"):
        amp.autocast("npu")


@pytest.mark.usefixtures("npu")
@pytest.mark.parametrize("padding", [None, 0, 1, 3, -1])
@pytest.mark.parametrize("by_freq", [False, True])
def test_the_row_of_padding_gets_no_gradient(padding, by_freq):
    at, table = torch.tensor([[0, 1, 3], [0, 2, 3]]), drawn(4, 2)

    def call(w):
        return F.embedding(at.to(w.device), w, padding, scale_grad_by_freq=by_freq)

    expected, found = both_ways(call, table), both_ways(call, table.to("npu"))
    for ours, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(ours.cpu(), wanted)
