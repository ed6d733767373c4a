"""Arithmetic on shapes and strides: broadcasting, views, memory layout. No tensors, no numbers.

Shapes are tuples of ints, strides and offsets count elements, and every rule is PyTorch's.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, SupportsIndex

from .whole_sizes import size_at, whole_size, whole_sizes

if TYPE_CHECKING:
    from .dtypes import dtype

__all__ = [
    "Size",
    "broadcast",
    "broadcast_shapes",
    "contiguous_strides",
    "dense_strides",
    "infer_size",
    "is_contiguous",
    "numel",
    "view_strides",
    "wrap_dim",
]

Shape = tuple[int, ...]


class Size(tuple[int, ...]):
    """A shape: a tuple of ints that prints as ``torch.Size([2, 3])``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def numel(self) -> int:
        """Number of elements."""
        return math.prod(self)

    def __new__(cls, sizes: Iterable[SupportsIndex] = ()) -> Size:
        """A shape of the given sizes.

        Raises:
            TypeError: if one is no integer.
        """
        made = super().__new__(cls, sizes)  # type: ignore[arg-type]  # looked into below
        if _INTS.issuperset(map(type, made)):
            return made
        return super().__new__(cls, map(size_at, range(len(made)), made))

    def __add__(self, other: tuple[Any, ...]) -> Size:
        if not isinstance(other, tuple):
            raise TypeError(
                f"can only concatenate tuple (not {type(other).__name__}) to torch.Size"
            )
        found = tuple.__add__(self, other)
        return SIZES[found] if _INTS.issuperset(map(type, other)) else Size(found)

    def __radd__(self, other: tuple[Any, ...]) -> Size:
        return Size(tuple.__add__(other, self))

    def __mul__(self, times: SupportsIndex) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    if not TYPE_CHECKING:  # tuple's overloads cannot be narrowed without repeating them

        def __getitem__(self, item: SupportsIndex | slice) -> Any:
            found = tuple.__getitem__(self, item)
            return SIZES[found] if found.__class__ is tuple else found


_INTS: Final = frozenset({int})


class _Sizes(dict[Shape, Size]):
    """Tuples of ints as a `Size`, each made once: programs ask for few shapes, and often."""

    def __missing__(self, shape: Shape) -> Size:
        if len(self) >= _MANY:
            self.clear()
        self[shape] = found = Size(shape)
        return found


_MANY: Final = 4096
SIZES: Final = _Sizes()


def show(shape: Iterable[int]) -> str:
    """A shape as PyTorch's messages print it: ``[2, 3]``."""
    return f"[{', '.join(map(str, shape))}]"


numel: Final[Callable[[Shape], int]] = math.prod


def broadcast(a: Shape, b: Shape) -> Shape:
    """Shape in which two shapes meet.

    Raises:
        RuntimeError: if they do not broadcast; the text gives sizes and dimension.
    """
    if a == b:
        return a
    if len(a) < len(b):
        longer, shorter, swapped = b, a, True
    else:
        longer, shorter, swapped = a, b, False
    lead = len(longer) - len(shorter)
    out = list(longer)
    for i in range(len(shorter) - 1, -1, -1):
        x, y = longer[lead + i], shorter[i]
        if x == y or y == 1:
            continue
        if x == 1:
            out[lead + i] = y
            continue
        first, second = (y, x) if swapped else (x, y)
        raise RuntimeError(
            f"The size of tensor a ({first}) must match the size of tensor b ({second}) "
            f"at non-singleton dimension {lead + i}"
        )
    return tuple(out)


def broadcast_all(shapes: Iterable[Shape]) -> Shape:
    """Shape in which any number of shapes meet."""
    out: Shape = ()
    for shape in shapes:
        out = broadcast(out, shape)
    return out


def broadcast_or_none(a: Shape, b: Shape) -> Shape | None:
    """Shape in which two shapes meet, or None."""
    try:
        return broadcast(a, b)
    except RuntimeError:
        return None


