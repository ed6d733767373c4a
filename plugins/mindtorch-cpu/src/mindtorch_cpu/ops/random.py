"""Random numbers: tensors filled from the Mersenne Twister's stream, in PyTorch's order.

A tensor in another order of dimensions is filled as it lies in memory. Every kernel takes the stream's lock,
and everything that can fail comes before the first draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import (
    FLOAT8,
    FLOATING,
    exact_integers,
    float32,
    float64,
    int64,
    source_for,
)

from ..arrays import COUNTABLE, CPU, NUMPY_OF, quietly, uninitialised, wrap
from ..box_muller import BLOCK, blocks, put_standard
from ..compiled import walk
from ..fused import fused_double, fused_single
from ..register import kernel, rule_of
from ..twister import CHUNK, TwisterSource
from ..workers import share_out
from .shuffling import shuffled

__all__ = [
    "bernoulli",
    "bernoulli_p_",
    "filled",
    "normal_",
    "random_",
    "randperm",
    "stream_of",
    "uniform_",
]

_PLAIN: Final = (float32, float64)
_HALF: Final = np.dtype(np.float32).itemsize  # dtypes below this size are rounded to float32 first


def stream_of(generator: Any) -> TwisterSource:
    """The stream that a kernel draws from."""
    source: TwisterSource = source_for(generator, CPU)
    return source


def refuse_float8(t: Any) -> None:
    """Refuse random numbers in floats of 8 bits.

    Raises:
        NotImplementedError: for a tensor of such a dtype.
    """
    if t.raw_dtype.name in FLOAT8:
        raise NotImplementedError(
            f"random numbers are not implemented for '{t.raw_dtype.label}': convert some of another dtype"
        )


def filled(self: Any, generator: Any, draw: Callable[[TwisterSource, Any], Any]) -> Any:
    """Fill a tensor in memory order and return it.

    Args:
        self: the tensor.
        generator: what was passed as one.
        draw: called with the stream and a dense array of one dimension, which it fills or whose elements it
            returns, a chunk at a time.
    """
    refuse_float8(self)
    fill(self.raw_data, stream_of(generator), draw)
    return self


def fill(data: Any, source: TwisterSource, draw: Callable[[TwisterSource, Any], Any]) -> None:
    """Fill an array in memory order, see `filled`."""
    if not data.size:
        return
    ordered = data
    if not data.flags.c_contiguous:
        ordered = data.transpose(sorted(range(data.ndim), key=lambda i: -data.strides[i]))
    dense = ordered.flags.c_contiguous
    line = ordered.reshape(-1) if dense else uninitialised((data.size,), data.dtype)
    with source.lock:
        if line.size <= CHUNK:
            quietly(_fill_part, line, source, draw)
        else:
            for start in range(0, line.size, CHUNK):
                quietly(_fill_part, line[start : start + CHUNK], source, draw)
    if not dense:
        np.copyto(ordered, line.reshape(ordered.shape))


def _fill_part(part: Any, source: TwisterSource, draw: Callable[..., Any]) -> None:
    drawn = draw(source, part)
    if drawn is not None:
        stored(part, drawn)


def stored(part: Any, drawn: Any) -> None:
    """Write numbers into an array; half precision rounds twice, as PyTorch's conversions do."""
    if part.itemsize < _HALF and drawn.dtype == np.float64:
        drawn = drawn.astype(np.float32)
    np.copyto(part, drawn, "unsafe")


def _reals(data: Any) -> Any:
    """The real and imaginary parts of a complex array as its last dimension."""
    part = data.real
    return np.lib.stride_tricks.as_strided(part, (*data.shape, 2), (*data.strides, part.itemsize))


@kernel("uniform_")
def uniform_(self: Any, low: float = 0, high: float = 1, *, generator: Any = None) -> Any:
    """Uniform numbers from [low, high); of complex ones first the real part."""
    d, data = self.raw_dtype, self.raw_data
    if low == 0 and high == 1 and d in _PLAIN and data.size <= CHUNK and data.flags.c_contiguous:
        source = stream_of(generator)
        if data.size:
            with source.lock:
                (source.put_doubles if d is float64 else source.put_singles)(data.reshape(-1))
        return self
    rule_of("uniform")(self, low, high)
    if d is float32 and data.flags.c_contiguous and _put_between(data, low, high, generator):
        return self
    double = d.to_real().name == "float64"

    def draw(source: TwisterSource, part: Any) -> None:
        line = part.view(f"f{part.itemsize // 2}") if part.dtype.kind == "c" else part
        u = source.doubles(line.size) if double else source.singles(line.size)
        if low != 0 or high != 1:
            u = _between(u, low, high)
            last = line.dtype.type(high)
            stored(line, u)
            line[line == last] = line.dtype.type(low)  # rounding may reach the end
        else:
            stored(line, u)
            if line.itemsize < _HALF:
                line[line == 1] = 0

    return filled(self, generator, draw)


