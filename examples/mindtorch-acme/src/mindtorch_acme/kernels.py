"""The primitives. A kernel describes its result by the op's rule, allocates it and queues the work.

What is queued gets the operands' elements as NumPy arrays. It runs later, in a queue's thread: a kernel
hands it everything it needs, and never looks at elements itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

import mindtorch_core as torch
from mindtorch_core.backend import checked_number, exact_integers, source_for
from mindtorch_core.dispatch.registry import registry

from .elements import HALVES, exact, load, store
from .runtime import KINDS, RUNTIME, Cells

__all__ = ["KERNELS"]

KERNELS: Final[dict[str, Callable[..., Any]]] = {}


def kernel(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a kernel under the name of its op."""

    def enter(fn: Callable[..., Any]) -> Callable[..., Any]:
        KERNELS[name] = fn
        return fn

    return enter


def rule_of(name: str) -> Any:
    """The op's rule: describes the result, and raises the errors that users know from PyTorch."""
    definition = registry.entry(name).definition
    assert definition is not None
    return definition.rule


def empty(spec: Any, like: Any) -> Any:
    """A result that a rule has described."""
    return RUNTIME.empty(tuple(spec.shape), spec.strides, spec.dtype, like.device)


def queue(
    name: str, out: Any, compute: Callable[..., Any], *operands: Any, read: Any = load
) -> Any:
    """Queue ``out = compute(elements of operands...)``; returns ``out``.

    Raises:
        RuntimeError: if an operand is on another chip, which this one cannot read.
    """
    for t in operands:
        if t.device is not out.device:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found at least two devices, "
                f"{out.device} and {t.device}! ({name})"
            )
    target, cells = out.raw_data, [t.raw_data for t in operands]

    def job() -> None:
        with np.errstate(all="ignore"):
            store(target, compute(*map(read, cells)))

    RUNTIME.send(out.device, name, job)
    return out


# ---- element by element --------------------------------------------------------------------------


def elementwise(name: str, compute: Callable[..., Any], read: Any = load) -> None:
    """Enter a kernel whose operands have one dtype and broadcast."""
    rule = rule_of(name)

    def run(*operands: Any, **options: Any) -> Any:
        out = empty(rule(*operands, **options), operands[0])
        return queue(name, out, lambda *a: compute(*a, **options), *operands, read=read)

    KERNELS[name] = run


def scaled(fn: Any) -> Any:
    return lambda a, b, alpha=1: fn(a, b if alpha == 1 else b * np.asarray(alpha).astype(a.dtype))


def nonzero_divisor(b: Any) -> None:
    if b.dtype.kind in "iu" and not b.all():
        raise RuntimeError("ZeroDivisionError")


def divided(a: Any, b: Any, rounding_mode: str | None = None) -> Any:
    if rounding_mode is None:
        return a / b
    nonzero_divisor(b)
    if rounding_mode == "floor":
        return np.floor_divide(a, b)
    if a.dtype.kind in "iu":
        quotient = a // b
        return quotient + ((quotient < 0) & (quotient * b != a))
    return np.trunc(a / b)


def floor_divided(a: Any, b: Any) -> Any:
    nonzero_divisor(b)
    quotient = np.floor_divide(a, b)
    return quotient if a.dtype.kind in "iu" else np.where(b == 0, a / b, quotient)


def remainder(a: Any, b: Any) -> Any:
    nonzero_divisor(b)
    return np.remainder(a, b)


def power(a: Any, b: Any) -> Any:
    if a.dtype.kind != "i":
        return np.power(a, b)
    fraction = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0))
    return np.where(b < 0, fraction, np.power(a, np.where(b < 0, 0, b)))


def whole(fn: Any) -> Any:
    return lambda a: a if a.dtype.kind in "iub" else fn(a)


def error_function(a: Any) -> Any:
    return np.fromiter(map(math.erf, a.flat), a.dtype, a.size).reshape(a.shape)


for _name, _function in {
    "add": scaled(np.add), "sub": scaled(np.subtract), "mul": np.multiply,
    "floor_divide": floor_divided, "remainder": remainder, "pow": power,
    "maximum": np.maximum, "minimum": np.minimum, "eq": np.equal, "lt": np.less,
    "le": np.less_equal, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor, "atan2": np.arctan2, "where.self": np.where,
    "abs": np.abs, "neg": np.negative, "exp": np.exp, "expm1": np.expm1, "log": np.log,
    "log1p": np.log1p, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
    "erf": error_function, "floor": whole(np.floor), "round": whole(np.rint),
}.items():  # fmt: skip
    elementwise(_name, _function)
elementwise("div", divided, read=exact)  # rounded to a half before it is cut

# ---- along dimensions ----------------------------------------------------------------------------


def accumulating(dtype: Any) -> Any:
    """What sums and products are kept in."""
    return np.float32 if dtype in HALVES else KINDS[dtype]


