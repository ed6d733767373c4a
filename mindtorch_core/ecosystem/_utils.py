"""Functions of PyTorch's own that libraries call."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NoReturn

from ..opdefs.torch_ops import ops
from ..tensors.tensor import Tensor
from ..values.devices import device as _device
from ..values.dtypes import dtype as _dtype
from .accelerator import current_accelerator, current_device_index, device_count

__all__: list[str] = []


def _element_size(dtype: _dtype) -> int:
    """Bytes of an element."""
    return dtype.itemsize


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """The index of a device.

    Raises:
        ValueError: for a device without an index, unless the current one is meant.
    """
    if isinstance(device, int):
        return device
    on = None if device is None else _device(device)
    if on is not None and on.type == "cpu":
        if allow_cpu:
            return -1
        raise ValueError(f"Expected a non cpu device, but got: {on}")
    if on is not None and on.index is not None:
        return on.index
    if not optional:
        raise ValueError(
            f"Expected a torch.device with a specified index or an integer, but got:{device}"
        )
    return 0 if current_accelerator() is None else current_device_index()


def _get_all_device_indices() -> list[int]:
    """Indices of the accelerator's devices."""
    return list(range(device_count()))


def _get_available_device_type() -> str | None:
    """The accelerator's type of devices, None without one."""
    found = current_accelerator()
    return None if found is None else found.type


def _get_device_module(device_type: str) -> Any:
    """What has the functions of a type of devices."""
    import mindtorch_core

    return getattr(mindtorch_core, device_type)


def _flatten_dense_tensors(tensors: Iterable[Tensor]) -> Tensor:
    """The elements of tensors, one after another."""
    joined: Tensor = ops.aten.cat([each.contiguous().view(-1) for each in tensors])
    return joined


def _unflatten_dense_tensors(flat: Tensor, tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Views of what `_flatten_dense_tensors` gave, with the shapes of tensors."""
    made, start = [], 0
    for each in tensors:
        made.append(flat.narrow(0, start, each.numel()).view_as(each))
        start += each.numel()
    return tuple(made)


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Tensors of one dtype together, in groups that hold no more than so many bytes, where several do."""
    groups: dict[str, list[Tensor]] = {}
    for each in tensors:
        group = groups.setdefault(each.type(), [])
        if group and sum(map(_bytes, group)) + _bytes(each) > size_limit:
            yield group
            group = groups[each.type()] = []
        group.append(each)
    yield from groups.values()


def _bytes(tensor: Tensor) -> int:
    return int(tensor.numel() * tensor.element_size())


class classproperty:
    """A property of a class."""

    def __init__(self, func: Callable[[Any], Any]) -> None:
        self.func = func

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """What the function gives for the class."""
        return self.func(type(instance) if owner is None else owner)


class ExceptionWrapper:
    """An exception with its traceback as text, to be raised in another thread or process.

    Args:
        exc_info: as ``sys.exc_info()``, which is the default.
        where: where it was raised, such as "in worker 1".
    """

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, error, trace = sys.exc_info() if exc_info is None else exc_info
        self.exc_type: Any = kind
        self.exc_msg = "".join(traceback.format_exception(kind, error, trace))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raise an exception of the same class, whose text has the traceback.

        Raises:
            Exception: of that class; RuntimeError if it cannot be made of a text.
        """
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            text = _Lines(text)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=text)
        try:
            error = self.exc_type(text)
        except Exception:  # noqa: BLE001  (a class of somebody else)
            raise RuntimeError(text) from None
        raise error


class _Lines(str):
    """A text that a KeyError shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


_REBUILDING: Final = (
    "_rebuild_meta_tensor_no_storage", "_rebuild_parameter", "_rebuild_parameter_with_state",
    "_rebuild_sparse_tensor", "_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    """What pickles of tensors call, as `torch.load` does."""
    if name not in _REBUILDING:
        raise AttributeError(f"module 'torch._utils' has no attribute {name!r}", name=name)
    from ..serialization.loading import rebuilding

    return rebuilding(name)
