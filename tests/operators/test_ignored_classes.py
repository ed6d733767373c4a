"""Elements whose class is ignored count for nothing, whatever their numbers; signs of zeros are PyTorch's."""

import numpy as np
import pytest

import mindtorch_core as mt
from mindtorch_core.nn import functional

torch = pytest.importorskip("torch")

SHAPES = [(5, 3), (1, 1), (64, 10), (0, 3), (2, 3, 4), (3,), (2, 3, 0), (4, 2, 3, 3)]
LOSSES = {
    "nll_loss": ("nll_loss", {}),
    "cross_entropy": ("cross_entropy", {}),
    "smoothed": ("cross_entropy", {"label_smoothing": 0.1}),
}


def drawn(shape, special):
    """Logits whose first and last are special, classes and weights."""
    draw = np.random.default_rng(len(shape) + sum(shape))
    x = draw.standard_normal(shape)
    if special is not None and x.size:
        x.flat[0], x.flat[-1] = special, -special
    at = min(len(shape) - 1, 1)
    return x, draw.integers(0, shape[at], shape[:at] + shape[at + 1 :]), draw.random(shape[at])


def losses(lib, functions, loss, arrays, d, weighted, **options):
    """The loss and the gradient of the logits."""
    x, target, weight = (lib.tensor(a) for a in arrays)
    x = x.to(getattr(lib, d)).requires_grad_()
    weight = weight.to(x.dtype) if weighted else None
    name, more = LOSSES[loss]
    made = getattr(functions, name)(x, target, weight, **options, **more)
    made.sum().backward()
    return [t.detach().double().numpy() for t in (made, x.grad)]


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("loss", LOSSES)
def test_as_in_pytorch(loss, d, weighted, reduction):
    near = {"bfloat16": 3e-2, "float32": 1e-5, "float64": 1e-12}[d]
    for shape in SHAPES:
        for special in (None, np.inf, np.nan):
            for ignored in (-100, 0, 1):
                arrays = drawn(shape, special)
                options = {"reduction": reduction, "ignore_index": ignored}
                found = losses(mt, functional, loss, arrays, d, weighted, **options)
                wanted = losses(torch, torch.nn.functional, loss, arrays, d, weighted, **options)
                for f, w in zip(found, wanted, strict=True):
                    np.testing.assert_allclose(f, w, near, near, err_msg=f"{shape} {options}")
                    if d != "bfloat16":
                        there = ~np.isnan(w)
                        assert np.array_equal(np.signbit(f)[there], np.signbit(w)[there])


def test_under_vmap():
    x = mt.tensor([[[np.nan, 1.0], [2.0, 3.0]], [[0.0, 1.0], [np.inf, 1.0]]])
    target = mt.tensor([[0, 1], [1, 0]])
    ignored = mt.where(x.isfinite().all(-1), target, -100)
    found = mt.vmap(lambda x, t: functional.nll_loss(x, t, reduction="sum"))(x, ignored)
    assert found.tolist() == [-3.0, -1.0]


@pytest.mark.parametrize("d", [mt.float16, mt.bfloat16])
@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_halves_are_added_up_in_float32(d, reduction):
    mt.manual_seed(0)
    logs, target = mt.randn(4096, 10).log_softmax(1).to(d), mt.randint(0, 10, (4096,))
    exact = functional.nll_loss(logs.double(), target, reduction=reduction)
    assert functional.nll_loss(logs, target, reduction=reduction) == exact.to(d)
