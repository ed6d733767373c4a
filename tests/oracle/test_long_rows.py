"""Reductions of rows as long as the pieces that are added up at once, and a little longer: with gradients."""

import pytest

import mindtorch_core as torch
import mindtorch_core.nn.functional as F

pt = pytest.importorskip("torch")

# Around one piece, and of a prime number of elements, which no equal pieces make.
WIDTHS = [1023, 1024, 1025, 1031, 2048, 2053, 8209]
REDUCING = {
    "softmax": lambda f, x: f.softmax(x, -1),
    "log_softmax": lambda f, x: f.log_softmax(x, -1),
    "softmax of columns": lambda f, x: f.softmax(x.t(), 0),
    "cross_entropy": lambda f, x: f.cross_entropy(x, (x[:, :3].detach() * 0).long().sum(-1)),
    "layer_norm": lambda f, x: f.layer_norm(x, x.shape[-1:]),
    "rms_norm": lambda f, x: f.rms_norm(x, x.shape[-1:]),
    "group_norm": lambda f, x: f.group_norm(x[None], 2),
    "batch_norm": lambda f, x: f.batch_norm(x[None], None, None, training=True),
    "attention": lambda f, x: f.scaled_dot_product_attention(
        x[None, :, :5], x.t()[None, :, :4].reshape(1, -1, 1).expand(1, -1, 5), x.t()[None, :, :4].reshape(1, -1, 1)
    ),
    "sum": lambda f, x: x.sum(-1),
    "mean": lambda f, x: x.mean(-1),
    "var": lambda f, x: x.var(-1),
    "norm": lambda f, x: x.norm(dim=-1),
    "logsumexp": lambda f, x: x.logsumexp(-1),
    "cosine_similarity": lambda f, x: f.cosine_similarity(x[:2], x[2:], -1),
    "normalize": lambda f, x: f.normalize(x, dim=-1),
}  # fmt: skip


def both_ways(lib, functional, name, width, dtype):
    values = lib.arange(4 * width, dtype=lib.float64).mul(0.7).sin().reshape(4, width)
    x = values.to(getattr(lib, dtype)).requires_grad_()
    y = REDUCING[name](functional, x)
    y.backward(lib.arange(y.numel(), dtype=lib.float64).cos().reshape(y.shape).to(y.dtype))
    return y.detach(), x.grad


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", REDUCING)
def test_rows(name, dtype):
    for width in WIDTHS:
        ours = both_ways(torch, F, name, width, dtype)
        theirs = both_ways(pt, pt.nn.functional, name, width, dtype)
        for a, b in zip(ours, theirs, strict=True):
            torch.testing.assert_close(
                a, torch.from_dlpack(b.contiguous()), msg=lambda m, w=width: f"{w}: {m}"
            )
