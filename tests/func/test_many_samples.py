"""Gradients of each sample, and ops under `vmap` that need a rule: numbers and speed as PyTorch's."""

import math
import warnings

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def numbers(lib, *shape):
    return (lib.arange(math.prod(shape), dtype=lib.float64) * 0.7391).sin().reshape(shape)


def of_samples(lib, layer, shape):
    """Gradients of a layer's parameters, a row for each of four samples."""
    model = eval(layer, {"nn": lib.nn, "Sequential": lib.nn.Sequential}).double()
    values = {k: numbers(lib, *p.shape) / 2 + 0.1 for k, p in model.named_parameters()}

    def loss(params, x):
        out = lib.func.functional_call(model, params, (x[None],))
        out = out[0] if isinstance(out, tuple) else out
        return (out * out).sum() + out.sin().sum()

    grads = lib.func.vmap(lib.func.grad(loss), in_dims=(None, 0))(values, numbers(lib, 4, *shape))
    return [grads[k] for k in sorted(grads)]


def of_ops(lib, text, *shapes):
    """What an op gives for three samples, and the gradients of each."""
    names = {"torch": lib, "F": lib.nn.functional, "n": lambda *shape: numbers(lib, *shape)}
    program = eval(f"lambda x, y=None: {text}", names)
    given = [numbers(lib, 3, *shape) for shape in shapes]
    results = lib.func.vmap(program)(*given)
    if not results.dtype.is_floating_point:
        return [results]
    squares = lib.func.grad(lambda *v: (program(*v) ** 2).sum(), tuple(range(len(given))))
    return [results, *lib.func.vmap(squares)(*given)]


def outcome(run, lib, *given):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = run(lib, *given)
    slow = [str(w.message) for w in caught if "performance drop" in str(w.message)]
    return [t.detach().numpy() for t in found], slow


def compared(run, *given):
    (ours, slow), (theirs, _) = outcome(run, torch, *given), outcome(run, pt, *given)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)
    assert not slow


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers(layer):
    """Which PyTorch refuses: against a loop."""
    model = getattr(torch.nn, layer)(3, 4).double()
    values = {k: numbers(torch, *p.shape) / 2 for k, p in model.named_parameters()}

    def loss(params, x):
        return torch.func.functional_call(model, params, (x,))[0].sin().sum()

    samples, grad = numbers(torch, 4, 5, 3), torch.func.grad(loss)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = torch.func.vmap(grad, in_dims=(None, 0))(values, samples)
    for name, rows in found.items():
        torch.testing.assert_close(rows, torch.stack([grad(values, x)[name] for x in samples]))


SIZES = ((7,), (6, 5), (4, 5, 6))
LAYERS = {
    "Conv{n}d(2, 4, 3, padding=1, stride=2)": 2,
    "Conv{n}d(4, 6, 3, groups=2, dilation=2, padding=2)": 4,
    "Conv{n}d(2, 3, 3, padding='same', bias=False)": 2,
    "ConvTranspose{n}d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2)": 4,
    "BatchNorm{n}d(3, track_running_stats=False)": 3,
    "InstanceNorm{n}d(3, affine=True)": 3,
    "Sequential(nn.Conv{n}d(2, 4, 1), nn.MaxPool{n}d(2), nn.Conv{n}d(4, 2, 1))": 2,
    "Sequential(nn.Conv{n}d(2, 4, 1), nn.AvgPool{n}d(2), nn.Conv{n}d(4, 2, 1))": 2,
    "Sequential(nn.Conv{n}d(2, 4, 1), nn.AdaptiveAvgPool{n}d(2))": 2,
    "Sequential(nn.Conv{n}d(2, 4, 1), nn.AdaptiveMaxPool{n}d(2))": 2,
    "Sequential(nn.Conv{n}d(2, 4, 1), nn.Dropout(0.0), nn.GroupNorm(2, 4))": 2,
}
OTHERS = {
    "GroupNorm(2, 4)": (4, 3),
    "TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)": (5, 8),
}


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("layer", LAYERS)
def test_layers_of_windows(layer, n):
    text = layer.format(n=n)
    compared(of_samples, text if text[0] == "S" else f"nn.{text}", (LAYERS[layer], *SIZES[n - 1]))


@pytest.mark.parametrize("layer", OTHERS)
def test_other_layers(layer):
    compared(of_samples, f"nn.{layer}", OTHERS[layer])