def _put_between(data: Any, low: float, high: float, generator: Any) -> bool:
    """Whether a compiled loop filled an array with uniform numbers from [low, high)."""
    source = stream_of(generator)
    with source.lock:
        if not source.put_between(data, low, high):
            return False
    at_end = data == np.float32(high)  # rounding may reach it
    if at_end.any():
        data[at_end] = np.float32(low)
    return True


def _between(u: Any, low: float, high: float) -> Any:
    if u.dtype == np.float64:
        return fused_double(u, high - low, low)
    start, end = np.float32(low), np.float32(high)
    return fused_single(u, end - start, start)


# ---- normal numbers -----------------------------------------------------------------------------


@kernel("normal_")
def normal_(self: Any, mean: float = 0, std: float = 1, *, generator: Any = None) -> Any:
    """Normal numbers; of complex ones both parts have the mean, and half the variance each."""
    refuse_float8(self)
    data = self.raw_data
    source = stream_of(generator)
    plain = self.raw_dtype in _PLAIN and data.flags.c_contiguous
    if not (plain and mean == 0 and std == 1):
        rule_of("normal")(self, mean, std)
    elif data.size < BLOCK:
        data.reshape(-1)[:] = source.few_normals(data.size)
        return self
    elif data.size <= _FEW and self.raw_dtype is float32:
        _fill_with_few(data.reshape(-1), source)
        return self
    if data.dtype.kind == "c":
        data, std = _reals(data), std / math.sqrt(2)
    if data.size >= BLOCK and data.flags.c_contiguous:
        _fill_blocks(data.reshape(-1), mean, std, source)
    else:
        fill(data, source, lambda source, part: fused_double(source.normals(part.size), std, mean))
    return self


_FEW: Final = 1 << 8  # numbers of which a kernel turns half a block at a time
_TILE: Final = 12 << 10  # numbers that a thread turns into normal ones at a time


def _fill_with_few(line: Any, source: TwisterSource) -> None:
    """Fill a block or more with standard normal numbers of float32; as `_fill_blocks`, at once."""
    rest = line.size % BLOCK
    whole = line.size - rest
    uniform = np.empty(line.size + BLOCK if rest else whole, line.dtype)
    with source.lock:
        source.put_singles(uniform)
    made = line
    if rest:  # the last block is drawn again
        uniform[whole : whole + BLOCK] = uniform[line.size :]
        uniform = uniform[: whole + BLOCK]
        made = np.empty_like(uniform)
    if not put_standard(uniform, made):
        np.copyto(made, uniform)
        quietly(blocks, made, 0, 1)
    if rest:
        line[:whole] = made[:whole]
        line[-BLOCK:] = made[whole:]


def _fill_blocks(line: Any, mean: float, std: float, source: TwisterSource) -> None:
    """Fill 16 numbers or more from whole blocks; the last 16 are drawn again if one is not whole."""
    whole = line.size // BLOCK * BLOCK
    half = line.itemsize < _HALF
    count = whole if half else line.size
    again = BLOCK if whole != line.size else 0
    target = uninitialised(line.shape, np.dtype(np.float32)) if half else line
    double = target.itemsize == 8
    put = source.put_doubles if double else source.put_singles
    with source.lock:
        for start in range(0, count, CHUNK):
            put(target[start : min(start + CHUNK, count)])
        last = (source.doubles if double else source.singles)(again) if again else None
    share_out(
        lambda start: quietly(blocks, target[start : min(start + _TILE, whole)], mean, std),
        range(0, whole, _TILE),
    )
    if last is not None:
        quietly(blocks, last, mean, std)
        target[-BLOCK:] = last
    if half:
        quietly(np.copyto, line, target, "unsafe")


# ---- integers -----------------------------------------------------------------------------------

_WIDE: Final = 1 << 28  # ranges from here on take outputs of 64 bits
_DIGITS: Final = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


