"""Ops on NPUs beside the CPU where operators do not fit: without elements, of odd dtypes, of many dimensions.

What an operator does not take is computed otherwise; the answer is the same.
"""

import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_core.testing.comparison import outcome

pytestmark = pytest.mark.usefixtures("simulator")

DTYPES = ["float32", "float16", "int64", "bool", "complex64"]


def numbers(dtype, *shape):
    values = (torch.arange(float(torch.Size(shape).numel())) % 7 - 3).reshape(shape)
    if dtype == "complex64":
        return torch.complex(values, values.flip(0) if shape else values)
    return values.to(getattr(torch, dtype))


def compared(call, *operands):
    """The op's outcome on both: the same values, or errors of one type."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = outcome(call, *(t.clone() for t in operands))
        found = outcome(call, *(t.to("npu") for t in operands))
    if isinstance(wanted, Exception):
        assert isinstance(found, Exception), (
            f"the CPU refuses it ({wanted}), the NPU gives {found!r}"
        )
        assert issubclass(type(found), type(wanted)) or issubclass(type(wanted), type(found)), found
        return
    assert not isinstance(found, Exception), found
    assert all(t.device.type == "npu" for t in flat(found))
    for mine, theirs in zip(flat(found), flat(wanted), strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        close = torch.allclose(
            mine.cpu().to(torch.complex128 if mine.is_complex() else torch.float64),
            theirs.to(torch.complex128 if mine.is_complex() else torch.float64),
            rtol=2e-3 if mine.dtype is torch.float16 else 1e-4,
            atol=1e-3 if mine.dtype is torch.float16 else 1e-5,
            equal_nan=True,
        )
        assert close, (mine.cpu(), theirs)


def flat(found):
    return [
        t
        for t in (found if isinstance(found, tuple | list) else [found])
        if isinstance(t, torch.Tensor)
    ]


ONE = {
    "sum": lambda t: t.sum(),
    "sum of rows": lambda t: t.sum(0),
    "sum of nothing": lambda t: t.sum(()),
    "mean": lambda t: t.mean(),
    "mean of rows": lambda t: t.mean(0),
    "mean kept": lambda t: t.mean(-1, keepdim=True),
    "prod": lambda t: t.prod(),
    "prod of rows": lambda t: t.prod(0),
    "var": lambda t: t.var(),
    "var of rows": lambda t: t.var(0, correction=0),
    "std": lambda t: t.std(correction=0.5),
    "amax": lambda t: t.amax(),
    "amax of rows": lambda t: t.amax(-1),
    "amin of none": lambda t: t.amin(()),
    "argmax": lambda t: t.argmax(),
    "argmin of rows": lambda t: t.argmin(-1),
    "max": lambda t: t.max(),
    "max of rows": lambda t: tuple(t.max(-1)),
    "any": lambda t: t.any(),
    "all": lambda t: t.all(),
    "any of rows": lambda t: t.any(-1),
    "all of none": lambda t: torch.all(t, ()),
    "logsumexp": lambda t: t.logsumexp(-1),
    "cumsum": lambda t: t.cumsum(-1),
    "cumprod": lambda t: t.cumprod(-1),
    "cummax": lambda t: tuple(t.cummax(-1)),
    "cummin": lambda t: tuple(t.cummin(-1)),
    "sort": lambda t: tuple(t.sort(-1, stable=True)),
    "sorted backwards": lambda t: t.sort(-1, descending=True)[0],
    "topk": lambda t: t.topk(1)[0],
    "softmax": lambda t: t.softmax(-1),
    "log_softmax": lambda t: t.log_softmax(-1),
    "nan_to_num": lambda t: t.nan_to_num(),
    "abs": lambda t: t.abs(),
    "exp": lambda t: t.exp(),
    "floor": lambda t: t.floor(),
    "ceil in place": lambda t: t.ceil_(),
    "neg in place": lambda t: t.neg_(),
    "relu": lambda t: t.relu(),
    "gelu": lambda t: F.gelu(t),
    "glu": lambda t: F.glu(torch.cat([t, t], -1), -1),
    "isnan": lambda t: t.isnan(),
    "logical_not": lambda t: t.logical_not(),
    "clamp": lambda t: t.clamp(-1, 1),
    "clamp below": lambda t: t.clamp(min=0),
    "tril": lambda t: t.tril(),
    "triu": lambda t: t.triu(1),
    "padded": lambda t: F.pad(t, (1, 1), value=2),
    "cut": lambda t: F.pad(t, (-1, 1)),
    "flipped": lambda t: t.flip(0),
    "rolled": lambda t: t.roll(1, 0),
    "repeated": lambda t: t.repeat(2, *[1] * max(t.dim() - 1, 0)),
    "nonzero": lambda t: t.nonzero(),
    "to int": lambda t: t.to(torch.int32),
    "to half": lambda t: t.half(),
    "power": lambda t: t**2,
    "root": lambda t: t**0.5,
    "power of two": lambda t: 2**t,
    "added": lambda t: t + 1,
    "added in place": lambda t: t.add_(1),
    "halved": lambda t: t / 2,
    "halved down": lambda t: torch.div(t, 2, rounding_mode="trunc"),
    "rest": lambda t: t % 3,
    "below": lambda t: t < 1,
    "filled": lambda t: t.fill_(2),
    "filled by a tensor": lambda t: t.fill_(torch.tensor(2)),
    "zeroed": lambda t: t.zero_(),
    "masked": lambda t: t.masked_fill(t == 1, 2),
    "eye": lambda t: torch.eye(*t.shape[:2], dtype=t.dtype, device=t.device) if t.dim() > 1 else t,
    "full": lambda t: torch.full(t.shape, torch.tensor(3), device=t.device),
    "linspace": lambda t: torch.linspace(0, 1, t.numel(), device=t.device),
    "arange": lambda t: torch.arange(0, t.numel(), 2, dtype=t.dtype, device=t.device),
}
SHAPES = [(3, 4), (0,), (0, 3), (3, 0), (), (1, 2, 1, 2, 1, 2, 1, 2, 2)]


@pytest.mark.parametrize("name", ONE)
def test_ops_of_one_tensor(name):
    for dtype in DTYPES:
        for shape in SHAPES:
            compared(ONE[name], numbers(dtype, *shape))


PAIRS = {
    "add": lambda a, b: a + b,
    "add in place": lambda a, b: a.add_(b),
    "sub twice": lambda a, b: torch.sub(a, b, alpha=2),
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floor_divide": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "remainder": lambda a, b: torch.remainder(a, b),
    "fmod": lambda a, b: torch.fmod(a, b),
    "pow": lambda a, b: a**b,
    "atan2": lambda a, b: torch.atan2(a, b),
    "maximum": lambda a, b: torch.maximum(a, b),
    "eq": lambda a, b: a == b,
    "lt": lambda a, b: a < b,
    "and": lambda a, b: a & b,
    "logical_or": lambda a, b: torch.logical_or(a, b),
    "shift": lambda a, b: a << b,
    "addcmul": lambda a, b: torch.addcmul(a, a, b, value=2),
    "addcmul in place": lambda a, b: a.addcmul_(a, b),
    "addcdiv": lambda a, b: torch.addcdiv(a, a, b),
    "lerp": lambda a, b: torch.lerp(a, b, 0.5),
    "lerp by tensor": lambda a, b: torch.lerp(a, b, b),
    "lerp in place": lambda a, b: a.lerp_(b, 0.25),
    "where": lambda a, b: torch.where(a > b, a, b),
    "copy": lambda a, b: a.copy_(b),
    "equal": lambda a, b: torch.equal(a, b),
    "cat": lambda a, b: torch.cat([a, b]),
    "stack": lambda a, b: torch.stack([a, b]),
    "matmul": lambda a, b: a @ b,
    "matmul transposed": lambda a, b: a @ b.mT,
    "bmm": lambda a, b: torch.bmm(a[None], b.mT[None]),
    "linear": lambda a, b: F.linear(a, b),
    "linear with bias": lambda a, b: F.linear(a, b, b[..., 0]),
    "addmm": lambda a, b: torch.addmm(a.sum().to(a.dtype).reshape(1), a, b.mT, beta=0.5),
    "addmm of no sum": lambda a, b: torch.addmm(a.sum().to(a.dtype).reshape(1), a, b.mT, beta=0),
    "own part": lambda a, b: a[1:].add_(a[:-1]) if a.dim() and len(a) > 1 else a,
}


def divisor(dtype, *shape):
    """Without zeros, by which whole numbers cannot be divided: NPUs do not say so."""
    t = numbers(dtype, *shape)
    return t if dtype == "bool" else t.abs() + 1


@pytest.mark.parametrize("name", PAIRS)
def test_ops_of_two_tensors(name):
    for dtype in DTYPES:
        for shape in SHAPES[:-1]:
            compared(PAIRS[name], numbers(dtype, *shape), divisor(dtype, *shape))
    for one, other in (("float32", "int64"), ("int64", "float16"), ("bool", "float32")):
        compared(PAIRS[name], numbers(one, 3, 4), divisor(other, 3, 4))


def index(t, *values):
    return torch.tensor(values, device=t.device)


OTHERS = {
    "convolution without pictures": lambda t: F.conv2d(t[:0], t[:2], padding=1),
    "convolution without channels": lambda t: F.conv2d(
        t[:, :0], t[:, :0], index(t, 1, 2).to(t.dtype)
    ),
    "convolution of no bias": lambda t: F.conv2d(t[:, :0], t[:, :0]),
    "convolution": lambda t: F.conv2d(t, t[:, :, :2, :2], stride=2),
    "positions without elements": lambda t: t[index(t)],
    "positions": lambda t: t[index(t, 1, 0, -1)],
    "put": lambda t: t.index_put((index(t, 1, 0),), t[:2]),
    "put of nothing": lambda t: t.index_put((index(t).long(),), t[:0]),
    "added": lambda t: t.index_put((index(t, 1, 1),), t[:2], accumulate=True),
    "put everywhere": lambda t: torch.index_put(t, [], t * 2),
    "added everywhere": lambda t: torch.index_put(t, [], t * 2, accumulate=True),
    "put from the CPU": lambda t: t.index_put((index(t, 1),), torch.ones((), dtype=t.dtype)),
    "gathered": lambda t: t.gather(0, t.argsort(0).long()),
    "gathered nothing": lambda t: t.gather(0, t[:0].long()),
    "selected": lambda t: t.index_select(1, index(t, 1, 1)),
    "scattered": lambda t: t.scatter(0, t[:1].long() * 0, t * 2),
    "scattered nothing": lambda t: t.scatter(0, t[:0].long(), t),
    "scattered in place": lambda t: t.scatter_(0, t[:1].long() * 0, t.flip(0)),
    "scattered nothing in place": lambda t: t.scatter_(0, t[:0].long(), t.clone()),
    "scattered a number": lambda t: t.scatter(0, t[:1].long() * 0, 2),
    "scattered no number": lambda t: t.scatter(0, t[:0].long(), 2),
    "scatter_add": lambda t: t.scatter_add(0, t[:1].long() * 0, t),
    "scatter_add of nothing": lambda t: t.scatter_add(0, t[:0].long(), t),
    "index_copy": lambda t: t.index_copy(0, index(t, 1), t[:1] * 3),
    "index_copy of nothing": lambda t: t.index_copy(0, index(t).long(), t[:0]),
    "index_add": lambda t: t.index_add(0, index(t, 1, 1), t[:2]),
    "rows of a table": lambda t: F.embedding(index(t, 1, 0), t.reshape(len(t), -1)),
    "no rows of a table": lambda t: F.embedding(index(t).long(), t.reshape(len(t), -1)),
    "one_hot": lambda t: F.one_hot(t.long().abs()),
    "one_hot of many": lambda t: F.one_hot(t.long().abs(), 8),
    "max_pool2d": lambda t: F.max_pool2d(t, 2),
    "max_pool2d of nothing": lambda t: F.max_pool2d(t[:0], 2),
    "avg_pool2d": lambda t: F.avg_pool2d(t, 2),
    "adaptive_avg_pool2d": lambda t: F.adaptive_avg_pool2d(t, 1),
    "interpolated": lambda t: F.interpolate(t, scale_factor=2),
    "split": lambda t: torch.cat(t.split(1)),
    "matmul of seven dimensions": lambda t: t[None, None, None] @ t[None, None, None].mT,
    "linear of one row": lambda t: F.linear(t[0, 0, 0], t[0, 0], t[0, 0, :, 0]),
    "linear of a vector": lambda t: F.linear(t, t[0, 0, 0]),
    "linear without features": lambda t: F.linear(t[..., :0], t[0, 0, :, :0], t[0, 0, :, 0]),
    "layer_norm": lambda t: F.layer_norm(t, t.shape[2:]),
    "batch_norm": lambda t: F.batch_norm(t, None, None, training=True),
    "cross_entropy": lambda t: F.cross_entropy(t[:, :, 0, 0], index(t, 0, 1)),
    "dropout of all": lambda t: F.dropout(t, 1.0),
    "dropout of none": lambda t: F.dropout(t, 0.0),
    "bernoulli of none": lambda t: torch.zeros_like(t).bernoulli_(0.0),
    "uniform of nothing": lambda t: t[:0].uniform_(),
    "normal of nothing": lambda t: t[:0].normal_(),
    "permutation of one": lambda t: torch.randperm(1, device=t.device),
    "quantile": lambda t: t.quantile(0.5),
    "overlapping": lambda t: t[0, 0, 0, 1:].copy_(t[0, 0, 0, :-1]),
    "added to its own part": lambda t: t[0, 0, 1:].add_(t[0, 0, :-1]),
    "multiplied by its own part": lambda t: t[0, 0, 1:].mul_(t[0, 0, :-1]),
    "itself": lambda t: t.mul_(t),
}


@pytest.mark.parametrize("name", OTHERS)
def test_ops_of_pictures(name):
    for dtype in DTYPES:
        compared(OTHERS[name], numbers(dtype, 2, 2, 3, 3))


GRADIENTS = {
    "glu": lambda t: F.glu(t, 1),
    "glu of nothing": lambda t: F.glu(t[:0], 1),
    "embedding": lambda t: F.embedding(index(t, 1, 1, 0), t.reshape(len(t), -1), padding_idx=0),
    "embedding of nothing": lambda t: F.embedding(index(t).long(), t.reshape(len(t), -1)),
    "convolution": lambda t: F.conv2d(t, t[:, :, :2, :2], padding=1),
    "convolution in steps": lambda t: F.conv2d(t, t[:, :, :2, :2], stride=2),
    "convolution of nothing": lambda t: F.conv2d(t[:0], t[:, :, :2, :2]),
    "avg_pool2d": lambda t: F.avg_pool2d(t, 2),
    "avg_pool2d of nothing": lambda t: F.avg_pool2d(t[:0], 2),
    "max_pool2d": lambda t: F.max_pool2d(t, 2),
    "softmax of nothing": lambda t: t[:0].softmax(1),
    "gelu": lambda t: F.gelu(t),
    "elu": lambda t: F.elu(t),
    "leaky_relu": lambda t: F.leaky_relu(t),
    "logsigmoid": lambda t: F.logsigmoid(t),
    "gather": lambda t: t.gather(0, t.detach().argsort(0)),
    "gather nothing": lambda t: t.gather(0, t[:0].long()),
    "var": lambda t: t.var(1),
    "cumprod": lambda t: t.cumprod(1),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_pictures(name, dtype):
    def gradient(t):
        t = t.detach().requires_grad_()
        (GRADIENTS[name](t).float() ** 2).sum().backward()
        return t.grad

    compared(gradient, numbers(dtype, 2, 2, 3, 3))
