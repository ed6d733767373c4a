"""Kernels of the CPU for operands that few calls have: no elements, no dimensions, halves, truths, other dtypes.

Each is a call with both libraries: results are close and errors have the same words.
"""

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import assert_close, outcome

pt = pytest.importorskip("torch")


def numbers(lib, *shape, dtype="float32"):
    """Numbers that are exact in every floating dtype, with both signs."""
    count = 1
    for n in shape:
        count *= n
    made = (lib.arange(count) * 7 % 13 - 6).reshape(shape) / 4
    return made.to(getattr(lib, dtype))


def walked(lib, call, *values):
    """Result and gradients."""
    leaves = [v.detach().requires_grad_() for v in values]
    y = call(*leaves)
    (y * numbers(lib, *y.shape).to(y.dtype)).sum().backward()
    return [y.detach(), *(x.grad for x in leaves)]


def lstm(lib, dtype, sizes=None):
    made = lib.nn.LSTM(3, 2).to(getattr(lib, dtype))
    for p in made.parameters():
        p.data = numbers(lib, *p.shape, dtype=dtype)
    x = numbers(lib, 4, 2, 3, dtype=dtype).requires_grad_()
    given = x if sizes is None else lib.nn.utils.rnn.pack_padded_sequence(x, lib.tensor(sizes))
    out, states = made(given)
    out = out if sizes is None else out.data
    out.sum().backward()
    return [
        out.detach(),
        *(s.detach() for s in states),
        x.grad,
        *(p.grad for p in made.parameters()),
    ]


def drawn(lib, dtype, low, high):
    lib.manual_seed(3)
    return lib.empty(400, dtype=getattr(lib, dtype)).random_(low, high).float()


def after_an_odd_one(lib):
    """Fewer than 16 are drawn two at a time, and what is left of a pair is the next call's first."""
    lib.manual_seed(3)
    scattered = lib.zeros(40, 2).t()[:, ::2].double()
    return [
        lib.randn(5),
        lib.empty_strided((20, 2), (1, 20)).normal_(),
        scattered.normal_(),
        lib.randn(3),
    ]