def _integers(source: TwisterSource, count: int, low: int, span: int, wide: bool) -> Any:
    """Integers from ``low`` on as int64, modulo 2**64."""
    if not wide and count <= _FEW:
        made = np.remainder(source.few_words(count), np.uint64(span)).view(np.int64)
        if low:
            made += low
        return made
    if not wide:
        made = _remainders(source.words(count), np.uint32(span)).astype(np.int64)
        made += low
        return made
    bits = source.long_words(count)
    if span < 1 << 64:  # else all integers, as they come
        bits = _remainders(bits, np.uint64(span))
        bits += np.uint64(low % (1 << 64))
    return bits.view(np.int64)


def _remainders(a: Any, divisor: Any) -> Any:
    """What is left of divisions; NumPy divides by one number fast, but has no such remainder."""
    product = a // divisor
    product *= divisor
    a -= product
    return a


@kernel("random_.from")
def random_(self: Any, low: int, high: int | None, *, generator: Any = None) -> Any:
    """Integers from [low, high); up to the largest that the dtype holds exactly without ``high``."""
    rule_of("random.from")(self, low, high)
    d = self.raw_dtype
    end = exact_integers(d) + 1 if high is None else high
    if high is None and low == -1 << 63:  # all integers of 64 bits
        end = 1 << 63
    elif d.category == FLOATING and high is not None:
        low, end = _reachable(low, end, NUMPY_OF[d].type, _DIGITS[d.name])
    span = end - low
    return filled(
        self, generator, lambda source, part: _integers(source, part.size, low, span, span >= _WIDE)
    )


def _reachable(low: int, high: int, kind: Any, digits: int) -> tuple[int, int]:
    """A range moved by a step of the floating dtype where rounding would leave it."""
    last, first = (int(kind(np.float32(v) if digits < 24 else v)) for v in (high - 1, low + 1))
    if high <= last < 1 << 63:
        high = last - (1 << ((high - 1).bit_length() - digits))
    if first < low:
        low = first + (1 << (abs(low + 1).bit_length() - digits))
    return low, high


@kernel("random_")
def random_whole_(self: Any, *, generator: Any = None) -> Any:
    """Integers from 0 up to the largest that the dtype holds exactly."""
    rule_of("random")(self)
    d = self.raw_dtype
    span = exact_integers(d) + 1
    wide = d.itemsize == 8
    return filled(self, generator, lambda source, part: _integers(source, part.size, 0, span, wide))


@kernel("randperm")
def randperm(n: int, *, generator: Any = None, dtype: Any = None, device: Any = None) -> Any:
    """A random order of 0 to n - 1."""
    rule_of("randperm")(n, dtype=dtype)
    d = dtype or int64
    if n >= COUNTABLE:
        uninitialised((n,), NUMPY_OF[d])
    source = stream_of(generator)
    with source.lock:
        order = shuffled(n, source)
    return wrap(quietly(order.astype, NUMPY_OF[d], copy=False), d)


# ---- ones and zeros -----------------------------------------------------------------------------


@kernel("bernoulli_p_")
def bernoulli_p_(self: Any, p: float = 0.5, *, generator: Any = None) -> Any:
    """Ones with probability p."""
    rule_of("bernoulli_p")(self, p)
    data, below = self.raw_data, math.ceil(p * 2**53)
    loop = walk("kept", data.dtype, data.size, 1) if data.flags.c_contiguous else None
    if loop is not None:
        source = stream_of(generator)
        with source.lock:
            loop(data, source.address, data.size, below)
        return self
    limit = np.uint64(below)

    def draw(source: TwisterSource, part: Any) -> Any:
        bits = source.long_words(part.size)
        bits &= (1 << 53) - 1
        return bits < limit

    return filled(self, generator, draw)


@kernel("bernoulli")
def bernoulli(self: Any, *, generator: Any = None) -> Any:
    """Ones with the probabilities that the input gives, in row-major order.

    Raises:
        RuntimeError: if an element is no probability.
    """
    rule_of("bernoulli")(self)
    p = self.raw_data
    if not quietly(lambda: np.all((p >= 0) & (p <= 1))):
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false: bernoulli takes probabilities"
        )
    double = p.dtype == np.float64
    limits = p.reshape(-1) if double else p.reshape(-1).astype(np.float32)
    made = uninitialised(p.shape, p.dtype)
    at = 0

    def draw(source: TwisterSource, part: Any) -> Any:
        nonlocal at
        at += part.size
        own = limits[at - part.size : at]
        if part.dtype == np.float32:
            source.put_singles(part)
            np.less(part, own, part)
            return None
        return (source.doubles if double else source.singles)(part.size) < own

    fill(made, stream_of(generator), draw)
    return wrap(made, self.raw_dtype)