def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """Shape in which shapes meet; an int is a shape of one dimension.

    Raises:
        RuntimeError: if they do not broadcast, or one is no shape.
        ValueError: if a size is negative, where those before it would meet it.
    """
    out: list[int] = []
    for position, given in enumerate(shapes):
        if not isinstance(given, int | tuple | list):
            raise RuntimeError(
                f"shapes to broadcast are ints or sequences of ints, got {given!r} at index {position}"
            )
        shape = (given,) if isinstance(given, int) else tuple(map(operator.index, given))
        out[:0] = [1] * (len(shape) - len(out))
        for i in range(-1, -len(shape) - 1, -1):
            if shape[i] < 0 and out[i] in (1, shape[i]):
                raise ValueError(
                    f"a dimension of negative length does not broadcast: {shape} at index {position}"
                )
            if out[i] == 1:
                out[i] = shape[i]
            elif shape[i] not in (1, out[i]):
                raise RuntimeError(
                    f"a dimension of length {shape[i]} at {i} does not broadcast: the shape {shape} at "
                    f"index {position} does not meet {show(out)}, the shape of those before it"
                )
    return Size(out)


def contiguous_strides(shape: Shape) -> Shape:
    """Row-major strides; a dimension of size 0 counts as 1."""
    if len(shape) < 2:
        return (1,) if shape else ()
    out = [1] * len(shape)
    step = 1
    for i in range(len(shape) - 1, 0, -1):
        step *= shape[i] or 1
        out[i - 1] = step
    return tuple(out)


@functools.lru_cache(4096)
def is_contiguous(shape: Shape, strides: Shape) -> bool:
    """Whether elements follow each other row-major without gaps (sizes 0 and 1 do not matter)."""
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size == 0:
            return True
        if size != 1:
            if stride != expected:
                return 0 in shape
            expected *= size
    return True


def is_dense(shape: Shape, strides: Shape) -> bool:
    """Whether elements fill a stretch of memory, each in a place of its own, in any order."""
    if 0 in shape:
        return True
    expected = 1
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def dense_in_order(shape: Shape, strides: Shape, order: Shape) -> bool:
    """Whether elements fill a stretch of memory with dimensions from the innermost in ``order``."""
    if len(shape) != len(order):
        return False
    expected = 1
    for dim in order:
        if shape[dim] != 1:
            if strides[dim] != expected:
                return False
            expected *= shape[dim]
    return True


def strides_in_order(shape: Shape, order: Sequence[int]) -> Shape:
    """Strides of a dense tensor whose dimensions lie from the innermost in ``order``."""
    strides = [0] * len(order)
    step = 1
    for dim in order:
        strides[dim] = step
        step *= shape[dim]
    return tuple(strides)


def pointwise_strides(shape: Shape, operands: Sequence[tuple[Shape, Shape]]) -> Shape:
    """Strides of a freshly made element-wise result.

    The result follows the operands' order of dimensions: operands that agree on a permuted dense
    layout give a result of that layout. ``operands`` holds (shape, strides) of each tensor.
    """
    rank = len(shape)
    if rank < 2:
        return contiguous_strides(shape)
    if all(s == shape for s, _ in operands):
        alike = _common_format(shape, [st for _, st in operands])
        if alike is not None:
            return alike
    order = memory_order(shape, [_broadcast_strides(s, st, shape) for s, st in operands])
    return dense_strides(shape, order)


def dense_strides(shape: Shape, order: Sequence[int]) -> Shape:
    """Strides without gaps, for dimensions in an order from the innermost outwards."""
    out = [0] * len(shape)
    step = 1
    for dim in order:
        out[dim] = step
        step *= shape[dim] or 1
    return tuple(out)


