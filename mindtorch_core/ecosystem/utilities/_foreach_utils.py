"""``torch.utils._foreach_utils``: tensors in groups that one function over lists can take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ...tensors.tensor import Tensor
from ...values.devices import TABLE, device
from ...values.dtypes import dtype

__all__ = [
    "_device_has_foreach_support",
    "_get_foreach_kernels_supported_devices",
    "_get_fused_kernels_supported_devices",
    "_group_tensors_by_device_and_dtype",
    "_has_foreach_support",
]

_Lists: TypeAlias = list[list[Tensor | None]]


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The kinds of devices where a function over lists is more than a loop: those besides the CPU."""
    return [kind for kind in tuple(TABLE) if kind not in ("cpu", "meta")]


def _get_fused_kernels_supported_devices() -> list[str]:
    """The kinds of devices where an optimizer may be fused: all that compute."""
    return [kind for kind in tuple(TABLE) if kind != "meta"]


def _device_has_foreach_support(device: device) -> bool:
    """Whether functions over lists run on a device: they do on all, as a loop at least."""
    return device.type == "cpu" or device.type in _get_foreach_kernels_supported_devices()


def _has_foreach_support(tensors: Sequence[Any], device: device) -> bool:
    """Whether functions over lists take these tensors."""
    return _device_has_foreach_support(device) and all(
        t is None or isinstance(t, Tensor) for t in tensors
    )


def _group_tensors_by_device_and_dtype(
    tensorlistlist: _Lists, with_indices: bool = False
) -> dict[tuple[device, dtype], tuple[_Lists, list[int]]]:
    """Lists of tensors, those of one place in groups by device and dtype of the first list's tensor.

    Args:
        tensorlistlist: lists of one length; all but the first may have None.
        with_indices: whether the places in the lists are given too.

    Raises:
        RuntimeError: if there is no list, or they differ in length.
    """
    if not tensorlistlist or any(len(each) != len(tensorlistlist[0]) for each in tensorlistlist):
        raise RuntimeError("expected lists of tensors, at least one, all of the same length")
    found: dict[tuple[device, dtype], tuple[_Lists, list[int]]] = {}
    for i, first in enumerate(tensorlistlist[0]):
        if first is None:
            raise RuntimeError("the first list must have a tensor in every place")
        lists, places = found.setdefault(
            (first.device, first.dtype), ([[] for _ in tensorlistlist], [])
        )
        for into, each in zip(lists, tensorlistlist, strict=True):
            into.append(each[i])
        if with_indices:
            places.append(i)
    return found
