"""Conjugate and negative views: what reads their elements has to conjugate or negate the memory's.

Such a tensor carries `DispatchKey.Conjugate` or `DispatchKey.Negative`, or both. The kernels of these
keys (`mindtorch_core.gradients.unresolved`) see to it that no kernel below them meets one.
"""

from __future__ import annotations

from typing import Final

from ..dispatch.keys import AUTOGRAD, CONJUGATE, NEGATIVE, UNRESOLVED
from .tensor import Tensor, make_tensor

__all__ = ["MARKS", "fill", "flipped", "flipped_view", "refuse_unresolved", "unresolved"]

# The bits by the names that files have for them.
MARKS: Final = {"conj": CONJUGATE, "neg": NEGATIVE}
_WORDS: Final = {"conj": "conjugate", "neg": "negative"}


def unresolved(t: Tensor) -> list[str]:
    """The names of a tensor's marks, as in `MARKS`."""
    return [name for name, bit in MARKS.items() if t._keys & bit] if t._keys & UNRESOLVED else []


def fill(t: Tensor) -> None:
    """Give a tensor its payload if it was made while its memory was pending, and that is there now."""
    if t._payload is None and t._storage is not None and t._storage.pending is None:
        t._fill(t._storage)


def flipped(t: Tensor, bits: int) -> Tensor:
    """Another tensor over the same memory with some marks the other way round; nobody's view.

    It has no history. Like `alias`, it is for kernels and whatever else runs below autograd.
    """
    fill(t)
    return make_tensor(
        t._payload, t._shape, t._dtype, t._device, (t._keys & ~AUTOGRAD) ^ bits, t._own_storage(),
        t._strided,
    )  # fmt: skip


def flipped_view(t: Tensor, bit: int) -> Tensor:
    """A view of a tensor with one mark the other way round."""
    view = flipped(t, bit)
    view._base = t if t._base is None else t._base
    if view._payload is None:  # it is pending: only a payload could be asked for its layout
        view._strided = t._geometry()
    t._own_storage().add_view(view)
    return view


def refuse_unresolved(t: Tensor, text: str, error: type[Exception] = RuntimeError) -> None:
    """Refuse to show the memory of a tensor whose elements are not what it holds.

    Args:
        t: the tensor.
        text: the error's, with ``{word}`` for conjugate or negative and ``{name}`` for conj or neg.
        error: its type.

    Raises:
        Exception: of that type.
    """
    for name in unresolved(t):
        raise error(text.format(word=_WORDS[name], name=name))
