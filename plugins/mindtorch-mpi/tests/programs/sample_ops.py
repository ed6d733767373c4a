"""Ops on samples, channels, matrices and rows of DTensors give what they give of plain tensors, and gradients."""

from every_way import beside, compare

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core import nn

F = nn.functional
dist.init_process_group("mpi")
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
draw = torch.Generator().manual_seed(0)
classes = torch.tensor([0, 1, 2, 3])
chances = torch.linspace(0, 1, 24).reshape(4, 6)


def r(*shape):
    return torch.randn(*shape, generator=draw)


def remembered(x, training):
    """Channels normalized, and the statistics that this leaves behind."""
    mean, var = (beside(x, torch.full((6,), v), mesh).clone() for v in (0.5, 2.0))
    y = F.batch_norm(x, mean, var, training=training)
    return y + (mean * var).reshape(1, 6, 1)


cases = {
    "conv": (lambda x, w, b: F.conv1d(x, w, b, padding=1), [r(4, 4, 5), r(8, 4, 3), r(8)]),
    "conv few": (lambda x, w: F.conv2d(x, w), [r(5, 3, 4, 4), r(2, 3, 3, 3)]),
    "conv groups": (lambda x, w: F.conv1d(x, w, groups=2), [r(4, 4, 5), r(4, 2, 3)]),
    "conv back": (lambda x, w, b: F.conv_transpose1d(x, w, b), [r(4, 4, 5), r(4, 8, 3), r(8)]),
    "pool": (lambda x: F.max_pool2d(x, 2) + F.avg_pool2d(x, 2), [r(4, 4, 4, 4)]),
    "pool to a shape": (
        lambda x: F.adaptive_max_pool2d(x, 3) + F.adaptive_avg_pool2d(x, 3),
        [r(4, 4, 5, 5)],
    ),
    "at positions": (
        lambda x, at: F.grid_sample(x, at, align_corners=False),
        [r(4, 2, 3, 3), r(4, 5, 5, 2)],
    ),
    "mean of huber": (lambda x, y: F.huber_loss(x, y, delta=0.5), [r(4, 6), r(4, 6)]),
    "sum of smooth": (lambda x, y: F.smooth_l1_loss(x, y, reduction="sum"), [r(4, 6), r(4, 6)]),
    "resampled": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), [r(4, 4, 3, 3)]),
    "channels": (
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
        [r(6, 6, 2), r(6), r(6)],
    ),
    "channels remembered": (lambda x: remembered(x, True), [r(6, 6, 2)]),
    "channels as they were": (lambda x: remembered(x, False), [r(6, 6, 2)]),
    "channels that do not go round": (
        lambda x: F.batch_norm(x, None, None, training=True),
        [r(6, 5)],
    ),
    "groups": (lambda x, w, b: F.group_norm(x, 2, w, b), [r(4, 4, 3), r(4), r(4)]),
    "mse": (lambda x, y: F.mse_loss(x, y), [r(4, 6), r(4, 6)]),
    "mse of few": (lambda x, y: F.mse_loss(x, y), [r(3, 5), r(3, 5)]),
    "huber": (lambda x, y: F.huber_loss(x, y, reduction="sum"), [r(3, 5), r(3, 5)]),
    "smooth": (lambda x, y: F.smooth_l1_loss(x, y, reduction="none"), [r(3, 5), r(3, 5)]),
    "bce": (
        lambda x, w: F.binary_cross_entropy_with_logits(x, beside(x, chances, mesh), w),
        [r(4, 6), r(6).abs()],
    ),
    "rows": (lambda x: x.index_select(0, beside(x, classes[[1, 0, 2]], mesh)), [r(4, 6)]),
    "columns": (lambda x: x.index_select(1, beside(x, classes, mesh)), [r(5, 6)]),
    "at": (lambda x: x[:, beside(x, classes, mesh)] * 2, [r(5, 4, 6)]),
    "at both": (lambda x: x[beside(x, classes, mesh), :, beside(x, classes, mesh)], [r(4, 6, 5)]),
    "put": (
        lambda x, y: x.index_put((beside(x, classes[:2], mesh),), y, accumulate=True),
        [r(4, 6), r(2, 6)],
    ),
    "added": (lambda x, y: x.index_add(0, beside(x, classes[:2], mesh), y), [r(4, 6), r(2, 6)]),
    "repeat": (lambda x: x.repeat(2, 1, 3), [r(4, 6)]),
    "roll": (lambda x: x.roll(1, 1), [r(4, 6)]),
    "det": (lambda x: torch.linalg.det(x), [r(4, 3, 3)]),
    "inverse": (lambda x: torch.linalg.inv(x), [r(4, 3, 3)]),
    "real": (lambda x: torch.complex(x, x * 2).real, [r(4, 6)]),
    "factor": (lambda x: torch.linalg.cholesky(x @ x.mT), [r(4, 3, 5)]),
    "solve": (lambda x, y: torch.linalg.solve(x, y), [r(4, 3, 3), r(4, 3, 2)]),
    "one for all": (lambda x, y: torch.linalg.solve(x, y), [r(3, 3), r(4, 3, 2)]),
    "norms": (lambda x: F.normalize(x, dim=1) + x.norm(3, dim=0, keepdim=True), [r(4, 6)]),
    "similar": (lambda x, y: F.cosine_similarity(x, y), [r(4, 6), r(4, 6)]),
    "cumsum": (lambda x: x.cumsum(1), [r(4, 6)]),
    "cumprod": (lambda x: x.cumprod(1) + x.cummax(1).values, [r(4, 6)]),
    "prod": (lambda x: x.prod(), [r(4, 3)]),
    "std": (lambda x: x.std(1), [r(4, 6)]),
    "median": (lambda x: x.median(1).values + x.kthvalue(2, 1).values, [r(4, 6)]),
    "glu": (lambda x: F.glu(x), [r(4, 6)]),
    "pad": (lambda x: F.pad(x, (1, 2)), [r(4, 6)]),
    "windows": (lambda x: x.unfold(1, 2, 2), [r(4, 6)]),
    "fft": (lambda x: torch.fft.rfft(x).abs(), [r(4, 6)]),
    "slice": (lambda x: x[:, 1:4], [r(4, 6)]),
}
compare(cases, mesh, 4)

dist.destroy_process_group()
print("done")
