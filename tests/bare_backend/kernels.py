"""The primitives, by NumPy. Operands arrive in one dtype."""

import math

import numpy as np
from scipy.special import erf

import mindtorch_core as torch
from mindtorch_core.backend import checked_number, contiguous_strides, source_for
from mindtorch_core.dispatch.registry import registry

from .runtime import NUMPY

KERNELS = {}
HALVES = (torch.float16, torch.bfloat16)


def kernel(*names):
    def decorate(fn):
        KERNELS.update(dict.fromkeys(names, fn))
        return fn

    return decorate


def made(values, dtype, like, strides=None):
    """A new tensor with given elements, row-major if no strides are given."""
    values = np.asarray(values)
    steps = strides or contiguous_strides(values.shape)
    out = torch.empty_strided(values.shape, steps, dtype=dtype, device=like.device)
    with np.errstate(all="ignore"):
        np.copyto(out.raw_data, values, casting="unsafe")
    return out


def wide(t):
    """An operand's array; halves in float32."""
    return t.raw_data.astype(np.float32) if t.dtype in HALVES else t.raw_data


def rule_of(name):
    """The op's shape-and-dtype rule, which raises its errors too."""
    return registry.entry(name).definition.rule


def elementwise_kernel(name, compute, array=wide):
    """A kernel of tensors in one dtype that broadcast."""
    rule = rule_of(name)

    def run(*operands, **options):
        spec = rule(*operands, **options)
        with np.errstate(all="ignore"):
            values = compute(*(array(t) for t in operands), **options)
        return made(values, spec.dtype, operands[0], spec.strides)

    return run


def elementwise(name, compute, array=wide):
    KERNELS[name] = elementwise_kernel(name, compute, array)


for name, function in (
    ("mul", np.multiply),
    ("maximum", np.maximum),
    ("minimum", np.minimum),
    ("eq", np.equal),
    ("lt", np.less),
    ("le", np.less_equal),
    ("bitwise_and", np.bitwise_and),
    ("bitwise_or", np.bitwise_or),
    ("bitwise_xor", np.bitwise_xor),
    ("atan2", np.arctan2),
    ("abs", np.abs),
    ("neg", np.negative),
    ("exp", np.exp),
    ("expm1", np.expm1),
    ("log", np.log),
    ("log1p", np.log1p),
    ("sqrt", np.sqrt),
    ("sin", np.sin),
    ("cos", np.cos),
    ("tanh", np.tanh),
    ("erf", erf),
    ("floor", lambda a: a if a.dtype.kind in "iub" else np.floor(a)),
    ("round", lambda a: a if a.dtype.kind in "iub" else np.rint(a)),
    ("where.self", np.where),
):
    elementwise(name, function)


def scaled(fn):
    return lambda a, b, alpha=1: fn(a, b if alpha == 1 else b * np.array(alpha).astype(a.dtype))


elementwise("add", scaled(np.add))
elementwise("sub", scaled(np.subtract))


def divided(a, b, rounding_mode=None):
    if rounding_mode is None:
        return a / b
    if a.dtype.kind in "iu":
        if not b.all():
            raise RuntimeError("ZeroDivisionError")
        q = a // b
        return q if rounding_mode == "floor" else q + ((q < 0) & (q * b != a))
    return np.floor_divide(a, b) if rounding_mode == "floor" else np.trunc(a / b)


def floor_divided(a, b):
    if a.dtype.kind in "iu" and not b.all():
        raise RuntimeError("ZeroDivisionError")
    plain = np.floor_divide(a, b)
    return plain if a.dtype.kind in "iu" else np.where(b == 0, a / b, plain)


def remainder(a, b):
    if a.dtype.kind in "iu" and not b.all():
        raise RuntimeError("ZeroDivisionError")
    return np.remainder(a, b)


def power(a, b):
    if a.dtype.kind != "i":
        return np.power(a, b)
    one = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0))
    return np.where(b < 0, one, np.power(a, np.where(b < 0, 0, b)))


elementwise("div", divided, array=lambda t: t.raw_data)  # rounded to a half before it is cut
elementwise("floor_divide", floor_divided)
elementwise("remainder", remainder)
elementwise("pow", power)

# ---- reductions ---------------------------------------------------------------------------------


def axes(dim):
    if dim is None or (not isinstance(dim, int) and not len(dim)):
        return None
    return dim if isinstance(dim, int) else tuple(dim)


def reduced(name, compute):
    rule = rule_of(name)

    def run(self, dim=None, keepdim=False, *, dtype=None):
        spec = rule(self, dim, keepdim, **({} if dtype is None else {"dtype": dtype}))
        axis = axes(dim) if self.ndim else None
        a = self.raw_data
        if name in ("sum", "prod"):
            a = a.astype(np.float32 if spec.dtype in HALVES else NUMPY[spec.dtype])
        elif self.dtype in HALVES:
            a = a.astype(np.float32)
        with np.errstate(all="ignore"):
            values = compute(a, axis=axis, keepdims=keepdim)
        return made(np.reshape(values, spec.shape), spec.dtype, self)

    KERNELS[name] = run


