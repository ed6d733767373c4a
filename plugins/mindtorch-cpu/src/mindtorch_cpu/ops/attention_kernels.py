"""Attention of float32 by compiled kernels, head by head; without a compiler nothing is served.

What decides is the call's geometry alone. A head is computed by one thread, in one order: the bits do not
depend on threads.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_core.backend import get_num_threads

from ..addresses import address
from ..arrays import quietly
from ..native.attending import GRADIENT_TENSORS, TENSORS, Attention, AttentionGradient
from ..native.compiler import vector_bytes, vector_registers
from ..native.sharing import in_strips
from ..native.synchronous import available, served
from .sliding_products import pitch_of

__all__ = ["backward", "fits", "forward"]

_FLOAT: Final = np.dtype(np.float32)
# Fewer rows than a block leave most of it unused.
_SHORTEST: Final = 6
_LONGEST: Final = 2048  # rows that are added up in one go
_WIDEST: Final = 256
_VECTORS: Final = 2


def fits(q: Any, k: Any) -> bool:
    """Whether there are kernels for arrays (batch, heads, length, features)."""
    rows, width = q.shape[2:]
    few = k.shape[2] <= _LONGEST and width <= _WIDEST
    return q.dtype == _FLOAT and rows >= _SHORTEST and few and available()


class _Sizes(NamedTuple):
    """How a call is cut.

    Attributes:
        block: rows of scores at a time.
        narrow: bytes of a row of features in scratch memory.
        wide: bytes of a row of scores there.
        room: rows of keys there.
        lines: rows of turned keys.
    """

    block: int
    narrow: int
    wide: int
    room: int
    lines: int


def _rows() -> int:
    return 8 if vector_registers() == 32 else 6


def _sizes(columns: int, width: int, causal: bool) -> _Sizes:
    lanes = vector_bytes() // 4
    each = _VECTORS * lanes
    room, features = (-(-n // each) * each for n in (columns, width))
    # Under a causal mask blocks of fewer rows compute fewer scores that nobody sees.
    block = 24 if causal and columns <= 256 else 48
    return _Sizes(block, 4 * pitch_of(features, 4), 4 * pitch_of(room, 4), room, width + lanes)


def _mask(mask: Any, shape: Any) -> Any:
    """A mask that can be added, whose rows lie one number after the other."""
    if mask.dtype == np.bool_:
        mask = np.where(mask, _FLOAT.type(0), _FLOAT.type(-np.inf))
    mask = mask.astype(_FLOAT, copy=False)
    if mask.ndim == 0 or mask.shape[-1] != shape[3] or mask.strides[-1] != 4:
        mask = np.array(np.broadcast_to(mask, (*mask.shape[:-1], shape[3])), order="C")
    return np.broadcast_to(mask, shape)


def _straight(a: Any) -> Any:
    """An array whose rows are one number after the other."""
    return a if a.strides[3] == 4 or a.shape[3] == 1 else np.ascontiguousarray(a)


def _run(
    kernel: Any, names: Any, tensors: dict[str, Any], numbers: Any, sizes: _Sizes, scratch: int
) -> None:
    """Compute all heads, some at a time in each thread."""
    words: list[int] = []
    for name in names:
        a = tensors[name]
        words += (0, 0, 0, 0) if a is None else (address(a), *a.strides[:3])
    given = np.array([*words, *numbers, *sizes[:3]], np.int64)
    batch, heads = tensors["q"].shape[:2]
    items, threads = batch * heads, get_num_threads()
    step = items if threads == 1 else -(-items // (4 * threads))
    in_strips(kernel, address(given), items, step, scratch, zeroed=True)


def _numbers(q: Any, k: Any, causal: bool, mask: Any, scale: Any) -> tuple[int, ...]:
    bits = int(np.float32(scale).view(np.int32))
    return (
        q.shape[1], q.shape[2], k.shape[2], q.shape[3], bits, int(causal), int(mask is not None),
    )  # fmt: skip


def forward(
    q: Any, k: Any, v: Any, causal: bool, mask: Any, scale: Any, out: Any, total: Any
) -> bool:
    """Outputs, and logarithms of the sums of exponentials; whether that was served."""
    kernel = served(Attention("f4", _rows(), _VECTORS))
    if kernel is None:
        return False
    q, k, v = map(_straight, (q, k, v))
    if mask is not None:
        mask = _mask(mask, (*q.shape[:3], k.shape[2]))
    sizes = _sizes(k.shape[2], q.shape[3], causal)
    highest = np.empty_like(total)
    tensors = {
        "q": q, "k": k, "v": v, "mask": mask, "out": out, "total": total, "highest": highest,
    }  # fmt: skip
    scratch = (sizes.room + sizes.block) * sizes.narrow + (sizes.lines + sizes.block) * sizes.wide
    _run(kernel, TENSORS, tensors, _numbers(q, k, causal, mask, scale), sizes, scratch)
    quietly(np.log, total, total)
    quietly(np.add, total, highest, total)
    return True


def backward(
    g: Any, q: Any, k: Any, v: Any, out: Any, total: Any, causal: bool, mask: Any, scale: Any,
    results: tuple[Any, Any, Any],
) -> bool:  # fmt: skip
    """Gradients of queries, keys and values; whether that was served."""
    kernel = served(AttentionGradient("f4", _rows(), _VECTORS))
    if kernel is None:
        return False
    q, k, v, g, out = map(_straight, (q, k, v, g, out))
    if mask is not None:
        mask = _mask(mask, (*q.shape[:3], k.shape[2]))
    sizes = _sizes(k.shape[2], q.shape[3], causal)
    tensors = {
        "q": q, "k": k, "v": v, "mask": mask, "out": out, "total": total, "g": g,
        **dict(zip(("by_q", "by_k", "by_v"), results, strict=True)),
    }  # fmt: skip
    scratch = (3 * sizes.room + 4 * sizes.block) * sizes.narrow
    scratch += 2 * (sizes.lines + sizes.block) * sizes.wide
    _run(kernel, GRADIENT_TENSORS, tensors, _numbers(q, k, causal, mask, scale), sizes, scratch)
    return True