CALLS = {
    # ---- copies and constants
    "clone of float8": lambda t: t.ones(3).to(t.float8_e4m3fn).clone().float(),
    "float8 to itself": lambda t: t.ones(3).to(t.float8_e5m2).to(t.float8_e5m2, copy=True).float(),
    "float8 of complex": lambda t: t.zeros(3).to(t.float8_e4m3fn).copy_(t.ones(3) * (2 + 1j)).float(),
    "full of a tensor": lambda t: t.full((2,), t.tensor(3.5)),
    "full of a tensor and dtype": lambda t: t.full((2,), t.tensor(3), dtype=t.float64),
    "fill by a tensor": lambda t: t.zeros(2).fill_(t.tensor(3)),
    "fill by several": lambda t: t.zeros(2).fill_(t.ones(2)),
    "full of 65 bits": lambda t: t.full((2,), 1 << 64),
    "full of 64 bits": lambda t: t.full((2,), (1 << 64) - 1),
    "full of too few bits": lambda t: t.full((2,), -(1 << 63) - 1),
    "add 65 bits": lambda t: t.ones(2, dtype=t.int64) + (1 << 64),
    # ---- operands of several dtypes
    "rows of another dtype": lambda t: numbers(t, 300, 40) * numbers(t, 40, dtype="float64"),
    "rows of integers": lambda t: numbers(t, 300, 40) + t.arange(40),
    "cat of several dtypes": lambda t: t.cat([numbers(t, 2), t.arange(3), t.ones(1).double()]),
    "cat of nothing": lambda t: t.cat([t.zeros(0), t.zeros(0, dtype=t.int64)]),
    "cat of no rows": lambda t: t.cat([t.zeros(0, 2), t.zeros(0, 2, dtype=t.int64)], 1),
    "linear with another bias": lambda t: t.nn.functional.linear(
        t.ones(2, 3), t.ones(4, 3), t.ones(4).double()
    ),
    "largest of integers in place": lambda t: t.arange(6).clamp_(t.tensor(2), t.tensor(4)),
    "largest of halves into": lambda t: t.maximum(
        numbers(t, 9, dtype="float16"), -numbers(t, 9, dtype="float16"), out=t.empty(9).half()
    ),
    "largest of truths": lambda t: t.maximum(t.tensor([True, False]), t.tensor([False, False])),
    "remainders of columns": lambda t: numbers(t, 200, 200) % (numbers(t, 200, 1).abs() + 0.75),
    "remainders of rows": lambda t: (numbers(t, 1, 200) * 9) % (numbers(t, 200, 200).abs() + 0.75),
    # ---- no elements, no dimensions
    "softmax of a number": lambda t: t.softmax(t.tensor(2.5), 0),
    "log_softmax of a number": lambda t: walked(t, lambda x: t.log_softmax(x, 0), t.tensor(2.5)),
    "dirichlet of a number": lambda t: t._sample_dirichlet(t.tensor(2.5)).isfinite(),
    "slices without elements": lambda t: t.unique(t.zeros(3, 0), dim=0, return_inverse=True),
    "slices of bfloat16": lambda t: t.unique(
        numbers(t, 9, 2, dtype="bfloat16").remainder(1), dim=0, return_counts=True
    ),
    "vectors multiplied": lambda t: t.matmul(numbers(t, 5), numbers(t, 5)),
    "vectors of integers multiplied": lambda t: t.matmul(t.arange(5), t.arange(5)),
    "sum of a small array": lambda t: numbers(t, 3, 4, dtype="float16").sum((0, 1), keepdim=True),
    "sum of all along dimensions": lambda t: numbers(t, 3, 4, 5).sum((0, 1, 2), keepdim=True),
    # ---- positions
    "put before the first": lambda t: t.zeros(3).put_(t.tensor([0, -5]), t.ones(2)),
    "put after the last": lambda t: t.zeros(3).put_(t.tensor([-1, 3]), t.ones(2)),
    "take before the first": lambda t: t.take(t.zeros(3), t.tensor([0, -4])),
    "add one number at positions": lambda t: numbers(t, 5).index_put_(
        (t.tensor([0, 0, -1]),), t.tensor(2.0), accumulate=True
    ),
    "add one row at positions": lambda t: numbers(t, 40, 60).index_put_(
        (t.arange(80) % 39,), numbers(t, 60), accumulate=True
    ),
    "add rows at no positions": lambda t: numbers(t, 4, 3).index_put_(
        (t.zeros(0).long(),), t.zeros(0, 3), accumulate=True
    ),
    "add rows outside": lambda t: numbers(t, 4, 3).index_put_(
        (t.tensor([0, 4]),), t.ones(2, 3), accumulate=True
    ),
    "add rows before": lambda t: numbers(t, 4, 3).index_put_(
        (t.tensor([0, -5]),), t.ones(2, 3), accumulate=True
    ),
    # ---- gradients of kernels that serve one dtype, or large operands
    "attention of float64": lambda t: walked(
        t,
        t.nn.functional.scaled_dot_product_attention,
        *(numbers(t, 1, 2, 5, 4, dtype="float64") for _ in range(3)),
    ),
    "pooling of float64": lambda t: walked(
        t, lambda x: t.nn.functional.avg_pool2d(x, 2, 1, 1), numbers(t, 1, 2, 5, 4, dtype="float64")
    ),
    "pooling of bfloat16": lambda t: walked(
        t, lambda x: t.nn.functional.avg_pool2d(x, 2), numbers(t, 1, 2, 4, 4, dtype="bfloat16")
    ),
    "table of few rows": lambda t: walked(
        t, lambda w: t.nn.functional.embedding(t.tensor([1, 2, 1, -1 + 6]), w), numbers(t, 6, 3)
    ),
    "loss of bfloat16": lambda t: walked(
        t,
        lambda x: t.nn.functional.smooth_l1_loss(x, numbers(t, 40, dtype="bfloat16") * 2),
        numbers(t, 40, dtype="bfloat16"),
    ),
    "gelu of another kind": lambda t: t.ops.aten.gelu_backward(
        t.ones(2), t.ones(2), approximate="other"
    ),
    "lstm": lambda t: lstm(t, "float32"),
    "lstm of float64": lambda t: lstm(t, "float64"),
    "lstm of lengths": lambda t: lstm(t, "float64", [4, 2]),
    "lstm of bfloat16": lambda t: [x.float() for x in lstm(t, "bfloat16")],
    "gradient of a number's softmax": lambda t: t.ops.aten._softmax_backward_data(
        t.tensor(2.0), t.tensor(1.0), 0, t.float32
    ),
    "lengths of bfloat16": lambda t: [x.float() for x in lstm(t, "bfloat16", [4, 2])],
    "attention of no rows": lambda t: walked(
        t, t.nn.functional.scaled_dot_product_attention,
        numbers(t, 1, 2, 0, 4), numbers(t, 1, 2, 5, 4), numbers(t, 1, 2, 5, 4),
    ),
    "table of many rows": lambda t: walked(
        t, lambda w: t.nn.functional.embedding(t.arange(600) * 11 % 8999, w), numbers(t, 9000, 64)
    ),
    "table of one column": lambda t: walked(
        t, lambda w: t.nn.functional.embedding(t.arange(40000) % 7, w), numbers(t, 9, 1)
    ),
    # ---- large operands
    "rows of another dtype, many": lambda t: numbers(t, 400, 400) * numbers(t, 400, dtype="float64"),
    "remainders of fewer": lambda t: numbers(t, 40000) % (numbers(t, 3, 40000).abs() + 0.75),
    "extremes of integers": lambda t: t.fmax(
        numbers(t, 300, 300, dtype="int64"), t.arange(300) % 3 - 1
    ),
    "extremes of integers into": lambda t: t.fmin(
        numbers(t, 300, 300, dtype="int64"), t.arange(300) % 3 - 1,
        out=t.empty(300, 300, dtype=t.int64),
    ),
    "error function": lambda t: t.erf(numbers(t, 300, 300)),
    "many rows outside": lambda t: t.zeros(4, 9000).index_put_(
        (t.tensor([0] * 10 + [4]),), t.ones(11, 9000), accumulate=True
    ),
    "many rows before": lambda t: t.zeros(4, 9000).index_put_(
        (t.tensor([0] * 10 + [-5]),), t.ones(11, 9000), accumulate=True
    ),
    "halves at places outside": lambda t: t.zeros(4, 4).bfloat16().index_put_(
        (t.tensor([0, 1]), t.tensor([3, 4])), t.ones(2).bfloat16(), accumulate=True
    ),
    "halves at places before": lambda t: t.zeros(4, 4).bfloat16().index_put_(
        (t.tensor([0, -5]), t.tensor([3, -1])), t.ones(2).bfloat16(), accumulate=True
    ),
    **{
        f"sum of {n}": lambda t, n=n: [numbers(t, n).sum(), numbers(t, n).mean(), numbers(t, n).amax()]
        for n in (32767, 32769, 66000, 131075)
    },
    # ---- random numbers, which are PyTorch's
    "integers that halves round up": lambda t: drawn(t, "float16", 1, 2052),
    "integers that halves round down": lambda t: drawn(t, "float16", 4097, 4300),
    "integers that bfloat16 rounds": lambda t: drawn(t, "bfloat16", 513, 1027),
    "normal numbers after an odd one": after_an_odd_one,
    # ---- too much
    "order of too many": lambda t: t.randperm(1 << 62),
    "nothing of too many": lambda t: t.randperm(-1),
}  # fmt: skip