def reduction(name: str, compute: Callable[..., Any]) -> None:
    """Enter a kernel that reduces dimensions."""
    rule, sums = rule_of(name), name in ("sum", "prod")

    def run(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        spec = rule(self, dim, keepdim, **({} if dtype is None else {"dtype": dtype}))
        axis = dim if dim is None or isinstance(dim, int) else tuple(dim)
        axis = None if axis == () or not self.dim() else axis

        def reduced(a: Any) -> Any:
            a = a.astype(accumulating(spec.dtype)) if sums else a
            return np.reshape(compute(a, axis=axis), spec.shape)

        return queue(name, empty(spec, self), reduced, self)

    KERNELS[name] = run


reduction("sum", np.sum)
reduction("prod", np.prod)
reduction("amax", np.max)
reduction("amin", np.min)
reduction("argmax", np.argmax)


@kernel("cumsum")
def cumsum(self: Any, dim: int, *, dtype: Any = None) -> Any:
    spec = rule_of("cumsum")(self, dim, dtype=dtype)
    kind = accumulating(spec.dtype)
    run = (lambda a: np.cumsum(a.astype(kind), dim)) if self.dim() else (lambda a: a)
    return queue("cumsum", empty(spec, self), run, self)


@kernel("sort.stable")
def sort(self: Any, *, stable: bool | None = None, dim: int = -1, descending: bool = False) -> Any:
    specs = rule_of("sort.stable")(self, stable=stable, dim=dim, descending=descending)
    values, positions = (empty(spec, self) for spec in specs)

    def order(a: Any) -> Any:
        if not a.ndim:
            return 0
        if descending:  # equal elements keep their order: sort backwards what stands backwards
            backwards = np.argsort(np.flip(a, dim), dim, kind="stable")
            return np.flip(a.shape[dim] - 1 - backwards, dim)
        return np.argsort(a, dim, kind="stable")

    queue("sort", positions, order, self)
    taken = (lambda a, p: np.take_along_axis(a, p, dim)) if self.dim() else (lambda a, p: a)
    queue("sort", values, taken, self, positions)
    return values, positions


# ---- indexing ------------------------------------------------------------------------------------


def selection(positions: Any, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """NumPy's index for a list in which None stands for a whole dimension."""
    given = iter(arrays)
    return tuple(slice(None) if t is None else next(given) for t in positions)


def positions_of(self: Any, indices: Any) -> list[Any]:
    """Indices on the tensor's device. Waits, so that a bad one is an error of the line that used it.

    Raises:
        IndexError: if one is out of bounds.
    """
    found = [t if t is None else t.to(self.device) for t in indices]
    for dim, t in enumerate(found):
        if t is None or not t.numel():
            continue
        size = self.shape[dim]
        for worst in RUNTIME.fetch(self.device, "index", partial(ends, t.raw_data)):
            if not -size <= worst < size:
                raise IndexError(
                    f"index {worst} is out of bounds for dimension {dim} with size {size}"
                )
    return found


def ends(cells: Cells) -> tuple[int, int]:
    """The smallest and the largest element."""
    values = load(cells)
    return int(values.min()), int(values.max())


@kernel("_index_positions")
def index(self: Any, indices: Any) -> Any:
    out = empty(rule_of("_index_positions")(self, indices), self)
    positions = positions_of(self, indices)
    given = [t for t in positions if t is not None]
    return queue("index", out, lambda a, *at: a[selection(positions, at)], self, *given)


@kernel("_index_put_positions_")
def index_put(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    rule_of("_index_put_positions")(self, indices, values, accumulate)
    positions = positions_of(self, indices)
    given = [t for t in positions if t is not None]

    def put(a: Any, v: Any, *at: Any) -> Any:
        a = a.copy()
        if accumulate:
            np.add.at(a, selection(positions, at), v)
        else:
            a[selection(positions, at)] = v
        return a

    return queue("index_put", self, put, self, values.to(self.device), *given)


@kernel("nonzero")
def nonzero(self: Any) -> Any:
    """The host has to know how many there are: waits."""
    cells = self.raw_data
    found = RUNTIME.fetch(self.device, "nonzero", lambda: np.argwhere(np.atleast_1d(load(cells))))
    found = found[:, : self.dim()].astype(np.int64)
    return RUNTIME.from_host(memoryview(found.tobytes()), found.shape, torch.int64, self.device)


# ---- products, copies, sequences, random numbers -------------------------------------------------


def product(name: str) -> None:
    """Enter a kernel that multiplies matrices."""
    rule = rule_of(name)

    def run(self: Any, mat2: Any) -> Any:
        return queue(name, empty(rule(self, mat2), self), np.matmul, self, mat2)

    KERNELS[name] = run


product("mm")
product("bmm")


@kernel("copy_")
def copy(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Called for copies onto the device and off it."""
    if self.device is not src.device:
        return self.copy_(src.to(self.device))  # bytes go through the host

    def converted(a: Any) -> Any:
        return (a.real if a.dtype.kind == "c" and not self.is_complex() else a).copy()

    return queue("copy", self, converted, src)


@kernel("fill_.Scalar")
def fill(self: Any, value: Any) -> Any:
    number = checked_number(value, self.dtype)
    return queue("fill", self, lambda: number)


@kernel("arange.start")
def arange(start: Any, end: Any, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Any:
    spec = rule_of("arange.start")(start, end, step, dtype=dtype)
    out = torch.empty(spec.shape, dtype=spec.dtype, device=device)
    if not spec.dtype.is_floating_point:
        start, step = int(start), int(step)
    count = np.arange(out.numel(), dtype=np.int64 if isinstance(start + step, int) else np.float64)
    return queue("arange", out, lambda: start + count * step)


@kernel("uniform_")
def uniform(self: Any, low: float = 0.0, to: float = 1.0, *, generator: Any = None) -> Any:
    rule_of("uniform")(self, low, to)
    numbers, shape = source_for(generator, self.device).draw(), self.shape
    return queue("uniform", self, lambda: low + numbers.random(shape) * (to - low))


@kernel("random_.from")
def random(self: Any, low: int = 0, high: int | None = None, *, generator: Any = None) -> Any:
    rule_of("random.from")(self, low, high)
    numbers, shape = source_for(generator, self.device).draw(), self.shape
    last = exact_integers(self.dtype) if high is None else high - 1
    kind = np.uint64 if last >> 63 else np.int64
    return queue("random", self, lambda: numbers.integers(low, last, shape, kind, endpoint=True))
