"""Warnings about registrations that are allowed, and rarely meant."""

from __future__ import annotations

from collections.abc import Iterable

from .entry import KernelRecord
from .keys import DispatchKey
from .nearest import suggestion

__all__ = ["overriding", "unheard_of"]


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
