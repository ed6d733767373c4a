"""``tensor[...]``: what an index means, in terms of views and index ops."""

from __future__ import annotations

import sys
from typing import Any, Final

from ..dispatch.calls.binding import is_whole, python_number
from ..dispatch.functions import fn
from ..dispatch.keys import ACTIVE, AUTOGRAD, DispatchKey
from ..dispatch.overrides import of_pytorch
from ..dispatch.registry import registry
from ..opdefs.packets import front
from ..tensors.attached import attach
from ..tensors.tensor import Tensor
from ..values.dtypes import INTEGER, bool_, int64, uint8
from ..values.overlap import refuse_repeats, repeats
from ..values.own_frames import hide
from ..values.user_warnings import warn_user
from .creation import is_sequence, tensor

__all__ = ["getitem", "setitem"]


def getitem(self: Tensor, index: Any) -> Tensor:
    """``self[index]``: views for ints, slices, None and Ellipsis; a copy for masks and tensors.

    Raises:
        IndexError: if the index does not fit the tensor.
    """
    try:
        if type(index) is int:
            return _select(self, 0, index)
        viewed, tensors = _apply_views(self, index)
        if tensors is not None:
            return fn.index(viewed, tensors)
        if viewed is self:  # a view even so
            return (
                fn.slice(self, 0, 0, sys.maxsize)
                if type(index) is slice
                else front(registry.entry("alias"))(self)
            )
        return viewed
    except Exception as error:
        hide(error)
        raise


def setitem(self: Tensor, index: Any, value: Any) -> None:
    """``self[index] = value`` in place, with the value broadcast and converted.

    Raises:
        IndexError: if the index does not fit the tensor.
        RuntimeError: if the value does not broadcast.
        TypeError: if the value is neither a tensor nor a number.
        ValueError: if it is an int that int64 does not hold.
    """
    try:
        number = None
        if not isinstance(value, Tensor):
            number = python_number(value)
            if number is None:
                raise TypeError(
                    f"can't assign a {type(value).__name__} to a torch.{self._dtype.label}Tensor; make "
                    f"a tensor of it first"
                )
            if number.__class__ is int and not -(1 << 63) <= number < 1 << 63:
                raise ValueError(f"Overflow when unpacking long long: {number} does not fit int64")
        if index is False:  # names no element
            return
        viewed, tensors = _apply_views(self, index)
        if number is not None:
            if tensors is None:
                refuse_repeats(viewed)
                viewed.fill_(number)
                return
            mask = _only_mask(viewed, tensors)
            if mask is not None:
                viewed.masked_fill_(mask, number)
                return
            value = self.new_full((), number)
        value = _trimmed(value, len(viewed._shape) if tensors is None else 0)
        if tensors is None:
            # Expanded first: what broadcasts may be a part of what is written.
            viewed.copy_(value if value._shape == viewed._shape else value.expand(viewed._shape))
            return
        if not value._shape and value._device is not self._device:
            value = value.to(self._device)
        viewed.index_put_(tensors, value)
    except Exception as error:
        hide(error)
        raise


def _only_mask(viewed: Tensor, tensors: list[Tensor | None]) -> Tensor | None:
    """A mask that alone says where a number goes, if nobody looks at how; None for other indices.

    Elements that share memory take a number whoever looks, as they take that of `masked_fill_`.
    """
    mask, rank = tensors[0], len(viewed._shape)
    looked_at = ACTIVE or viewed.__class__ is not Tensor or viewed._keys & AUTOGRAD
    if looked_at and not repeats(viewed._shape, viewed._geometry()[0]):
        return None
    if mask is None or mask._dtype is not bool_:
        return None
    n = len(mask._shape)
    others = any(t is not None for t in tensors[1:]) or mask._device is not viewed._device
    if others or not n or mask._shape != viewed._shape[:n]:
        return None
    return mask if n == rank else mask.reshape(*mask._shape, *(1,) * (rank - n))


def _trimmed(value: Tensor, rank: int) -> Tensor:
    """Drop leading dimensions of size 1 while there are more than ``rank``."""
    while len(value._shape) > rank and value._shape[0] == 1:
        value = value.squeeze(0)
    return value


