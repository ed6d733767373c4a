"""Warnings about registrations that are allowed, and rarely meant."""

from __future__ import annotations

from collections.abc import Iterable

from ..values.devices import TABLE, DeviceRow
from .entry import KernelRecord, OpEntry
from .keys import AUTOGRAD_OF, BACKENDS, PRIVATE_USE_KEYS, DispatchKey
from .nearest import suggestion
from .whole import by_parts_because

__all__ = ["overriding", "passed_over", "passed_over_in_training", "unheard_of"]


def overriding(name: str, key: DispatchKey, before: KernelRecord, now: KernelRecord) -> str:
    """The warning for a kernel that takes the place of another."""

    def shown(record: KernelRecord) -> str:
        by = f" ({record.distribution})" if record.distribution else ""
        return f"{record.source}{by}"

    return (
        f"Overriding a previously registered kernel for the same operator and the same dispatch "
        f"key: {name} at {key}\n  previous kernel: {shown(before)}\n  new kernel: {shown(now)}"
    )


def unheard_of(name: str, record: KernelRecord, known: Iterable[str]) -> str:
    """The warning for a plugin's kernel of an op that does not exist."""
    others = [each for each in known if each != name]
    near = suggestion(name.removeprefix("aten::"), [n.removeprefix("aten::") for n in others])
    return (
        f"{record.distribution} registers a kernel for '{name}', and there is no such op: nothing "
        f"will call it.{near}\n  kernel: {record.source}"
    )


def _row(key: DispatchKey) -> DeviceRow | None:
    """The device that has a key, if there is one."""
    return next((row for row in TABLE.rows() if row.key == key), None)


def passed_over(entry: OpEntry, key: DispatchKey) -> str:
    """Why calls that require grad do not reach a backend's kernel of an op; empty if they do.

    Kernels of in-place forms, and those that write lists of tensors as optimizers do, are for calls
    without gradients anyway.
    """
    d = entry.definition
    if d is None or d.grad is not None or d.decomposition is None or d.functional is not None:
        return ""
    own, row = AUTOGRAD_OF.get(key), _row(key)
    if own is None or not key & BACKENDS or (row is not None and not row.runtime.executes):
        return ""
    if own in entry.records or DispatchKey.Autograd in entry.records:
        return ""
    schema = entry.schema
    if schema is not None and any(a.is_list and a.alias is not None for a in schema.arguments):
        return ""
    return by_parts_because(entry)


def passed_over_in_training(entry: OpEntry, key: DispatchKey, record: KernelRecord) -> str:
    """The warning for a kernel that is passed over where something requires grad."""
    row = _row(key)
    unknown = key.name if key in PRIVATE_USE_KEYS else key.name.lower()
    device = unknown if row is None else row.type
    way = f"register a kernel that uses a torch.autograd.Function at {AUTOGRAD_OF[key].name} first"
    d = entry.definition
    if d is not None and d.traits.trains_through:
        parts = " and ".join(f"aten::{part}" for part in d.traits.trains_through)
        way = f"give {device} kernels for {parts} instead, or {way}"
    return (
        f"the kernel of {entry.name} for the device '{device}' is passed over in training: where a "
        f"tensor requires grad, the op is recorded by its parts, because "
        f"{passed_over(entry, key)}.\n  kernel: {record.source}\n  fix: {way}"
    )
