"""Which kernel an op has at one runtime key: PyTorch's rules of the computed table.

Kernels are registered at runtime keys and at aliases. For each runtime key the first rule that
applies decides, in the order of `RULES`. Nothing here depends on the order of registration, and
nothing is kept: `mindtorch_core.dispatch.tables` keeps the answers for whole masks.

Source of the rules: ``OperatorEntry::computeDispatchTableEntryWithDebug`` of PyTorch 2.4.
"""

from __future__ import annotations

from typing import Final

from .keys import ALIAS_MEMBERS, AUTOGRAD_RUNTIME, BEHIND_AUTOGRAD, DispatchKey
from .registry import KernelRecord, OpEntry, registry
from .whole import by_parts_because

__all__ = ["RULES", "Choice", "choose"]

Records = dict[DispatchKey, tuple[KernelRecord, ...]]

_IMPLICIT: Final = DispatchKey.CompositeImplicitAutograd
_EXPLICIT: Final = DispatchKey.CompositeExplicitAutograd
_NESTED: Final = DispatchKey.CompositeImplicitAutogradNestedTensor

RULES: Final[dict[str, str]] = {
    "direct": "a kernel is registered at the key itself",
    "explicit": "the op has a CompositeExplicitAutograd(NonFunctional) kernel, which serves the key",
    "nested": "the op has a CompositeImplicitAutogradNestedTensor kernel, which serves the key",
    "ambiguous": "the op has a CompositeImplicitAutograd kernel and one at a backend whose autograd "
    "key is AutogradOther: either could be meant",
    "parts": "the op has no gradient formula and is recorded by its parts where something requires grad",
    "implicit": "the op has a CompositeImplicitAutograd kernel and none of the key's own backend",
    "autograd": "the op has a kernel at the Autograd alias",
    "batched": "the op has a FuncTorchBatchedDecomposition kernel",
    "fallback": "a fallback for all ops is registered at the key",
    "wrapper": "the key's wrapper has something to do for the op",
    "missing": "nothing is registered that serves the key",
}


class Choice:
    """What an op has at a runtime key.

    Attributes:
        rule: the name of the rule that decided, a key of `RULES`.
        registered: the key at which the kernel (or fallthrough) is registered, an alias perhaps.
        record: the kernel's registration; None for a fallthrough and where there is no kernel.
        fallthrough: whether the key is skipped.
    """

    __slots__ = ("fallthrough", "record", "registered", "rule")

    def __init__(
        self,
        rule: str,
        registered: DispatchKey | None = None,
        record: KernelRecord | None = None,
        fallthrough: bool = False,
    ) -> None:
        self.rule = rule
        self.registered = registered
        self.record = record
        self.fallthrough = fallthrough

    @property
    def present(self) -> bool:
        """Whether there is something to call."""
        return self.record is not None


_MISSING: Final = Choice("missing")


def choose(entry: OpEntry, key: DispatchKey | None) -> Choice:
    """The kernel of an op at a runtime key, or at none (a call without any backend)."""
    records = entry.records  # read once: another thread's registration replaces it
    if key is not None and key in records:
        return _of(records[key][-1], key, "direct")
    for alias in (DispatchKey.CompositeExplicitAutogradNonFunctional, _EXPLICIT):
        if _serves(alias, key) and alias in records:
            return _of(records[alias][-1], alias, "explicit")
    if key is not None and _serves(_NESTED, key) and _NESTED in records:
        return _of(records[_NESTED][-1], _NESTED, "nested")
    if _serves(_IMPLICIT, key) and _IMPLICIT in records:
        if key is DispatchKey.AutogradOther and _kernel_behind(records, key):
            return Choice("ambiguous", key)
        if not _has_backend(records, key):
            return _of(records[_IMPLICIT][-1], _IMPLICIT, "implicit")
        if key is not None and key & AUTOGRAD_RUNTIME and _differentiated_by_parts(entry):
            return _of(records[_IMPLICIT][-1], _IMPLICIT, "parts")
    if key is None:
        return _MISSING
    alias = DispatchKey.Autograd
    if key & AUTOGRAD_RUNTIME and alias in records:
        return _of(records[alias][-1], alias, "autograd")
    alias = DispatchKey.FuncTorchBatchedDecomposition
    if key is DispatchKey.FuncTorchBatched and alias in records:
        return _of(records[alias][-1], alias, "batched")
    fallback = registry.fallbacks.get(key)
    if fallback is not None:
        return _of(fallback, key, "fallback")
    return _MISSING


def _of(record: KernelRecord, key: DispatchKey, rule: str) -> Choice:
    skipped = record.falls_through
    return Choice(rule, key, None if skipped else record, skipped)


def _serves(alias: DispatchKey, key: DispatchKey | None) -> bool:
    """Whether an alias stands for the key; composites also serve calls without a backend."""
    return key is None or bool(ALIAS_MEMBERS[alias] & key)


def _kernel_behind(records: Records, autograd_key: DispatchKey) -> bool:
    """Whether the op has a kernel of its own at a backend behind an Autograd key."""
    behind = BEHIND_AUTOGRAD.get(autograd_key, 0)
    return any(k & behind for k in records)


def _has_backend(records: Records, key: DispatchKey | None) -> bool:
    """Whether a CompositeImplicitAutograd kernel yields at an Autograd key to what is below.

    A CompositeExplicitAutograd kernel counts as one of the backend; a NonFunctional one does not.
    """
    if key is None:
        return False
    return _kernel_behind(records, key) or _EXPLICIT in records


def _differentiated_by_parts(entry: OpEntry) -> bool:
    """Whether an op's decomposition is recorded although the backend has a kernel for the op.

    Where it can be computed anew in backward, the kernel runs and is recorded as one node.
    """
    d = entry.definition
    formulaless = d is not None and d.decomposition is not None and d.grad is None
    return formulaless and bool(by_parts_because(entry))
