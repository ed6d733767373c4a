"""A tensor's memory as programs handle it: its storage, sharing, page-locking, files."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from ..tensors.attached import attach
from ..tensors.autograd_state import born
from ..tensors.tensor import Tensor
from ..tensors.unresolved import unresolved
from ..values.devices import concrete, device
from ..values.dtypes import dtype, get_default_dtype
from ..values.layouts import check_memory, layout
from ..values.memory_formats import channels_last, contiguous_format, has_format, memory_format
from ..values.own_frames import refusing
from ..values.shapes import memory_order
from .pickling import rebuild_tensor
from .pinning import is_pinned, pinned
from .storages import UntypedStorage, share_tensor

if TYPE_CHECKING:
    from .typed_storage import TypedStorage

__all__ = ["from_file"]


def storage(self: Tensor) -> TypedStorage:
    """The memory the tensor and its views share, counted in its elements; `untyped_storage` in bytes."""
    from .typed_storage import warn_removal

    warn_removal()
    return _typed_storage(self)


def _typed_storage(self: Tensor) -> TypedStorage:
    from .typed_storage import wrapped

    return wrapped(self.untyped_storage(), self._dtype)


def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """Its dimensions, from the outermost in memory to the innermost.

    Args:
        self: the tensor.
        ambiguity_check: True refuses a tensor with a dimension of size 1, or equal strides side by side; so
            does a list of memory formats, unless exactly one of them fits.

    Raises:
        TypeError: if ``ambiguity_check`` is something else.
        RuntimeError: if the check refuses the tensor.

    Example:
        >>> torch.empty(2, 3, 5, 7, memory_format=torch.channels_last).dim_order()
        (0, 2, 3, 1)
    """
    formats = ambiguity_check if isinstance(ambiguity_check, list) else []
    if not isinstance(ambiguity_check, bool | list) or not all(
        isinstance(each, memory_format) for each in formats
    ):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    shape, strides = self._shape, self._geometry()[0]
    if ambiguity_check is not False:
        several = 1 in shape or any(a == b for a, b in itertools.pairwise(strides))
        if several and sum(has_format(shape, strides, each) for each in formats) != 1:
            raise RuntimeError(
                "The tensor does not have unique dim order, or cannot map to exact one of the given memory "
                "formats."
            )
    if len(shape) < 2:
        return tuple(range(len(shape)))
    dense = [f for f in (contiguous_format, channels_last) if has_format(shape, strides, f)]
    if len(dense) == 1:  # it says the order where sizes of 1 leave it open
        return dense[0].order[::-1] or tuple(range(len(shape)))
    if ambiguity_check and (0 in strides or len({*strides}) < len(strides)):
        raise RuntimeError("The tensor does not have unique dim order.")
    return tuple(reversed(memory_order(shape, [strides])))


def storage_type(self: Tensor) -> Any:
    """The class of its `storage`."""
    from .typed_storage import CLASSES, TypedStorage

    return CLASSES.get(f"{self._dtype.label}Storage", TypedStorage)


def share_memory_(self: Tensor) -> Tensor:
    """Move its memory to where other processes see what is written to it; on the CPU only.

    All tensors over the memory move with it; NumPy arrays that were made of them before do not.

    Raises:
        RuntimeError: on devices other than the CPU.
    """
    share_tensor(self)
    return self


def is_shared(self: Tensor) -> bool:
    """Whether other processes see what is written to its memory."""
    mapping = self._own_storage().mapping
    return mapping is not None and mapping.shared


def pin_memory(self: Tensor, device: device | str | None = None) -> Tensor:
    """The tensor in page-locked memory of the host, from which an accelerator copies faster.

    It is the tensor itself if its memory is such already.

    Raises:
        RuntimeError: if no accelerator is there, it has no such memory, or the tensor is not on the CPU.
    """
    own = self._settled()._own_storage()
    packed = self if is_pinned(own, device) else self.detach().contiguous()
    target = pinned(packed._settled()._own_storage(), device)
    if target is own:
        return self
    strides, offset = packed._geometry()
    marks = unresolved(packed)
    return rebuild_tensor(
        Tensor, target, packed._shape, strides, offset, packed._dtype, False, *marks
    )


def _is_pinned(self: Tensor, device: device | str | None = None) -> bool:
    """Whether its memory is page-locked for an accelerator."""
    return is_pinned(self._own_storage(), device)


@refusing
def from_file(
    filename: str,
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: device | str | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor with one dimension whose memory is a file.

    Args:
        filename: its path.
        shared: whether writes to the tensor change the file, which is made where there is none.
        size: number of elements, from the file's beginning.
        dtype: of the elements; the default one if None.
        layout: dense.
        device: the CPU.
        pin_memory: must be False.

    Raises:
        RuntimeError: if the file cannot be opened, or is too short; for another device, or if memory
            is to be page-locked.
    """
    check_memory(layout, None)
    if pin_memory:
        raise RuntimeError("tensors constructed from a file cannot be pinned")
    if device is not None and concrete(device).type != "cpu":
        raise RuntimeError(f"a tensor whose memory is a file is on the CPU, not on {device}")
    d, count = dtype or get_default_dtype(), size or 0
    if count < 0:
        raise RuntimeError(f"from_file: the number of elements is negative: {count}")
    memory = UntypedStorage.from_file(filename, bool(shared), count * d.itemsize)
    return born(rebuild_tensor(Tensor, memory, (count,), (1,), 0, d, False))


attach(
    __name__,
    {
        "dim_order": dim_order,
        "storage": storage,
        "_typed_storage": _typed_storage,
        "storage_type": storage_type,
        "share_memory_": share_memory_,
        "is_shared": is_shared,
        "pin_memory": pin_memory,
        "is_pinned": _is_pinned,
    },
)