OPS = {
    "F.conv2d(n(2, 2, 4, 4), x, padding=1)": [(4, 2, 3, 3)],
    "F.conv2d(n(2, 4, 4, 4), x, y, groups=2)": [(4, 2, 3, 3), (4,)],
    "F.conv_transpose2d(n(1, 4, 4, 4), x, groups=2)": [(4, 2, 3, 3)],
    "F.conv2d(x, y)": [(2, 2, 4, 4), (3, 2, 2, 2)],
    "F.conv2d(x, n(3, 2, 2, 2), y)": [(2, 2, 4, 4), (3,)],
    "F.group_norm(n(2, 4, 3), 2, x, y)": [(4,), (4,)],
    "F.batch_norm(x, n(4), n(4).abs(), y)": [(2, 4, 3), (4,)],
    "F.batch_norm(x, None, None, y, training=True)": [(2, 4, 3), (4,)],
    "F.pad(x, (1, 1), value=2.0)": [(2, 3)],
    "F.pad(x, (1, 1, 1, 1), mode='reflect')": [(1, 3, 3)],
    "F.pad(x, (1, 1, 1, 1), mode='replicate')": [(1, 1, 3, 3)],
    "F.interpolate(x, scale_factor=2, mode='linear')": [(1, 2, 3)],
    "F.interpolate(x, scale_factor=2, mode='bicubic')": [(1, 1, 3, 3)],
    "F.interpolate(x, scale_factor=2, mode='trilinear')": [(1, 1, 2, 2, 2)],
    "F.unfold(x, 2)": [(2, 3, 3)],
    "F.unfold(x.unsqueeze(0), 2)": [(2, 3, 3)],
    "F.fold(x, (3, 3), 2)": [(1, 8, 4)],
    "F.local_response_norm(x, 2)": [(1, 4, 3, 3)],
    "F.cross_entropy(x, torch.tensor([[[0, 1], [2, 0]]]))": [(1, 3, 2, 2)],
    "F.cross_entropy(x, torch.tensor([[[0, 1], [2, 0]]]), reduction='none')": [(1, 3, 2, 2)],
    "F.binary_cross_entropy(x.sigmoid(), n(3).abs(), n(3).abs())": [(3,)],
    "torch.cdist(x, y + 1)": [(3, 2), (4, 2)],
    "x.unfold(-1, 2, 1)": [(2, 4)],
    "x.take(torch.tensor([0, 3]))": [(3, 3)],
    "x[n(3, 3) > 0]": [(3, 3)],
    "x[torch.tensor([True, False, True])]": [(3, 3)],
    "torch.zeros(3, 3, dtype=x.dtype).index_put((torch.tensor([0, 2]),), x)": [(2, 3)],
    "x.index_put((torch.tensor([0, 0]),), y, accumulate=True)": [(3, 3), (2, 3)],
    "torch.ops.aten.index_put(x, [None, torch.tensor([0, 2])], y)": [(4, 3), (4, 2)],
    "torch.ops.aten.index_put(x, [None, torch.tensor([0, 2])], n(2))": [(4, 3)],
    "x.index_add(1, torch.tensor([0, 2]), y)": [(4, 3), (4, 2)],
    "torch.zeros(3, 3, dtype=x.dtype).select_scatter(x, 0, 1)": [(3,)],
    "torch.zeros(3, 3, dtype=x.dtype).slice_scatter(x, 1, 0, 2)": [(3, 2)],
    "x.diag()": [(3, 3)],
    "torch.diag(x, 1)": [(3,)],
    "torch.diag_embed(x, 1, 0, 2)": [(2, 3)],
    "torch.linalg.cross(x, n(4, 3))": [(4, 3)],
    "x.median()": [(3, 3)],
    "x.quantile(0.3, 0)": [(3, 3)],
    "torch.cov(x)": [(3, 4)],
    "torch.stft(x, 4, window=torch.ones(4, dtype=x.dtype), return_complex=True).abs()": [(16,)],
    "torch.searchsorted(x.sort(-1)[0], y)": [(4,), (2, 3)],
    "torch.searchsorted(n(4).sort()[0], x)": [(2, 3)],
    "torch.searchsorted(x.sort()[0], y)": [(2, 4), (2, 3)],
    "torch.bucketize(x, n(4).sort()[0])": [(2, 3)],
    "torch.linalg.solve(x + 3 * torch.eye(3), y)": [(3, 3), (3,)],
    "torch.linalg.solve(n(3, 3) + 3 * torch.eye(3), x)": [(3, 2)],
    "torch.linalg.solve_triangular(x.tril() + 3 * torch.eye(3), n(3, 2), upper=False)": [(3, 3)],
    "torch.linalg.lu(x + 3 * torch.eye(3))[2]": [(3, 3)],
    "torch.linalg.pinv(x)": [(4, 2)],
    "F.dropout(x, 0.0)": [(3,)],
}  # fmt: skip


@pytest.mark.parametrize("text", OPS)
def test_ops(text):
    compared(of_ops, text, *OPS[text])


def test_running_statistics_of_samples():
    def run(lib, dim):
        mean, var = lib.zeros(3, 4), lib.ones(3, 4)
        given = (mean, var) if dim == 0 else (mean.T.contiguous(), var.T.contiguous())

        def one(x, mean, var):
            return lib.nn.functional.batch_norm(x, mean, var, training=True)

        result = lib.func.vmap(one, (0, dim, dim))(numbers(lib, 3, 2, 4).float(), *given)
        return [result.double(), *given]

    theirs = run(
        pt, 0
    )  # of what lies along another dimension than the first, it loses what is written
    for dim in (0, 1):
        result, *written = run(torch, dim)
        ours = [result, *(t.T if dim else t for t in written)]
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-5)


def test_running_statistics_of_all_samples_are_refused():
    for lib in (torch, pt):
        norm = lib.nn.functional.batch_norm
        with pytest.raises(RuntimeError, match="updated in place, were not batched"):
            lib.func.vmap(lambda x, norm=norm, lib=lib: norm(x, lib.zeros(4), lib.ones(4), training=True))(
                lib.ones(3, 2, 4)
            )  # fmt: skip
