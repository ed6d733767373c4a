"""Losses that take a function of distance, or a layer's weights: results, gradients and refusals as PyTorch's."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome
from mindtorch_core.testing.facts import missing

pt = pytest.importorskip("torch")
RNG = np.random.default_rng(11)
THREE = RNG.standard_normal((3, 4, 5))
SCORES = RNG.standard_normal((6, 5)), RNG.standard_normal((4, 5)), RNG.standard_normal(4)


def agree(play):
    found, expected = outcome(play, torch), outcome(play, pt)
    if isinstance(expected, Exception):
        assert type(found) is type(expected)
        assert not missing(str(found), str(expected))
        return
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-9)


def with_gradients(lib, loss, leaves):
    gradients = lib.autograd.grad(loss.sum(), leaves, allow_unused=True)
    return [loss.tolist(), *(g.tolist() for g in gradients if g is not None)]


DISTANCES = {
    "the usual one": lambda lib: None,
    "of the largest": lambda lib: lambda a, b: (a - b).abs().amax(-1),
    "of cosines": lambda lib: lambda a, b: 1 - lib.nn.functional.cosine_similarity(a, b),
    "of each element": lambda lib: lambda a, b: (a - b).square(),
}


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum", "all"])
@pytest.mark.parametrize("margin", [1.0, 0.25, 5, 0.0, -1.0])
@pytest.mark.parametrize("distance", DISTANCES)
def test_triplets(distance, margin, reduction, swap):
    def play(lib):
        leaves = [lib.tensor(a, requires_grad=True) for a in THREE]
        loss = lib.nn.functional.triplet_margin_with_distance_loss(
            *leaves, distance_function=DISTANCES[distance](lib), margin=margin, swap=swap, reduction=reduction
        )  # fmt: skip
        return with_gradients(lib, loss, leaves)

    agree(play)


@pytest.mark.parametrize(
    "shapes", [[(4, 5), (4, 5), (5,)], [(4, 5), (3, 5), (4, 5)], [(4, 1)] * 3, [(5,)] * 3]
)
def test_triplets_of_other_shapes(shapes):
    def play(lib):
        leaves = [
            lib.tensor(THREE[i].flatten()[: int(np.prod(s))].reshape(s), requires_grad=True)
            for i, s in enumerate(shapes)
        ]
        loss = lib.nn.functional.triplet_margin_with_distance_loss(*leaves)
        return with_gradients(lib, loss, leaves)

    agree(play)


WEIGHTS = {
    "plain": {},
    "sums": {"reduction": "sum"},
    "each": {"reduction": "none"},
    "one class that does not count": {"ignore_index": 2},
    "smoothed": {"label_smoothing": 0.25},
    "smoothed sums but one": {"label_smoothing": 0.1, "ignore_index": 1, "reduction": "sum"},
    "smoothed each": {"label_smoothing": 0.1, "reduction": "none"},
    "another reduction": {"reduction": "all"},
}
CHUNKS = [None, {}, {"batch_chunk_size": 2}, {"batch_chunk_size": 4}]


@pytest.mark.filterwarnings(
    "ignore:.*linear_cross_entropy"
)  # PyTorch's tells what it does not divide
@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
@pytest.mark.parametrize("options", WEIGHTS)
@pytest.mark.parametrize("classes", ["by index", "by share"])
@pytest.mark.parametrize("more", ["", "bias", "weight", "bias weight"])
def test_cross_entropy_of_a_layer(more, classes, options, chunks):
    def play(lib):
        x, w, b = (lib.tensor(a, requires_grad=True) for a in SCORES)
        target = lib.tensor([0, 3, 2, 1, 2, 0])
        if classes == "by share":
            target = lib.nn.functional.one_hot(target, 4).double() * 0.75 + 0.0625
        given = dict(WEIGHTS[options])
        if "bias" in more:
            given["linear_bias"] = b
        if "weight" in more:
            given["weight"] = lib.tensor([1.0, 0.5, 2.0, 0.25], dtype=lib.float64)
        if chunks is not None:
            given["options"] = lib.nn.LinearCrossEntropyOptions(**chunks)
        loss = lib.nn.functional.linear_cross_entropy(x, w, target, **given)
        return with_gradients(lib, loss, [x, w, b])

    agree(play)