reduced("sum", np.sum)
reduced("prod", np.prod)
reduced("amax", np.max)
reduced("amin", np.min)
reduced("argmax", np.argmax)


@kernel("cumsum")
def cumsum(self, dim, *, dtype=None):
    d = rule_of("cumsum")(self, dim, dtype=dtype).dtype
    if not self.ndim:
        return made(self.raw_data, d, self)
    kind = np.float32 if d in HALVES else NUMPY[d]
    return made(np.cumsum(self.raw_data.astype(kind), dim), d, self)


@kernel("sort.stable")
def sort(self, *, stable=None, dim=-1, descending=False):
    rule_of("sort.stable")(self, stable=stable, dim=dim, descending=descending)
    a = wide(self)
    if not a.ndim:
        return made(a, self.dtype, self), made(0, torch.int64, self)
    if descending:  # equal elements keep their order: sort backwards what stands backwards
        order = np.flip(a.shape[dim] - 1 - np.argsort(np.flip(a, dim), dim, kind="stable"), dim)
    else:
        order = np.argsort(a, dim, kind="stable")
    return made(np.take_along_axis(a, order, dim), self.dtype, self), made(order, torch.int64, self)


# ---- indexing -----------------------------------------------------------------------------------


def positions(indices):
    return tuple(slice(None) if t is None else t.raw_data for t in indices)


@kernel("_index_positions")
def index(self, indices):
    rule_of("_index_positions")(self, indices)
    return made(self.raw_data[positions(indices)], self.dtype, self)


@kernel("_index_put_positions_")
def index_put(self, indices, values, accumulate=False):
    rule_of("_index_put_positions")(self, indices, values, accumulate)
    if accumulate:
        np.add.at(self.raw_data, positions(indices), values.raw_data)
    else:
        self.raw_data[positions(indices)] = values.raw_data
    return self


@kernel("nonzero")
def nonzero(self):
    if not self.ndim:
        return made(np.empty((int(bool(self.raw_data)), 0)), torch.int64, self)
    return made(np.argwhere(self.raw_data), torch.int64, self)


# ---- products, copies, factories ----------------------------------------------------------------


def product(name):
    rule = rule_of(name)

    def run(self, mat2):
        spec = rule(self, mat2)
        return made(np.matmul(wide(self), wide(mat2)), spec.dtype, self)

    KERNELS[name] = run


product("mm")
product("bmm")


@kernel("copy_")
def copy(self, src, non_blocking=False):
    if self.device.type != "bare":  # off the device
        return self.copy_(src.to("cpu"))
    values = (src if src.device.type == "bare" else src.to("bare")).raw_data
    if values.dtype.kind == "c" and self.raw_data.dtype.kind != "c":
        values = values.real
    with np.errstate(all="ignore"):
        np.copyto(self.raw_data, values.copy(), casting="unsafe")
    return self


@kernel("fill_.Scalar")
def fill(self, value):
    np.copyto(self.raw_data, np.array(checked_number(value, self.dtype)), casting="unsafe")
    return self


@kernel("arange.start")
def arange(start, end, step=1, *, dtype=None, device=None):
    spec = rule_of("arange.start")(start, end, step, dtype=dtype)
    out = torch.empty(spec.shape, dtype=spec.dtype, device="bare")
    if not spec.dtype.is_floating_point:
        start, step = int(start), int(step)
    whole = isinstance(start, int) and isinstance(step, int)
    count = np.arange(math.prod(spec.shape), dtype=np.int64 if whole else np.float64)
    np.copyto(out.raw_data, start + count * step, casting="unsafe")
    return out


# ---- random numbers -----------------------------------------------------------------------------


@kernel("uniform_")
def uniform(self, low=0.0, to=1.0, *, generator=None):
    rule_of("uniform")(self, low, to)
    numbers = source_for(generator, self.device).numbers
    np.copyto(self.raw_data, low + numbers.random(self.raw_shape) * (to - low), casting="unsafe")
    return self


@kernel("random_.from")
def random(self, low=0, high=None, *, generator=None):
    rule_of("random.from")(self, low, high)
    numbers = source_for(generator, self.device).numbers
    if high is None:
        high = {"b": 2, "i": 1 << 31, "u": 1 << 8}.get(self.raw_data.dtype.kind, 1 << 11)
    np.copyto(self.raw_data, numbers.integers(low, high, self.raw_shape), casting="unsafe")
    return self
