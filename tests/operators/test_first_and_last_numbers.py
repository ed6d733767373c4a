"""Whole numbers around the first and the last that each op takes: results, or refusals, beside PyTorch's."""

import warnings

import pytest

import mindtorch_core as torch

oracle = pytest.importorskip("torch")
pytest.importorskip("mindtorch_nn")

LINES = """
F.embedding(i, x, padding_idx=N) | F.embedding_bag(i, x, padding_idx=N) | F.one_hot(i, N) | F.pad(x, (N, 0)) | F.pad(x, (0, N))
F.pad(c, (N, 0), mode="reflect") | F.pad(c, (0, N), mode="replicate") | F.pad(c, (N, 0), mode="circular")
x.narrow(0, N, 1) | x.narrow(0, 0, N) | x.select(0, N) | x.chunk(N) | x.split(N) | x.tensor_split(N) | x.unfold(0, N, 1)
x.unfold(0, 1, N) | x.topk(N) | x.kthvalue(N) | x.roll(N, 0) | x.diagonal(N) | x.tril(N) | x.triu(N) | x.repeat(N) | x.rot90(N)
x.repeat_interleave(N) | x.view(N, -1) | x.reshape(-1, N) | x.unflatten(0, (N, -1)) | x[0].diag(N) | x.diag(N) | x[0].diag_embed(N)
x.index_select(0, i + N) | x.take(i + N) | x.gather(0, i[None] + N) | x.scatter(0, i[None] + N, 1.0) | x[N] | x[:, N] | x[i + N]
x.index_fill(0, i + N, 1.0) | x.index_copy(0, i[:1] + N, x[:1]) | x.as_strided((N,), (1,)) | x.expand(N, 4, 4)
t.eye(N) | t.eye(2, N) | t.arange(N) | t.arange(0, N, 2) | t.arange(2, 0, N) | t.linspace(0, 1, N) | t.logspace(0, 1, N)
t.zeros(N) | t.ones(N, 2) | t.full((N,), 1.0) | t.tril_indices(N, 2) | t.triu_indices(2, N) | t.combinations(x[0], N)
t.vander(x[0], N) | t.linalg.matrix_power(x, N) | t.bincount(i, minlength=N) | t.histc(x, N) | t.polygamma(N, x + 1) | t.mvlgamma(x + 4, N)
t.hann_window(N) | t.hamming_window(N, False) | t.kaiser_window(N) | t.bartlett_window(N) | t.fft.fft(x[0], N) | t.fft.irfft(x[0], N)
t.fft.fftfreq(N) | t.diff(x, N) | t.std(x, 0, correction=N) | t.var(x, correction=N) | x.norm(N) | x.renorm(N, 0, 1.0) | t.randperm(N).sort()[0]
t.bitwise_left_shift(i, N) | t.bitwise_right_shift(i, N) | t.gradient(x[0], edge_order=N) | t.linalg.norm(x, N) | t.linalg.cond(x + t.eye(4), N)
F.pixel_shuffle(c, N) | F.pixel_unshuffle(c, N) | F.channel_shuffle(c, N) | F.unfold(c, N) | F.unfold(c, 2, padding=N) | F.unfold(c, 2, stride=N)
F.unfold(c, 2, dilation=N) | F.max_pool2d(c, N) | F.max_pool2d(c, 3, N) | F.max_pool2d(c, 3, 1, N) | F.max_pool2d(c, 2, 1, 0, N)
F.avg_pool2d(c, N) | F.avg_pool2d(c, 3, N) | F.avg_pool2d(c, 3, 1, N) | F.avg_pool2d(c, 2, divisor_override=N) | F.lp_pool2d(c, 2.0, N)
F.adaptive_avg_pool2d(c, N) | F.adaptive_max_pool2d(c, N) | F.interpolate(c, N) | F.interpolate(c, scale_factor=N)
F.interpolate(c, N, mode="bilinear") | F.interpolate(c, N, mode="bicubic") | F.conv2d(c, w, padding=N) | F.conv2d(c, w, stride=N)
F.conv2d(c, w, dilation=N) | F.conv2d(c, w, groups=N) | F.conv_transpose2d(c, w, stride=2, output_padding=N) | F.conv_transpose2d(c, w, padding=N)
F.group_norm(c, N or 1) | F.local_response_norm(c, N) | F.cross_entropy(x, i + N) | F.nll_loss(x, i, ignore_index=N) | F.multi_margin_loss(x, i, p=N)
F.multi_margin_loss(x, i + N) | F.multilabel_margin_loss(x, i[None].expand(4, 4) * 0 + N) | F.pairwise_distance(x, x + 1, N) | t.cdist(x, x, N)
nn.Embedding(4, 2, padding_idx=N).padding_idx | nn.Linear(N, 2).in_features | nn.Conv2d(4, 4, 1, groups=N).groups | nn.GroupNorm(N, 4).num_groups
nn.Flatten(N)(c) | nn.Flatten(1, N)(c) | nn.LayerNorm(N).normalized_shape | nn.Dropout(N).p | nn.MultiheadAttention(4, N).head_dim
nn.LSTM(2, N).hidden_size | nn.LSTM(2, 2, N).num_layers | nn.PReLU(N).num_parameters | nn.EmbeddingBag(4, 2, padding_idx=N).padding_idx
"""
CALLS = [line.strip() for line in LINES.replace("\n", "|").split("|") if line.strip()]


def plain(found):
    """A result as Python's values."""
    if isinstance(found, tuple | list):
        return [
            value for each in found for value in (plain(each) if hasattr(each, "shape") else [each])
        ]
    return [*found.shape, *found.flatten().tolist()] if hasattr(found, "shape") else found


def played(lib, call, number):
    """What a call gives, or what is said of it."""
    scope = {"t": lib, "F": lib.nn.functional, "nn": lib.nn, "N": number, "x": lib.arange(16.0).reshape(4, 4) / 8,
             "i": lib.arange(4), "c": lib.arange(64.0).reshape(1, 4, 4, 4) / 32, "w": lib.ones(4, 4, 2, 2)}  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(eval(call, scope))
        except (
            RuntimeError,
            ValueError,
            IndexError,
            TypeError,
            AssertionError,
            ZeroDivisionError,
        ) as error:
            return type(error).__name__.lstrip("_")


@pytest.mark.parametrize("call", CALLS)
def test_as_in_pytorch(call):
    for number in range(-6, 7):
        found, expected = played(torch, call, number), played(oracle, call, number)
        if isinstance(expected, list):
            assert found == pytest.approx(expected, 1e-4, 1e-5, nan_ok=True), number
        else:
            assert found == expected, number
