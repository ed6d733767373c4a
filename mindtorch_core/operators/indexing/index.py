"""Picking and placing elements by index tensors, and joining tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.keys import AUTOGRAD
from ...dispatch.opdef import NONDIFF, TensorSpec
from ...dispatch.registry import registry
from ...gradients.conform import sum_to
from ...opdefs import rules
from ...opdefs.define import EVERYWHERE, op, public
from ...opdefs.packets import front
from ...tensors.tensor import Tensor
from ...values.devices import row_of
from ...values.dtypes import BOOL, COMPLEX, bool_, checked_number, int32, int64, uint8
from ...values.shapes import (
    Shape,
    broadcast_all,
    broadcast_or_none,
    dense_strides,
    memory_order,
    numel,
    show,
)

Indices = Sequence[Tensor | None]


def index_shape(shape: Shape, indices: Indices) -> Shape:
    """Shape of ``t[indices]`` for integer index tensors; None keeps a dimension.

    Raises:
        IndexError: if there are too many indices or they do not broadcast.
    """
    if len(indices) > len(shape):
        raise IndexError(
            f"too many indices for tensor of dimension {len(shape)} (got {len(indices)})"
        )
    found = [t for t in indices if t is not None]
    try:
        common = broadcast_all(t._shape for t in found)
    except RuntimeError:
        shapes = ", ".join(show(t._shape) for t in found)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None
    at = [i for i, t in enumerate(indices) if t is not None]
    rest = [n for i, n in enumerate(shape) if i >= len(indices) or indices[i] is None]
    adjacent = at == list(range(at[0], at[-1] + 1)) if at else True
    place = at[0] if at and adjacent else 0
    return (*rest[:place], *common, *rest[place:])


def index_spec(self: Tensor, indices: Indices) -> TensorSpec:
    """What ``self[indices]`` is for integer index tensors; it lies in the order of these and of ``self``."""
    shape, own = index_shape(self._shape, indices), self._geometry()[0]
    for t in indices:
        if t is not None and len(t._shape) > 1 and not _falls(t._geometry()[0]):
            break
    else:
        if _falls(own):
            return TensorSpec(shape, self._dtype)
    given = [(t._shape, t._geometry()[0]) for t in indices if t is not None]
    at = [i for i, t in enumerate(indices) if t is not None]
    width = len(shape) - len(own) + len(at)
    place = at[0] if at and at[-1] - at[0] < len(at) else 0  # of the dimensions of the indices
    rest = [step for i, step in enumerate(own) if i not in at]
    operands = [(*rest[:place], *(0,) * width, *rest[place:])]
    for sizes, steps in given:
        wide = [step if n != 1 else 0 for n, step in zip(sizes, steps, strict=True)]
        before, behind = place + width - len(wide), len(rest) - place
        operands.append((*(0,) * before, *wide, *(0,) * behind))
    return TensorSpec(shape, self._dtype, dense_strides(shape, memory_order(shape, operands)))


def _falls(strides: Shape) -> bool:
    """Whether dimensions lie in their own order, the last one innermost."""
    return len(strides) < 2 or [*strides] == sorted(strides, reverse=True)


def _positions(mask: Tensor) -> Sequence[Tensor]:
    return mask.nonzero().unbind(1)  # type: ignore[no-any-return]


def integer_indices(
    self: Tensor, indices: Indices, positions: Callable[[Tensor], Sequence[Tensor]] = _positions
) -> list[Tensor | None]:
    """Indices with boolean masks turned into integer positions.

    Args:
        self: the tensor.
        indices: its indices.
        positions: gives a mask's, by dimension.

    Raises:
        IndexError: for indices of another dtype or masks of another shape.
        RuntimeError: for indices on another device, unless they are on the CPU.
    """
    out: list[Tensor | None] = []
    for t in indices:
        if t is None:
            out.append(None)
        elif t._device is not self._device and t._device.type != "cpu":
            raise RuntimeError(
                f"indices should be either on cpu or on the same device as the indexed tensor "
                f"({self._device})"
            )
        elif t._dtype.category == BOOL or t._dtype is uint8:
            for i, n in enumerate(t._shape):
                at = len(out) + i
                if at >= len(self._shape) or self._shape[at] != n:
                    raise IndexError(
                        f"The shape of the mask {show(t._shape)} at index {i} does not match the "
                        f"shape of the indexed tensor {show(self._shape)} at index {at}"
                    )
            out += positions(t)
        elif t._dtype is not int64 and t._dtype is not int32:
            raise IndexError(
                f"tensors used as indices must be long, int, byte or bool tensors, got {t._dtype}"
            )
        else:
            out.append(t)
    return out


op(
    "index(Tensor self, Tensor?[] indices) -> Tensor",
    overloads=("Tensor",),
    doc="Elements at the positions that index tensors give, as ``input[indices]``.",
    decomposition=lambda self, indices: _index(self, indices),
    namespaces=("torch",),
)


def _index(self: Tensor, indices: Indices) -> Tensor:
    return fn._index_positions(self, integer_indices(self, indices))


op(
    "_index_positions(Tensor self, Tensor?[] indices) -> Tensor",
    doc="`index` by integer tensors only.",
    rule=index_spec,
    grad={
        "self": lambda g, self_shape, indices: fn._index_put_positions(
            g.new_zeros(self_shape), indices, g, True
        )
    },
    node_names=("IndexBackward0",),
    primitive=True,
    crosses_devices=True,
    namespaces=("torch",),
    written="x[...]",
)


def _index_put_rule(
    self: Tensor, indices: Indices, values: Tensor, accumulate: bool = False
) -> TensorSpec:
    shape = index_shape(self._shape, indices)
    if broadcast_or_none(values._shape, shape) != shape:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {show(values._shape)} cannot be broadcast to "
            f"indexing result of shape {show(shape)}"
        )
    if values._dtype is not self._dtype:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {self._dtype.label} "
            f"for the destination and {values._dtype.label} for the source."
        )
    return rules.same(self)


op(
    "_index_put_positions(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    doc="A copy of ``input`` with values put (or added) at integer positions.",
    rule=_index_put_rule,
    grad={
        "self": lambda g, indices, accumulate: (
            g if accumulate else fn._index_put_positions(g, indices, g.new_zeros(()), False)
        ),
        "values": lambda g, indices, values_shape: _sum_values(g, indices, values_shape),
    },
    decomposition=lambda self, indices, values, accumulate=False: (
        self.clone()._index_put_positions_(indices, values, accumulate)
    ),
    node_names=("IndexPutBackward0",),
    inplace=True,
    inplace_primitive=True,
    puts=True,
    crosses_devices=True,
    namespaces=("torch", "Tensor"),
    written="x[...] = ...",
)


def _sum_values(g: Any, indices: Any, shape: Shape) -> Any:
    return sum_to(fn._index_positions(g, indices), shape)


op(
    "index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)",
    doc="Put values at the positions that index tensors give; ``accumulate`` adds them.",
    decomposition=lambda self, indices, values, accumulate=False: _put(
        self, indices, values, accumulate, "_"
    ),
    puts=True,
    crosses_devices=True,
    namespaces=EVERYWHERE,
)
op(
    "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    doc="A copy with values put at the positions that index tensors give.",
    decomposition=lambda self, indices, values, accumulate=False: _put(
        self, indices, values, accumulate, ""
    ),
    crosses_devices=True,
)


def _put(self: Tensor, indices: Indices, values: Tensor, accumulate: bool, end: str) -> Tensor:
    """Values put in place, where the names of ops end with ``_``, or into a copy."""
    given = [t for t in indices if t is not None]
    masks = [t for t in given if t._dtype.category == BOOL or t._dtype is uint8]
    executes = row_of(self._device.type).runtime.executes
    if len(given) == len(masks) == 1 and numel(values._shape) == 1 and not accumulate:
        # One number goes by `masked_fill`, which asks nobody where the mask holds: not in pipelines, and not
        # where no elements are.
        if masks[0]._dtype is uint8:
            integer_indices(self, indices, lambda mask: ())
            rules.refuse_other_masks(masks[0])
        if values._dtype.category == COMPLEX and self._dtype.category != COMPLEX:
            # Refused if an imaginary part would be lost.
            number = checked_number(values.item(), self._dtype) if executes else 0
            values = self.new_full((), number)
        if (mask := _aligned(self, indices, masks[0], values)) is not None:
            filled: Tensor = getattr(self, f"masked_fill{end}")(mask, values.reshape(()))
            return filled
        values = values.to(self._dtype)
    if masks and not executes:
        found = _unknown_indices(self, indices, values)
    else:
        found = integer_indices(self, indices)
    put: Tensor = getattr(self, f"_index_put_positions{end}")(found, values, accumulate)
    return put


def _aligned(self: Tensor, indices: Indices, mask: Tensor, values: Tensor) -> Tensor | None:
    """A mask that alone says where a number goes, for `masked_fill`; None where that does not fit."""
    at = [t is mask for t in indices].index(True)
    rank, shape = len(mask._shape), self._shape
    if (self._keys | values._keys) & AUTOGRAD or not rank:
        return None
    if not mask._device is self._device is values._device or shape[at : at + rank] != mask._shape:
        return None
    rest = len(shape) - at - rank
    aligned: Tensor = mask.reshape(*mask._shape, *(1,) * rest)
    return aligned


def _unknown_indices(self: Tensor, indices: Indices, values: Tensor) -> list[Tensor | None]:
    """Indices for a device without elements: masks hold wherever the values fit."""
    found: list[Tensor | None] = []
    for count in (1, *values._shape):
        places = self.new_empty((count,), dtype=int64)

        def unknown(mask: Tensor, at: Tensor = places) -> list[Tensor]:
            return [at] * len(mask._shape)

        found = integer_indices(self, indices, unknown)
        try:
            shape = index_shape(self._shape, found)
        except IndexError:
            continue
        if broadcast_or_none(values._shape, shape) == shape:
            break
    return found


op(
    "nonzero(Tensor self) -> Tensor",
    doc="Positions of non-zero elements, one row each.",
    grad=NONDIFF,
    primitive=True,
    data_dependent=True,
    out=True,
    out_needs=("dtype",),
)
op(
    "nonzero_numpy(Tensor self) -> Tensor[]",
    doc="Positions of non-zero elements, a tensor per dimension.",
    decomposition=lambda self: (self if self._shape else self.unsqueeze(0)).nonzero().unbind(1),
    namespaces=(),
)


@public("torch", "Tensor")
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """Positions of non-zero elements.

    Args:
        input: the tensor.
        out: receives the result.
        as_tuple: a tensor per dimension, rather than one tensor with a row per position.

    Example:
        >>> torch.nonzero(torch.tensor([[0, 1], [2, 0]]))
        tensor([[0, 1],
                [1, 0]])
    """
    if not as_tuple:
        found = front(registry.entry("nonzero"))
        return found(input) if out is None else found(input, out=out)
    if out is not None:
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    return front(registry.entry("nonzero_numpy"))(input)


op(
    "masked_select(Tensor self, Tensor mask) -> Tensor",
    doc="Elements where the mask holds, in one dimension.",
    decomposition=lambda self, mask: _masked_select(self, mask),
    out=True,
    out_needs=("apart", "dtype"),
)


def _masked_select(self: Tensor, mask: Tensor) -> Tensor:
    if mask._dtype is not bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = broadcast_all((self._shape, mask._shape)) or (1,)
    return _index(self.expand(shape), [mask.expand(shape)])


# ---- along a dimension --------------------------------------------------------------------------


def _take_rule(self: Tensor, index: Tensor) -> TensorSpec:
    if index._dtype is not int64:
        raise RuntimeError(
            f"take(): Expected a long tensor for index, but got {index._dtype.label}"
        )
    if numel(index._shape) and not numel(self._shape):
        raise IndexError("take(): tried to take from an empty tensor")
    return TensorSpec(index._shape, self._dtype)


def _take(self: Tensor, index: Tensor) -> Tensor:
    _take_rule(self, index)
    count = numel(self._shape)
    try:
        return fn._index_positions(self.reshape(-1), [index]).contiguous()
    except IndexError:
        outside = index[(index < -count) | (index >= count)]
    raise IndexError(
        f"out of range: tried to access index {outside[0].item()} on a tensor of {count} elements."
    )


def _take_grad(g: Any, self_shape: Shape, index: Any) -> Any:
    flat = g.new_zeros((numel(self_shape),))
    return fn._index_put_positions(flat, [index], g, True).view(self_shape)


op(
    "take(Tensor self, Tensor index) -> Tensor",
    doc="Elements at positions in the tensor read as one row.",
    rule=_take_rule,
    grad={"self": _take_grad},
    decomposition=_take,
    out=True,
    out_needs=("apart", "dtype"),
)