_MASKS: Final = frozenset({bool_, uint8})
_SEQUENCES: Final = frozenset({list, tuple, range})
_BATCHED: Final = int(DispatchKey.FuncTorchBatched)
_WHOLE: Final = slice(None)
_LONGEST_TUPLE: Final = 31  # A longer list is always one index, as in PyTorch.
_PARTS: Final = (Tensor, slice, list, tuple, range)


def _select(self: Tensor, dim: int, index: int, named: int | None = None) -> Tensor:
    """One slice; an error calls the dimension ``named``, as it counts before any was taken out."""
    shape = self._shape
    if not shape:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to a number"
        )
    if not -shape[dim] <= index < shape[dim]:
        raise IndexError(
            f"index {index} is out of bounds for dimension {dim if named is None else named} with "
            f"size {shape[dim]}"
        )
    return fn.select(self, dim, index)


def _items(self: Tensor, index: Any) -> tuple[list[Any], int]:
    """The index as a list, and how many dimensions it names.

    There is one Ellipsis at most: others stand for nothing where they end the index.
    """
    items = list(index) if isinstance(index, tuple) or _stands_for_tuple(index) else [index]
    used = ellipses = 0
    early = 0  # dimensions that are named before a second Ellipsis
    for item in items:
        kind = type(item)
        if kind is slice or kind is int:
            used += 1
        elif item is Ellipsis:
            ellipses += 1
            if ellipses == 2:
                early = used
        elif item is not None and kind is not bool:
            used += len(item._shape) if isinstance(item, Tensor) and item._dtype in _MASKS else 1
    if used > len(self._shape):
        raise IndexError(f"too many indices for tensor of dimension {len(self._shape)}")
    if ellipses > 1:
        if early < used < len(self._shape):
            raise IndexError("an index can only have a single ellipsis ('...')")
        first = next(i for i, item in enumerate(items) if item is Ellipsis)
        items = [item for i, item in enumerate(items) if i == first or item is not Ellipsis]
    return items, used


def _stands_for_tuple(index: Any) -> bool:
    """Whether a list is an index per dimension rather than one list of positions."""
    if type(index) is not list or len(index) > _LONGEST_TUPLE:
        return False
    for item in index:
        if item is None or item is Ellipsis or isinstance(item, _PARTS):
            break
        if getattr(item, "shape", None):
            break
    else:
        return False
    warn_user(
        "Using a non-tuple sequence for multidimensional indexing is deprecated: a list of lists, "
        "tensors, slices, None or `...` counts as one index per dimension. Write x[tuple(indices)] "
        "for that, or x[torch.tensor(indices)] for one index",
    )
    return True


def _apply_views(self: Tensor, index: Any) -> tuple[Tensor, list[Tensor | None] | None]:
    """Apply the parts of an index that are views.

    Returns:
        The view, and the index tensors by dimension (None for untouched dimensions), or None if
        there are none.
    """
    items, rank_used = _items(self, index)
    found: list[Tensor | None] = []
    out = self
    dim = 0
    taken = 0  # dimensions taken out so far less those put in: `dim + taken` counts in `self`
    any_tensor = False
    for item in items:
        kind = type(item)
        if kind is slice:
            if item != _WHOLE:
                out = _sliced(out, dim, item)
            dim += 1
        elif item is Ellipsis:
            dim += len(self._shape) - rank_used
        elif item is None:
            out = out.unsqueeze(dim)
            dim += 1
            taken -= 1
        elif (position := item if kind is int else _position(item)) is not None:
            out = _select(out, dim, position, dim + taken)
            taken += 1
        elif (truth := _truth(item)) is not None:
            out = out.unsqueeze(dim)
            _place(found, dim, _as_index([0] if truth else [], self))
            any_tensor = True
            dim += 1
            taken -= 1
        else:
            chosen = _index_tensor(item, self)
            any_tensor = True
            _place(found, dim, chosen)
            dim += max(len(chosen._shape), 1) if chosen._dtype in _MASKS else 1
            found += [None] * (dim - len(found))
    if not any_tensor:
        return out, None
    return out, _without_gaps(found)


def _position(item: Any) -> int | None:
    """What selects one slice, an integer of NumPy or a tensor without dimensions; else None."""
    kind = type(item)
    if isinstance(item, Tensor):
        if item._keys & _BATCHED:  # there is one for each sample
            return None
        whole = item._dtype.category == INTEGER and item._dtype is not uint8
        return int(item.item()) if whole and not item._shape else None
    if kind is bool or kind in _SEQUENCES or getattr(item, "shape", None):
        return None
    number = python_number(_alone(item))
    if number is not None:
        return number if type(number) is int else None
    return item.__index__() if hasattr(item, "__index__") else None


