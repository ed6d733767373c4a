"""Elements that share memory: within one tensor, and between tensors of one storage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .shapes import Shape, is_dense, numel

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor

__all__ = [
    "Geometry",
    "may_repeat",
    "partly_overlap",
    "refuse_partners",
    "refuse_repeats",
    "repeats",
    "shared_memory",
]

# Shape, strides and offset, in elements.
Geometry = tuple[Shape, Shape, int]


def repeats(shape: Shape, strides: Shape) -> bool:
    """Whether a layout certainly shows some element several times, as `expand` makes it do."""
    if 0 not in strides or 0 in shape:
        return False
    return any(step == 0 and n > 1 for step, n in zip(strides, shape, strict=True))


def may_repeat(shape: Shape, strides: Shape) -> bool:
    """Whether a layout may show some element several times: a cautious answer, mostly exact."""
    step = 0
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size == 0:
            return False
        if size == 1:
            continue
        if stride <= step:
            return True
        step += stride * (size - 1)
    return False


def partly_overlap(a: Geometry, b: Geometry) -> bool:
    """Whether two layouts of one storage share elements without showing the same ones.

    False where one has gaps between its elements: such layouts are not looked into.
    """
    (shape, strides, start), (other, steps, begin) = a, b
    count, number = numel(shape), numel(other)
    if not (count and number and is_dense(shape, strides) and is_dense(other, steps)):
        return False
    if (start, count) == (begin, number):
        return strides != steps
    return start < begin + number and begin < start + count


def refuse_repeats(t: Tensor) -> None:
    """Refuse to write a tensor that shows some element several times.

    Raises:
        RuntimeError: if ``t`` is one.
    """
    strides = (t._strided or t._geometry())[0]
    if 0 in strides and repeats(t._shape, strides):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single "
            "memory location. Please clone() the tensor before performing the operation."
        )


def refuse_partners(t: Tensor, args: Iterable[Any], copied: int = 0) -> None:
    """Refuse arguments that show another part of the memory that an element-wise op writes.

    Their elements would change while the op reads them. What shows exactly the same elements is fine.

    Args:
        t: the tensor that is written; it has a storage.
        args: of the call; other values than tensors are passed over.
        copied: dispatch keys of tensors that the op reads from, or writes to, copies of.

    Raises:
        RuntimeError: if there is such an argument.
    """
    own = t._storage
    for a in args:
        if (
            a.__class__ is t.__class__
            and a is not t
            and own is not None
            and ((s := a._storage) is own or (s is not None and s.root is own.root))
            and not (a._keys | t._keys) & copied
            and partly_overlap((a._shape, *a._geometry()), (t._shape, *t._geometry()))
        ):
            raise shared_memory()


def shared_memory() -> RuntimeError:
    """The error for an op that would read what it writes."""
    return RuntimeError(
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
        "single memory location. Please clone() the tensor before performing the operation."
    )
