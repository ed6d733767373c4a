"""What stands between a table entry and a kernel: key sets, promotion, one device, checked results.

Each adapter is put around a kernel when a table entry is computed, and only where it is needed, so
that a call of the plain case reaches the kernel itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..values.devices import TABLE
from ..values.dtypes import cast_number
from ..values.errors import NoKernelError
from .entry import Kernel, KernelRecord, OpEntry
from .keys import BACKENDS, PRIVATE_USE_KEYS, DispatchKey, DispatchKeySet

__all__ = ["as_called", "device_of_all", "no_kernel", "same_device", "shown", "tensors_in"]


def as_called(entry: OpEntry, record: KernelRecord, mask: int) -> Kernel:
    """The function to put into the table for a registered kernel."""
    fn = record.fn
    if record.with_keyset:
        keyset = DispatchKeySet(mask)
        return lambda *args, **kwargs: fn(keyset, *args, **kwargs)
    definition = entry.definition
    if definition is None:
        return fn
    what = definition if definition.functional is None else definition.functional
    if what.traits.copies and any(entry.record(k) is record for k in PRIVATE_USE_KEYS):
        return _with_shapes_checked(fn, definition.rule)
    if record.promoted or not definition.operands.promotes:
        return fn
    return _with_promotion(fn, definition.operands.compute_dtype, definition.operands.first_operand)


def _with_shapes_checked(fn: Kernel, rule: Any) -> Kernel:
    """Let the op's rule refuse shapes before a vendor's copy sees them, as it does in pipelines.

    What most ops are made of ends in a copy, so its words are those that users see; and a kernel that
    trusts the shapes would write beyond its memory.
    """

    def copied(self: Any, src: Any, *args: Any, **kwargs: Any) -> Any:
        if self._shape != src._shape:
            rule(self, src)
        return fn(self, src, *args, **kwargs)

    return copied


def _with_promotion(fn: Kernel, compute_dtype: Kernel, start: int) -> Kernel:
    """Hand a kernel tensors of one dtype: the promoted one, numbers made into tensors.

    Arguments before position ``start`` are handed on as they are.
    """

    def promoted(*args: Any, **kwargs: Any) -> Any:
        operands = args[start:]
        target = compute_dtype(*operands, **kwargs)
        if all(getattr(a, "_dtype", None) is target for a in operands):
            return fn(*args, **kwargs)
        at = next(a for a in args if hasattr(a, "_dtype"))
        return fn(*args[:start], *(_operand(a, target, at) for a in operands), **kwargs)

    return promoted


def _operand(value: Any, target: Any, at: Any) -> Any:
    """One operand as a tensor of dtype ``target`` on the device of ``at``."""
    if hasattr(value, "_dtype"):
        return value if value._dtype is target else value.to(target)
    if isinstance(value, int | float | complex):
        return at.new_full((), cast_number(value, target), dtype=target)
    return value


def tensors_in(values: Any) -> Iterator[Any]:
    """Every tensor among arguments, looking into lists and tuples."""
    for value in values:
        if hasattr(value, "_keys"):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors_in(value)


def device_of_all(entry: OpEntry, tensors: Sequence[Any]) -> Any:
    """The device on which all tensors are but zero-dimensional ones of the CPU; None if there is no other.

    Raises:
        RuntimeError: if they are on several.
    """
    devices = {t._device for t in tensors if t._shape or t._device.type != "cpu"}
    if len(devices) > 1:
        first, second = sorted(map(str, devices))[:2]
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, "
            f"{first} and {second}! (when calling {entry.name})"
        )
    return devices.pop() if devices else None


def same_device(
    entry: OpEntry,
    kernel: Kernel,
    missing: tuple[DispatchKey, ...],
    at_backends: Callable[[OpEntry, int], Kernel],
) -> Kernel:
    """Guard a kernel chosen among several backends.

    A zero-dimensional CPU tensor may accompany tensors of another device, as in PyTorch; anything
    else on a second device is an error. So is memory of a PrivateUse device without a kernel.
    """
    definition = entry.definition
    crosses = definition is not None and definition.operands.crosses_devices
    if crosses == "as they are":
        return kernel
    if crosses:
        return lambda self, /, *args, **kwargs: _at_first(entry, at_backends, self, args, kwargs)

    def guarded(*args: Any, **kwargs: Any) -> Any:
        tensors = list(tensors_in((*args, *kwargs.values())))
        for t in tensors:
            if any(t._keys & key for key in missing):
                raise no_kernel(entry, t._device.type)
        target = device_of_all(entry, tensors)
        if target is not None:
            args = tuple(
                a.to(target) if hasattr(a, "_keys") and a._device is not target else a for a in args
            )
        return kernel(*args, **kwargs)

    return guarded


def _at_first(
    entry: OpEntry,
    at_backends: Callable[[OpEntry, int], Kernel],
    self: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Run an op on the device of its first argument, with the other tensors moved there."""

    def moved(value: Any) -> Any:
        if hasattr(value, "_keys"):
            return value if value._device is self._device else value.to(self._device)
        return [moved(v) for v in value] if isinstance(value, list | tuple) else value

    kernel = at_backends(entry, self._keys & BACKENDS)
    return kernel(self, *map(moved, args), **{k: moved(v) for k, v in kwargs.items()})


def shown(backend: DispatchKey) -> str:
    """What users know a backend by: its device name where it holds a PrivateUse key."""
    if backend in PRIVATE_USE_KEYS:
        for row in TABLE.rows():
            if row.key == backend:
                return row.type
    return backend.name


def no_kernel(entry: OpEntry, where: str) -> NoKernelError:
    """The error for an op without a kernel at a backend."""
    have = ", ".join(k.name for k in tuple(entry.kernels)) or "none"
    return NoKernelError(
        f"Could not run '{entry.name}' with arguments from the '{where}' backend.\n"
        f"  why: neither a kernel for it nor a decomposition into other ops is registered; "
        f"'{entry.name}' has kernels at: {have}.\n"
        f"  fix: move the arguments to a device that has it, or register a kernel with "
        f"registry.register_kernel({entry.name!r}, {where!r}, fn).",
        op=entry.name,
        device=where,
    )
