"""Gradients of ops on rows with ties, zeros, infinities and NaN, for gradients that are such numbers too."""

import math

import numpy as np
import pytest

import mindtorch_core as torch

pytest.importorskip("torch")

from special_points import INF, NAN, SEEDS, compare

# The first ones are finite.
ROWS = [
    [0.0, 0.0, 0.0, 0.0], [0.0, 2.0, 3.0, 4.0], [0.0, -0.0, 3.0, 4.0], [1.0, 1.0, -1.0, -1.0],
    [2.0, 2.0, 2.0, 2.0], [2.0, 1.0, 2.0, 0.0], [INF, 1.0, INF, 0.0], [-INF, -INF, 0.0, 1.0],
    [INF, -INF, 0.0, 1.0], [NAN, 1.0, 2.0, 0.0], [1.0, NAN, NAN, 0.0], [NAN, INF, 0.0, -INF],
]  # fmt: skip


def index(l):
    return l.tensor([[0, 1, 1, 0]] * len(ROWS))


def mask(l):
    return l.tensor([[True, False, True, False]] * len(ROWS))


TOGETHER = {
    "amax": lambda l, x: l.amax(x, 1),
    "amin": lambda l, x: l.amin(x, 1),
    "aminmax": lambda l, x: l.stack(tuple(l.aminmax(x, dim=1))),
    "max": lambda l, x: l.max(x, 1)[0],
    "min": lambda l, x: l.min(x, 1)[0],
    "median": lambda l, x: l.median(x, 1)[0],
    "nanmedian": lambda l, x: l.nanmedian(x, 1)[0],
    "quantile": lambda l, x: l.quantile(x, 0.5, 1),
    "nanquantile": lambda l, x: l.nanquantile(x, 0.25, 1),
    "sort": lambda l, x: l.sort(x, dim=1, stable=True)[0],
    "cummax": lambda l, x: l.cummax(x, 1)[0],
    "cummin": lambda l, x: l.cummin(x, 1)[0],
    "prod": lambda l, x: l.prod(x, 1),
    "cumprod": lambda l, x: l.cumprod(x, 1),
    "cumsum": lambda l, x: l.cumsum(x, 1),
    "logcumsumexp": lambda l, x: l.logcumsumexp(x, 1),
    "logsumexp": lambda l, x: l.logsumexp(x, 1),
    "softmax": lambda l, x: l.softmax(x, 1),
    "log_softmax": lambda l, x: l.log_softmax(x, 1),
    "sum": lambda l, x: l.sum(x, 1),
    "nansum": lambda l, x: l.nansum(x, 1),
    "mean": lambda l, x: l.mean(x, 1),
    "nanmean": lambda l, x: l.nanmean(x, 1),
    "std": lambda l, x: l.std(x, 1),
    "var": lambda l, x: l.var(x, 1),
    **{
        f"norm({p})": lambda l, x, p=p: l.linalg.vector_norm(x, p, 1)
        for p in (0, 0.5, 1, 1.5, 2, 3, INF, -INF, -1)
    },
    **{f"renorm({p})": lambda l, x, p=p: l.renorm(x, p, 0, 1.5) for p in (0.5, 1, 2, 3, INF)},
    "normalize": lambda l, x: l.nn.functional.normalize(x, dim=1),
    "cosine_similarity": lambda l, x: l.cosine_similarity(x, x.flip(1), 1),
    "pairwise_distance": lambda l, x: l.nn.functional.pairwise_distance(x, x.flip(1)),
    **{
        f"cdist({p})": lambda l, x, p=p: l.cdist(x[:, :, None], x[:, :2, None], p)
        for p in (0, 0.5, 1, 1.5, 2, 3, INF)
    },
    **{f"pdist({p})": lambda l, x, p=p: l.pdist(x[:6], p) for p in (0, 0.5, 1, 1.5, 2, 3, INF)},
    **{
        f"scatter_reduce({how})": lambda l, x, how=how: l.scatter_reduce(
            x[:, :2], 1, index(l), x, how, include_self=True
        )
        for how in ("sum", "prod", "mean", "amax", "amin")
    },
    "where": lambda l, x: l.where(mask(l), x, x * 2),
    "masked_fill": lambda l, x: x.masked_fill(mask(l), 3.0),
    "masked_select": lambda l, x: x.masked_select(mask(l)),
    "gather": lambda l, x: x.gather(1, index(l)),
    "index_fill": lambda l, x: x.index_fill(1, l.tensor([0]), 2.0),
    "tril": lambda l, x: x.tril(),
    "max_pool": lambda l, x: l.nn.functional.max_pool1d(x[:, None], 2, 1),
    "avg_pool": lambda l, x: l.nn.functional.avg_pool1d(x[:, None], 2, 1),
    "adaptive_max_pool": lambda l, x: l.nn.functional.adaptive_max_pool1d(x[:, None], 2),
    "lp_pool": lambda l, x: l.nn.functional.lp_pool1d(x[:, None], 2, 2),
    "glu": lambda l, x: l.nn.functional.glu(x, 1),
    "prelu": lambda l, x: l.prelu(x[:, 1:], x[0, :1]),
    "layer_norm": lambda l, x: l.nn.functional.layer_norm(x, (4,)),
    "diff": lambda l, x: l.diff(x, dim=1),
    "dist": lambda l, x: l.dist(x[:6], x[:6].flip(1)),
    "trapezoid": lambda l, x: l.trapezoid(x, dim=1),
    "xlogy(x)": lambda l, x: l.xlogy(x, x),
    "entropy": lambda l, x: l.special.entr(x),
    "fmax": lambda l, x: l.fmax(x, x.flip(1)),
    "clamp": lambda l, x: l.clamp(x, x.flip(1), x.roll(1, 1)),
    "addcmul": lambda l, x: l.addcmul(x, x, x.flip(1), value=0),
    "addcdiv": lambda l, x: l.addcdiv(x, x, x.flip(1), value=0),
    "lerp": lambda l, x: l.lerp(x, x.flip(1), x.roll(1, 1)),
}  # fmt: skip


# Which of equal elements `topk`, `kthvalue` and `mode` take is PyTorch's own choice; they are left out.
# Of the following only finite rows are compared.
FINITE_ROWS = {
    "cdist(1)": "PyTorch's vectors give NaN as the sign of NaN, its ops 0",
    "cdist(inf)": "likewise",
    "cumprod": "PyTorch divides by the factors",
    "logcumsumexp": "PyTorch's is a difference of two such sums, of gradients above and below 0",
}
# And of these only finite gradients.
FINITE_SEEDS = {
    "cumprod": "PyTorch's has terms that it leaves out or sets to 0 behind a zero",
    "logcumsumexp": "a NaN is neither above nor below 0",
    "nansum": "PyTorch multiplies with a mask; ours selects",
    "nanmean": "likewise",
}
FINITE = 6  # rows, the first ones


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TOGETHER)
def test_gradients(name, dtype):
    rows = np.array(ROWS[:FINITE] if name in FINITE_ROWS else ROWS, dtype=dtype)
    with torch.no_grad():
        shape = TOGETHER[name](torch, torch.from_numpy(rows)).shape
    for seed in SEEDS:
        if math.isfinite(seed) or name not in FINITE_SEEDS:
            compare(TOGETHER[name], np.full(shape, seed, dtype=dtype), rows)
