"""How what is made of images lies in memory: with channels innermost where theirs are, as PyTorch's.

Gradients too, but of adaptive pooling and of shuffles: PyTorch's have ops of their own, ours are compositions.
"""

import pytest

import mindtorch_core as torch
from mindtorch_core.testing import assert_close

pt = pytest.importorskip("torch")

PLANES = {
    "avg_pool": lambda f, x: f.avg_pool2d(x, 2),
    "max_pool": lambda f, x: f.max_pool2d(x, 2, return_indices=True),
    "max_pool padded": lambda f, x: f.max_pool2d(x, 3, 2, 1),
    "max_pool of whole numbers": lambda f, x: f.max_pool2d(x.detach().int(), 2),
    "lp_pool": lambda f, x: f.lp_pool2d(x + 1, 2, 2),
    "max_unpool": lambda f, x: f.max_unpool2d(*f.max_pool2d(x, 2, return_indices=True), 2),
    **{
        mode: lambda f, x, mode=mode: f.interpolate(x, scale_factor=2, mode=mode)
        for mode in ("nearest", "nearest-exact", "bilinear", "bicubic")
    },
    **{
        f"pad {mode}": lambda f, x, mode=mode: f.pad(x, (1, 1, 2, 1), mode=mode)
        for mode in ("constant", "reflect", "replicate", "circular")
    },
}
VOLUMES = {
    "avg_pool": lambda f, x: f.avg_pool3d(x, 2),
    "max_pool": lambda f, x: f.max_pool3d(x, 2, return_indices=True),
    "adaptive_avg_pool": lambda f, x: f.adaptive_avg_pool3d(x, 2),
    "adaptive_max_pool": lambda f, x: f.adaptive_max_pool3d(x, 2, return_indices=True),
    "means": lambda f, x: f.adaptive_avg_pool3d(x, 1),
    "nearest": lambda f, x: f.interpolate(x, scale_factor=2),
    "trilinear": lambda f, x: f.interpolate(x, scale_factor=2, mode="trilinear"),
    **{
        f"pad {mode}": lambda f, x, mode=mode: f.pad(x, (1, 1, 1, 1, 1, 1), mode=mode)
        for mode in ("constant", "reflect", "replicate")
    },
}
RESULTS_ALONE = {
    "adaptive_avg_pool": lambda f, x: f.adaptive_avg_pool2d(x, 2),
    "adaptive_max_pool": lambda f, x: f.adaptive_max_pool2d(x, 2, return_indices=True),
    "means": lambda f, x: f.adaptive_avg_pool2d(x, 1),
    "area": lambda f, x: f.interpolate(x, size=2, mode="area"),
    "smooth": lambda f, x: f.interpolate(x, size=3, mode="bilinear", antialias=True),
    "pixel_unshuffle": lambda f, x: f.pixel_unshuffle(x, 2),
    "channel_shuffle": lambda f, x: f.channel_shuffle(x, 1),
}


def image(lib, shape, innermost, on="cpu"):
    count = 1
    for n in shape:
        count *= n
    x = (lib.arange(count, dtype=lib.float32) % 11 - 3).reshape(shape)
    if innermost:
        x = x.contiguous(
            memory_format=lib.channels_last if len(shape) == 4 else lib.channels_last_3d
        )
    return x.to(on).requires_grad_()


def results(made):
    return list(made) if isinstance(made, tuple) else [made]


def layouts(lib, call, x, gradients):
    """Strides of results, and of the gradient for one as the result lies and for a row-major one."""
    made = results(call(lib.nn.functional, x))
    found = [(*t.shape, *t.stride()) for t in made]
    if gradients and made[0].requires_grad:
        for g in (lib.ones_like(made[0]), lib.ones(made[0].shape, dtype=made[0].dtype)):
            (back,) = lib.autograd.grad(made[0], x, g.to(made[0].device), retain_graph=True)
            found.append(back.stride())
    return found


CASES = [
    *((name, call, shape, True) for name, call in PLANES.items()
      for shape in ((2, 3, 6, 6), (1, 3, 6, 6), (2, 1, 6, 6))),
    *((name, call, shape, False) for name, call in RESULTS_ALONE.items()
      for shape in ((2, 3, 6, 6), (2, 1, 6, 6))),
    *((f"{name} of volumes", call, shape, True) for name, call in VOLUMES.items()
      for shape in ((2, 3, 4, 4, 4), (2, 1, 4, 4, 4))),
]  # fmt: skip
EACH = pytest.mark.parametrize(
    ("call", "shape", "gradients"),
    [pytest.param(*rest, id=f"{name}-{rest[1]}") for name, *rest in CASES],
)


@EACH
@pytest.mark.parametrize("innermost", [False, True])
def test_as_in_pytorch(call, shape, gradients, innermost):
    x, y = image(torch, shape, innermost), image(pt, shape, innermost)
    wanted = layouts(pt, call, y, gradients)
    assert layouts(torch, call, x, gradients) == wanted
    assert layouts(torch, call, image(torch, shape, innermost, "meta"), gradients) == wanted
    made = [results(call(lib.nn.functional, t)) for lib, t in ((torch, x), (pt, y))]
    with torch.pipeline():
        assert layouts(torch, call, x, gradients=False) == wanted[: len(made[0])]
    for a, b in zip(*made, strict=True):
        assert_close(a, torch.from_numpy(b.detach().numpy()))
