"""What `explain` answers with: a call's keys, what each of them does, and which kernel runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..dispatch.keys import DispatchKey, DispatchKeySet
from .text import explanation_text, names

__all__ = ["Explanation", "KernelInfo", "Row"]


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """A registered kernel, or the wrapper of a key.

    Attributes:
        name: name of the function.
        source: ``file:line`` of the function.
        distribution: who supplies it, as ``name version``; empty for code outside plugins.
        registered: the key it is registered at, an alias perhaps.
    """

    name: str
    source: str
    distribution: str
    registered: DispatchKey

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "name": self.name,
            "source": self.source,
            "distribution": self.distribution,
            "registered": self.registered.name,
        }


@dataclass(frozen=True, slots=True)
class Row:
    """What one dispatch key does to a call.

    Attributes:
        key: the key; None for calls without any backend, ``Undefined`` in texts.
        outcome: ``chosen`` for the kernel that the call runs; ``called`` for one that a wrapper
            above calls; ``next`` for one that runs if the kernel above calls the op again;
            ``blocked`` for one whose calls below would fail; ``skipped``, ``excluded`` by the
            thread's masks, ``missing``, or ``unreached``.
        rule: the name of the rule of the computed table that decided; empty where none was asked.
        why: one sentence.
        kernel: what is there; the fallthrough where that is why the key is skipped.
        calls: the keys that a wrapper leaves to what is below it.
        shadowed: earlier registrations at the same key that the newest one hides, newest first.
        notes: what else happens to a call there.
    """

    key: DispatchKey | None
    outcome: str
    rule: str
    why: str
    kernel: KernelInfo | None = None
    calls: DispatchKeySet | None = None
    shadowed: tuple[KernelInfo, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def key_name(self) -> str:
        """The key's name."""
        return "Undefined" if self.key is None else self.key.name

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "key": self.key_name,
            "outcome": self.outcome,
            "rule": self.rule,
            "why": self.why,
            "kernel": None if self.kernel is None else self.kernel.to_dict(),
            "calls": None if self.calls is None else names(self.calls),
            "shadowed": [each.to_dict() for each in self.shadowed],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a call is dispatched; ``str()`` gives it as text.

    Attributes:
        op: qualified name.
        schema: the op's signature, or an empty string where only kernels are registered.
        overloads: names of PyTorch's overloads that the op stands for.
        siblings: the other ops of its name, such as ``aten::max.dim`` beside ``aten::max``.
        keys: the keys that the call is dispatched on.
        added: those of them that the thread's masks add to the arguments' own.
        excluded: keys of the arguments that the thread's masks take out.
        rows: one for each key, highest first.
        error: what the call raises instead of running a kernel, or None.
        notes: what else there is to say.
    """

    op: str
    schema: str
    overloads: tuple[str, ...]
    siblings: tuple[str, ...]
    keys: DispatchKeySet
    added: DispatchKeySet
    excluded: DispatchKeySet
    rows: tuple[Row, ...]
    error: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def chosen(self) -> Row | None:
        """The row of the kernel that the call runs; None if it raises."""
        return next((row for row in self.rows if row.outcome == "chosen"), None)

    @property
    def path(self) -> tuple[Row, ...]:
        """The rows that the call runs through: the chosen one, then what wrappers call below."""
        return tuple(row for row in self.rows if row.outcome in ("chosen", "called"))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, ready for JSON."""
        chosen = self.chosen
        return {
            "op": self.op,
            "schema": self.schema,
            "overloads": list(self.overloads),
            "siblings": list(self.siblings),
            "keys": names(self.keys),
            "added": names(self.added),
            "excluded": names(self.excluded),
            "chosen": None if chosen is None else chosen.key_name,
            "rows": [row.to_dict() for row in self.rows],
            "error": self.error,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return explanation_text(self)

    def _repr_html_(self) -> str:
        from .markup import explanation_html

        return explanation_html(self)