HALF_LSTMS = ("lstm of bfloat16", "lengths of bfloat16")


def test_inverse_transforms_of_no_rows_are_none():
    # PyTorch's MKL refuses them.
    assert torch.fft.irfft(torch.zeros(0, 3) * 1j).shape == (0, 4)
    found = torch.fft.irfft2(torch.zeros(0, 2, 3, dtype=torch.complex128), s=(3, 5))
    assert found.shape == (0, 3, 5)
    assert found.dtype is torch.float64


def test_nearest_elements_are_those_of_the_factor():
    # PyTorch takes the doubled size for a factor of 2: in gradients, and in some layouts.
    places = [int(i / 2.3) for i in range(6)]
    x = numbers(torch, 1, 2, 3).requires_grad_()
    y = torch.nn.functional.interpolate(x, scale_factor=2.3)
    assert y.tolist() == x[..., places].tolist()
    weights = numbers(torch, 1, 2, 6)
    (y * weights).sum().backward()
    expected = torch.zeros(1, 2, 3).index_add_(2, torch.tensor(places), weights)
    assert x.grad.tolist() == expected.tolist()


@pytest.mark.filterwarnings("ignore:Casting complex values:UserWarning")
@pytest.mark.filterwarnings("ignore:.*is out of bounds:UserWarning")
@pytest.mark.parametrize("name", CALLS)
def test_as_in_pytorch(name):
    found, expected = (outcome(CALLS[name], lib) for lib in (torch, pt))
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected)), found
    else:
        rough = {"rtol": 0.05, "atol": 0.05} if name in HALF_LSTMS else {}
        assert_close(found, expected, **rough)
