"""Modules whose numbers scenarios leave out: across channels, and losses with a layer of their own."""

import itertools

import pytest
import torch as pt
from module_scenarios import fill, numbers, values

import mindtorch_core as torch


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("settings", [(1e-4, 0.75, 1.0), (0.9, 0.6, 2.5)])
def test_windows_of_channels(size, settings):
    """Of a first channel of zeros, which PyTorch keeps in all windows."""
    found = []
    for t in (torch, pt):
        x = (values(t, 2, 6, 2, 3, scale=3.0) + 1.5) * t.arange(6.0).clamp(max=1)[:, None, None]
        found.append(numbers(t.nn.CrossMapLRN2d(size, *settings)(x)))
    assert found[0] == pytest.approx(found[1], rel=1e-5)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_first_channel_leaves_windows(size):
    """Beside sums that are written out; PyTorch keeps it."""
    x, alpha, beta, k = values(torch, 1, 5, 1, 2, scale=2.0) + 3, 0.8, 0.5, 1.5
    reach = (size - 1) // 2
    rows = x[0, :, 0].tolist()
    wanted = [
        v
        / (k + alpha / size * sum(r[j] ** 2 for r in rows[max(0, i - reach) : i + reach + 1]))
        ** beta
        for i, row in enumerate(rows)
        for j, v in enumerate(row)
    ]
    found = torch.nn.CrossMapLRN2d(size, alpha, beta, k)(x)
    assert numbers(found) == pytest.approx(wanted, rel=1e-5)


CHOICES = {
    "reduction": ("mean", "sum", "none"),
    "weight": (None, (0.5, 1.0, 3.0)),
    "ignore_index": (None, 1),
    "label_smoothing": (0.0, 0.3),
    "bias": (False, True),
}


@pytest.mark.parametrize("extra", [(), (2,), (2, 1)])
@pytest.mark.parametrize("chosen", list(itertools.product(*CHOICES.values())), ids=str)
def test_losses_with_a_layer(extra, chosen):
    """Numbers, gradients and texts."""
    found = []
    for t in (torch, pt):
        named = dict(zip(CHOICES, chosen, strict=True))
        if named["weight"]:
            named["weight"] = t.tensor(named["weight"])
        loss = fill(t, t.nn.LinearCrossEntropyLoss(4, 3, out_features=extra, **named))
        x = values(t, 3, 4, scale=2.0).requires_grad_()
        out = loss(x, t.arange(3 * max(1, 2 * len(extra[:1]))).reshape(3, *extra) % 3)
        out.sum().backward()
        given = [out, x.grad, *(p.grad for p in loss.parameters())]
        found.append((repr(loss), list(loss.state_dict()), [numbers(each) for each in given]))
    (*texts, mine), (*wanted, theirs) = found
    assert texts == wanted
    assert all(a == pytest.approx(b, rel=1e-4, abs=1e-6) for a, b in zip(mine, theirs, strict=True))


@pytest.mark.parametrize(
    "wrong", [{"label_smoothing": -0.1}, {"label_smoothing": 1.1}, {"weight": 2}]
)
def test_losses_with_a_layer_refuse(wrong):
    for t in (torch, pt):
        named = {k: t.ones(v) if k == "weight" else v for k, v in wrong.items()}
        with pytest.raises(RuntimeError, match=r"expected (weight shape|label_smoothing) to be"):
            t.nn.LinearCrossEntropyLoss(4, 3, **named)
