"""A sample has its own dimensions: `vmap` gives what PyTorch gives for each alone, or refuses.

Every dimension from far below to far above, for samples of none, one and two; and products, diagonals
and look-ups of tensors with too few or too many.
"""

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:There is a performance drop:UserWarning"
    ),  # of what is refused then
    pytest.mark.filterwarnings(r"ignore:.*degrees of freedom:UserWarning"),
]

ALONG = """
x.movedim({d}, 0) | x.movedim(0, {d}) | x.moveaxis(({d},), (0,)) | torch.cat([x, x], {d})
torch.stack([x, x], {d}) | x.sum({d}) | x.prod({d}) | x.softmax({d}) | x.cumsum({d}) | x.logsumexp({d})
x.max({d}) | x.amax({d}) | x.argmax({d}) | x.sort({d}) | x.topk(1, {d}) | x.kthvalue(1, {d}) | x.flip({d})
x.roll(1, {d}) | x.squeeze({d}) | x.unsqueeze({d}) | x.transpose({d}, 0) | x.select({d}, 0)
x.narrow({d}, 0, 1) | x.chunk(2, {d}) | x.split(1, {d}) | x.unbind({d}) | x.tensor_split(2, {d})
x.split_with_sizes([1, 1], {d}) | x.index_select({d}, torch.tensor([0])) | x.unfold({d}, 1, 1)
x.gather({d}, torch.zeros_like(x, dtype=torch.int64)) | x.take_along_dim(x.argsort(-1), {d})
x.scatter_add({d}, torch.zeros_like(x, dtype=torch.int64), x) | x.index_fill({d}, torch.tensor([0]), 2)
x.diff(dim={d}) | x.norm(dim={d}) | x.var({d}) | x.any({d}) | x.count_nonzero({d}) | x.cummax({d})
x.repeat_interleave(2, {d}) | x.unflatten({d}, (1, -1)) | x.flatten({d}, -1) | x.flatten(0, {d})
x.renorm(2, {d}, 1.0) | x.diagonal(0, 0, {d}) | x.permute({d}) | x.permute({d}, 0)
x.quantile(0.5, {d}) | torch.rot90(x, 1, [{d}, 0]) | torch.diag_embed(x, 0, {d}, 0)
torch.fft.fft(x, dim={d}).real | torch.nn.functional.glu(x, {d})
x.select_scatter(x.select({d}, 0), {d}, 0) | x.slice_scatter(x, {d}) | torch.cross(x, x, dim={d})
"""
RANKS = """
x.mm(y) | x.bmm(y) | x.mv(y) | x.dot(y) | x.outer(y) | x @ y | x.diag() | x.trace() | x.t() | x.diagonal()
torch.addmm(x, x, y) | torch.addmv(x, x, y) | torch.baddbmm(x, x, y) | x.index_select(0, y.long())
torch.nn.functional.embedding(x.long() * 0, y) | torch.nn.functional.linear(x, y) | x.inner(y)
"""
TAKE_NUMBERS = (
    "repeat_interleave",
    "take_along_dim",
)  # along a dimension, which PyTorch refuses alone as well


def lines(text):
    return [part.strip() for row in text.strip().split("\n") for part in row.split(" | ")]


def parts(value):
    if isinstance(value, tuple | list):
        return [part for v in value for part in parts(v)]
    return [np.asarray(value)]


def alone(call, *samples):
    """What PyTorch gives for each sample, stacked; None if it refuses one."""
    try:
        found = [
            parts(eval(call, {"torch": pt}, {"x": x, "y": y}))
            for x, y in zip(*samples, strict=True)
        ]
    except (RuntimeError, IndexError, ValueError):
        return None
    return [np.stack(each) for each in zip(*found, strict=True)]


def together(call, *samples):
    try:
        found = torch.vmap(lambda x, y: eval(call, {"torch": torch}, {"x": x, "y": y}))(*samples)
    except (RuntimeError, IndexError, ValueError):
        return None
    return parts(found)


def agree(call, x, y):
    wanted = alone(call, pt.tensor(x), pt.tensor(y))
    found = together(call, torch.tensor(x), torch.tensor(y))
    assert (found is None) == (wanted is None), (
        f"{call} of samples {x.shape[1:]}: {found}, not {wanted}"
    )
    for mine, theirs in zip(found or (), wanted or (), strict=True):
        np.testing.assert_allclose(mine, theirs, err_msg=f"{call} of samples {x.shape[1:]}")


@pytest.mark.parametrize("shape", [(3,), (3, 2), (3, 2, 2)], ids=["numbers", "rows", "matrices"])
@pytest.mark.parametrize("call", lines(ALONG))
def test_every_dimension(call, shape):
    x = np.random.default_rng(1).uniform(0.2, 1.5, shape)
    for d in (0, -1, 1, -2, 2, -3, 3, -4, 4):
        if shape == (3,) and d in (0, -1) and any(name in call for name in TAKE_NUMBERS):
            continue
        agree(call.format(d=d), x, x)


@pytest.mark.parametrize("call", lines(RANKS))
def test_every_number_of_dimensions(call):
    """Each pair of up to three, all of two elements, so that nothing fails but the number of them."""
    values = np.random.default_rng(1)
    for first in range(4):
        for second in range(4):
            x, y = (values.uniform(0.2, 1.5, (3, *(2,) * rank)) for rank in (first, second))
            agree(call, x, y)


@pytest.mark.parametrize("dim", [2, 7, -3])
def test_out_dims_beyond_a_result(dim):
    with pytest.raises(IndexError, match="Dimension out of range"):
        pt.vmap(lambda x: x * 2, out_dims=dim)(pt.ones(3, 2))
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.vmap(lambda x: x * 2, out_dims=dim)(torch.ones(3, 2))