def _truth(item: Any) -> bool | None:
    """What keeps everything or nothing, a bool or a mask without dimensions; else None."""
    if isinstance(item, Tensor):
        return bool(item.item()) if item._dtype in _MASKS and not item._shape else None
    number = item if type(item) in _SEQUENCES else python_number(_alone(item))
    return number if isinstance(number, bool) else None


def _alone(item: Any) -> Any:
    """What an array without dimensions holds; anything else as it is."""
    return item.item() if _is_array(item) and getattr(item, "shape", None) == () else item


def _index_tensor(item: Any, like: Tensor) -> Tensor:
    """A tensor, array or sequence of positions, or a mask, as a tensor on the device of ``like``.

    A tensor on a third device stays there, and is refused by the op.

    Raises:
        IndexError: if it is none of them.
        TypeError: for a string.
    """
    if isinstance(item, Tensor):
        if item._dtype is uint8:
            warn_user(
                "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead: "
                "as a mask, or torch.int64 for positions"
            )
        moves = item._device is not like._device and item._device.type == "cpu"
        return item.to(like._device) if moves else item
    if _is_array(item) or (is_sequence(item) and not of_pytorch(type(item))):
        return _as_index(item, like)
    if isinstance(item, str):
        raise TypeError(
            f"new(): invalid data type 'str': a tensor is indexed by positions, not by the string "
            f"{item!r}"
        )
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
        f"indices (got {type(item).__name__})"
    )


def _is_array(item: Any) -> bool:
    """Whether something is an array, and not NumPy's kind of a number, which has an array's names too."""
    return hasattr(item, "__array_interface__") and hasattr(item, "__len__")


def _without_gaps(found: list[Tensor | None]) -> list[Tensor | None]:
    """Index tensors by dimension; a mask stands for all the dimensions it covers."""
    out: list[Tensor | None] = []
    skip = 0
    for t in found:
        if skip:
            skip -= 1
            continue
        out.append(t)
        if t is not None and t._dtype in _MASKS:
            skip = len(t._shape) - 1
    return out


def _place(found: list[Tensor | None], dim: int, t: Tensor) -> None:
    found += [None] * (dim - len(found))
    found.append(t)


def _sliced(t: Tensor, dim: int, s: slice) -> Tensor:
    start, stop = s.start, s.stop
    step = 1 if s.step is None else _bound(s.step)
    if step <= 0:
        raise ValueError("step must be greater than zero" if step else "slice step cannot be zero")
    if start is not None and start.__class__ is not int:
        start = _bound(start)
    if stop is not None and stop.__class__ is not int:
        stop = _bound(stop)
    return fn.slice(t, dim, start, stop, step)


def _bound(value: Any) -> int:
    try:
        return value.__index__()  # type: ignore[no-any-return]
    except AttributeError:
        raise TypeError(
            "slice indices must be integers or None or have an __index__ method"
        ) from None


def _as_index(values: Any, like: Tensor) -> Tensor:
    """A mask as it is, other numbers as positions, whatever their dtype, as in PyTorch."""
    found = tensor(values, device=like._device)
    if found._dtype in _MASKS:
        return found
    if found._dtype.category > INTEGER and not _is_array(values):
        _refuse_cut(values)
    return found.to(int64)


def _refuse_cut(values: Any) -> None:
    """Refuse numbers among positions that are no ints and no floats of Python, which are cut off.

    Raises:
        TypeError: for such a number.
    """
    for each in values:
        if isinstance(each, list | tuple):
            _refuse_cut(each)
        elif not isinstance(each, float | Tensor) and not is_whole(
            int(each) if isinstance(each, bool) else each
        ):
            raise TypeError(f"'{type(each).__name__}' object cannot be interpreted as an integer")


def delitem(self: Tensor, index: Any) -> None:
    """Refuse to take elements away.

    Raises:
        TypeError: in any case.
    """
    raise TypeError("Tensor does not support deleting items")


attach(__name__, {"__getitem__": getitem, "__setitem__": setitem, "__delitem__": delitem})