def memory_order(shape: Shape, padded: Sequence[Shape]) -> list[int]:
    """Dimensions from the innermost outwards, by strides of operands of one shape."""
    # Insertion sort; ambiguous pairs keep their order.
    rank = len(shape)
    order = list(range(rank - 1, -1, -1))
    for i in range(1, rank):
        place = i
        for j in range(i - 1, -1, -1):
            compared = _compare_dims(order[j], order[place], padded, shape)
            if compared > 0:
                order[j], order[place] = order[place], order[j]
                place = j
            elif compared < 0:
                break
    return order


# Orders in which images and volumes lie with their channels innermost.
CHANNELS_LAST: Final = {4: (1, 3, 2, 0), 5: (1, 4, 3, 2, 0)}


def _common_format(shape: Shape, strides: Sequence[Shape]) -> Shape | None:
    """Strides of a result whose operands, all of its shape, lie alike; None if they do not."""
    if all(is_contiguous(shape, st) for st in strides):
        return contiguous_strides(shape)
    order = CHANNELS_LAST.get(len(shape))
    if order is not None and all(dense_in_order(shape, st, order) for st in strides):
        return strides_in_order(shape, order)
    first = strides[0]
    return first if all(st == first for st in strides) and is_dense(shape, first) else None


def _broadcast_strides(own: Shape, strides: Shape, shape: Shape) -> Shape:
    """Strides of an operand as part of a broadcast: 0 where its elements are repeated."""
    lead = len(shape) - len(own)
    return (0,) * lead + tuple(
        0 if n == 1 and shape[lead + i] != 1 else strides[i] for i, n in enumerate(own)
    )


def _compare_dims(a: int, b: int, strides: Sequence[Shape], shape: Shape) -> int:
    """1 if dimension ``a`` must lie outside ``b``, -1 if inside, 0 if no operand tells."""
    for st in strides:
        if st[a] == 0 or st[b] == 0:
            continue
        if st[a] != st[b]:
            return 1 if st[a] > st[b] else -1
        if shape[a] > shape[b]:
            return 1
    return 0


def wrap_dim(dim: int, rank: int) -> int:
    """Resolve a possibly negative dimension; a zero-dimensional tensor accepts -1 and 0.

    Raises:
        IndexError: if it is out of range; the text gives the range.
    """
    bound = rank or 1
    if -bound <= dim < bound:
        return dim if dim >= 0 else dim + bound
    if dim.__class__ is not int:  # bytes in a tensor are compared as such
        return wrap_dim(whole_size(dim), rank)
    raise IndexError(
        f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {dim})"
    )


