"""How results of convolutions lie in memory: with channels innermost where those of an operand are, as PyTorch's."""

import pytest

import mindtorch_core as torch
from mindtorch_core.testing import assert_close

pt = pytest.importorskip("torch")

# Shapes of input and weight, and options.
CASES = {
    "plain": ((2, 3, 6, 5), (4, 3, 3, 3), {"padding": 1}),
    "stride": ((2, 3, 7, 6), (4, 3, 3, 2), {"stride": 2}),
    "dilated": ((2, 3, 7, 6), (4, 3, 2, 2), {"dilation": 2}),
    "points": ((2, 3, 6, 5), (4, 3, 1, 1), {}),
    "groups": ((2, 4, 6, 5), (6, 2, 3, 3), {"groups": 2}),
    "by channel": ((2, 4, 6, 5), (4, 1, 3, 3), {"groups": 4}),
    "one image": ((1, 3, 6, 5), (4, 3, 3, 3), {}),
    "one channel": ((2, 1, 6, 5), (4, 1, 3, 3), {}),
    "one filter": ((2, 3, 6, 5), (1, 3, 3, 3), {}),
    "to one point": ((2, 3, 3, 3), (4, 3, 3, 3), {}),
    "large": ((4, 16, 24, 24), (16, 16, 3, 3), {}),
    "volume": ((2, 3, 5, 4, 4), (4, 3, 2, 2, 2), {}),
    "row": ((2, 3, 9), (4, 3, 3), {}),
}
FORMATS = [(False, False), (True, False), (False, True), (True, True)]


def operands(lib, name, last, forwards):
    """Input and weight, each row-major or with channels innermost."""
    options = dict(CASES[name][2])
    found = []
    for shape, innermost in zip(CASES[name][:2], last, strict=True):
        if not forwards and shape is CASES[name][1]:  # filters of a transpose: (C, O / groups, ...)
            shape = (
                shape[1] * options.get("groups", 1),
                shape[0] // options.get("groups", 1),
                *shape[2:],
            )
        count = 1
        for n in shape:
            count *= n
        t = (lib.arange(count, dtype=lib.float32) % 7 - 3).reshape(shape)
        if innermost and len(shape) > 3:
            kind = lib.channels_last if len(shape) == 4 else lib.channels_last_3d
            t = t.contiguous(memory_format=kind)
        found.append(t)
    return found, options


def call(lib, name, last, forwards, on=None):
    (x, w), options = operands(lib, name, last, forwards)
    if on:
        x, w = x.to(on), w.to(on)
    n = len(x.shape) - 2
    x, w = x.requires_grad_(), w.requires_grad_()
    f = getattr(lib.nn.functional, f"conv{n}d" if forwards else f"conv_transpose{n}d")
    y = f(x, w, **options)
    y = y.relu()  # keeps what it gets
    return [y, *lib.autograd.grad((y * y).sum(), (x, w))], [
        *lib.autograd.grad(f(x, w, **options).sum(), (x, w))
    ]


def strides(t):
    """Where the elements of `t` lie: of sizes of 1, PyTorch's strides depend on its threads and on oneDNN."""
    return [stride for size, stride in zip(t.shape, t.stride(), strict=True) if size != 1]


@pytest.mark.parametrize("last", FORMATS)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("forwards", [True, False], ids=["convolution", "transpose"])
def test_results_and_gradients_lie_as_in_pytorch(name, last, forwards):
    wanted = [t for part in call(pt, name, last, forwards) for t in part]
    found = [t for part in call(torch, name, last, forwards) for t in part]
    with torch.pipeline():
        later = [t for part in call(torch, name, last, forwards) for t in part]
        promised = [t.stride() for t in later]
    meta = [t for part in call(torch, name, last, forwards, "meta") for t in part]
    for a, b, c, d, p in zip(found, wanted, later, meta, promised, strict=True):
        assert_close(a, torch.from_dlpack(b.detach().contiguous()))
        assert a.stride() == c.stride() == d.stride() == p
        assert strides(a) == strides(b)