def wrap_dims(dims: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Resolve the dimensions of a reduction; None and an empty list mean all of them.

    Raises:
        IndexError: if one is out of range.
        RuntimeError: if one is named twice.
    """
    if dims is None or (dims.__class__ is tuple and not dims):
        return tuple(range(rank))
    if isinstance(dims, int):
        return (wrap_dim(dims, rank),) if rank else (wrap_dim(dims, rank),)[:0]
    if hasattr(dims, "__index__") and not getattr(dims, "ndim", 0):  # as NumPy's integers
        return wrap_dims(operator.index(dims), rank)
    out = [wrap_dim(operator.index(d), rank) for d in dims]
    if len(set(out)) != len(out):
        twice = next(d for d in out if out.count(d) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    if not rank:
        return ()
    return tuple(out) or tuple(range(rank))


def reduced(shape: Shape, dims: tuple[int, ...], keepdim: bool) -> Shape:
    """Shape after reducing over ``dims`` (already resolved)."""
    if keepdim:
        return tuple(1 if i in dims else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in dims)


def infer_size(requested: Sequence[int], count: int) -> Shape:
    """Replace the one -1 of a requested shape so that it holds ``count`` elements.

    Raises:
        RuntimeError: if the shape cannot hold exactly ``count`` elements.
    """
    unknown = -1
    known = 1
    for i, n in enumerate(requested := whole_sizes(requested)):
        if n == -1:
            if unknown >= 0:
                raise RuntimeError("only one dimension can be inferred")
            unknown = i
        elif n < 0:
            raise RuntimeError(
                f"invalid shape dimension {n} at index {i} of shape {show(requested)}"
            )
        else:
            known *= n
    if unknown >= 0:
        if known == 0:
            if count == 0:
                raise RuntimeError(
                    f"cannot reshape tensor of 0 elements into shape {show(requested)} because "
                    f"the unspecified dimension size -1 can be any value and is ambiguous"
                )
        elif count % known == 0:
            out = list(requested)
            out[unknown] = count // known
            return tuple(out)
    elif known == count:
        return requested
    raise RuntimeError(f"shape '{show(requested)}' is invalid for input of size {count}")


@functools.lru_cache(4096)
def view_strides(shape: Shape, strides: Shape, new: Shape) -> Shape | None:
    """Strides that show the same memory in shape ``new``, or None if no strides can.

    The element counts must agree.
    """
    if numel(new) == 0:
        return strides if shape == new else contiguous_strides(new)
    if not shape:
        return (1,) * len(new)
    out = [0] * len(new)
    position = len(new) - 1
    base = strides[-1]  # stride of the innermost dimension of the current chunk
    size = 1  # elements of the current chunk in the old shape
    seen = 1  # elements of the current chunk in the new shape
    for i in range(len(shape) - 1, -1, -1):
        size *= shape[i]
        if i == 0 or (shape[i - 1] != 1 and strides[i - 1] != size * base):
            while position >= 0 and (seen < size or new[position] == 1):
                out[position] = seen * base
                seen *= new[position]
                position -= 1
            if seen != size:
                return None
            if i > 0:
                base = strides[i - 1]
                size = seen = 1
    return tuple(out) if position == -1 else None


def expand_strides(
    shape: Shape, strides: Shape, size: Sequence[int], d: dtype | None = None
) -> tuple[Shape, Shape]:
    """Shape and strides of ``tensor.expand(size)``; -1 keeps a size.

    Args:
        shape: the tensor's.
        strides: the tensor's.
        size: what it is expanded to.
        d: its dtype, for the error's text.

    Raises:
        RuntimeError: if a dimension other than of size 1 would change.
    """
    lead = len(size) - len(shape)
    if lead < 0:
        kind = "Tensor" if d is None else f"{d.label}Tensor"
        raise RuntimeError(
            f"expand(torch.{kind}{{{show(shape)}}}, size={show(size)}): the number of sizes provided "
            f"({len(size)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(shape)})"
        )
    out_shape: list[int] = []
    out_strides: list[int] = []
    for i in range(len(size) - 1, -1, -1):
        want = size[i]
        if want.__class__ is not int:
            want = whole_size(want)
        j = i - lead
        have = shape[j] if j >= 0 else 1
        inner = out_shape[-1] * out_strides[-1] if out_shape else 1
        stride = strides[j] if j >= 0 else inner if shape else 0
        if want == -1:
            if j < 0:
                raise RuntimeError(
                    f"The expanded size of the tensor ({want}) isn't allowed in a leading, "
                    f"non-existing dimension {i}"
                )
            want = have
        elif want < 0:
            raise RuntimeError(f"expand: invalid size {want} at dimension {i} of {show(size)}")
        if have != want:
            if have != 1:
                raise RuntimeError(
                    f"The expanded size of the tensor ({want}) must match the existing size "
                    f"({have}) at non-singleton dimension {i}.  Target sizes: {show(size)}.  "
                    f"Tensor sizes: {show(shape)}"
                )
            stride = 0
        out_shape.append(want)
        out_strides.append(stride)
    return tuple(reversed(out_shape)), tuple(reversed(out_strides))


def storage_extent(shape: Shape, strides: Shape, offset: int) -> int:
    """Number of storage elements that a layout needs, counted from the storage's start."""
    if numel(shape) == 0:
        return 0
    return offset + 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
