"""`explain`: the dispatcher's own walk down a call's keys, written down.

The walk is `mindtorch_core.dispatch.tables.steps`, from which a call's table entry is computed as
well. Where a wrapper asks for the kernel below it, the walk goes on there.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any, Final, NoReturn

from ..amp.policies import policy_of
from ..deferred.demand import release_key
from ..dispatch.autocast_keys import AUTOCAST
from ..dispatch.choice import RULES
from ..dispatch.entry import Kernel, OpEntry
from ..dispatch.keys import (
    AUTOGRAD,
    BACKEND_BITS,
    BEHIND_AUTOGRAD,
    DispatchKey,
    DispatchKeySet,
    apply_tls_masks,
    expand_aliases,
)
from ..dispatch.registry import registry
from ..dispatch.tables import Step, resolve, steps
from ..dispatch.whole import by_parts_because
from ..frontend.dispatch_modes import active_modes
from ..values.devices import device as Device
from ..values.errors import NoKernelError
from .explanation import Explanation, Row
from .kernels import kernel_info, record_behind, shadowed_by, wrapper_info
from .naming import Op, find_op, siblings_of
from .roles import role_of
from .situation import keys_of_call, thread_state

__all__ = ["explain"]

# Kernels of these rules call other ops, which are dispatched on their own.
_COMPOSITES: Final = frozenset({"explicit", "implicit", "nested", "parts"})


def explain(
    op: Op,
    *args: Any,
    keys: DispatchKeySet | int | str | None = None,
    device: str | Device | DispatchKey | None = None,
    requires_grad: bool = False,
    pipeline: bool = False,
    inference: bool = False,
    autocast: bool = False,
    modes: bool = False,
) -> Explanation:
    """Which kernel a call of an op runs, and why.

    The call is explained as it would run here: the masks of the current thread apply, so inside
    ``torch.no_grad()`` no Autograd key is left. Nothing is run.

    Args:
        op: a name such as ``add``, ``aten::max.dim`` or ``F.softmax``, an op of ``torch.ops``, or a
            function such as ``torch.add``.
        args: the call's arguments. Only their tensors count, and among overloads their kinds;
            without tensors, the options describe them.
        keys: the key set (or the key, or its name) that the call starts from, whatever the arguments.
        device: where the tensors live, ``cpu`` by default; or the key of a backend, such as ``CUDA``,
            which need not be installed.
        requires_grad: whether a tensor requires grad.
        pipeline: as inside ``torch.pipeline()``.
        inference: as inside ``torch.inference_mode()``.
        autocast: as inside ``torch.autocast(device)``.
        modes: as inside a `DispatchMode`.

    Raises:
        RuntimeError: if there is no such op, device or key; the text suggests the nearest names.
        TypeError: if ``op`` is no op, or the call's keys are given twice: by ``keys``, by tensors, or by
            ``device`` and ``requires_grad``.
    """
    release_key()  # of what is no more; else the call would do so first
    entry = find_op(op, args)
    call = expand_aliases(keys_of_call(entry, args, keys, device, requires_grad))
    contexts = {"pipeline": pipeline, "inference": inference, "autocast": autocast, "modes": modes}
    with thread_state(call, **contexts):
        mask = expand_aliases(apply_tls_masks(call))
        error = _error(entry, mask)
        rows = _rows(entry, mask, "chosen")
    taken = call & ~mask
    rows |= {key: Row(key, "excluded", "", _EXCLUDED) for key in DispatchKeySet(taken)}
    if error is not None:
        rows = {key: _blocked(row) for key, row in rows.items()}
    beyond = (key for key in DispatchKeySet(mask) if key not in rows)
    rows |= {
        key: Row(key, "unreached", "", "a call that comes this far fails above") for key in beyond
    }
    definition = entry.definition
    notes = []
    if requires_grad and not call & AUTOGRAD:
        notes.append(f"{entry.name} takes no tensors, so none of them can require grad")
    return Explanation(
        op=entry.name,
        schema="" if entry.schema is None else str(entry.schema),
        overloads=() if definition is None else tuple(filter(None, definition.overloads)),
        siblings=siblings_of(entry),
        keys=DispatchKeySet(mask),
        added=DispatchKeySet(mask & ~call),
        excluded=DispatchKeySet(taken),
        rows=tuple(sorted(rows.values(), key=lambda row: -(row.key or 0))),
        error=error,
        notes=tuple(notes),
    )


def _error(entry: OpEntry, mask: int) -> str | None:
    """What a call with this mask raises for want of a kernel."""
    try:
        resolve(entry, mask)
    except (NoKernelError, RuntimeError) as error:
        return str(error)
    return None


def _rows(entry: OpEntry, mask: int, outcome: str) -> dict[DispatchKey | None, Row]:
    """A row for each key of a mask; ``outcome`` is that of the first kernel."""
    asked: list[int] = []

    def resolve_below(below: int) -> Kernel:
        asked.append(below)
        return _placeholder

    rows: dict[DispatchKey | None, Row] = {}
    walk = steps(entry, mask, resolve_below)
    while (step := _next(walk)) is not None:
        if step.kernel is None:
            rows[step.key] = _without_kernel(entry, step)
            continue
        certain = step.below in asked
        rows[step.key] = _with_kernel(entry, step, outcome)
        left = mask & (step.key - 1) if step.key is not None else 0
        if _ends(entry, step):
            return rows | {key: _unreached(key, step) for key in DispatchKeySet(left)}
        rows |= {key: _left_out(key, step) for key in DispatchKeySet(left & ~step.below)}
        follows = "called" if certain and outcome != "next" else "next"
        return rows | _rows(entry, step.below, follows)
    return rows


def _next(walk: Any) -> Step | None:
    """The next step; None at the end, and where a call would raise (which `_error` tells)."""
    try:
        step: Step | None = next(walk, None)
    except (NoKernelError, RuntimeError):
        return None
    return step


def _placeholder(*args: Any, **kwargs: Any) -> NoReturn:
    """What a wrapper gets for the kernel below it: it is being looked at, not called."""
    raise RuntimeError("a kernel that was only explained was called")


def _ends(entry: OpEntry, step: Step) -> bool:
    """Whether nothing below a step is called with the same op any more."""
    if step.key is None or step.key & BACKEND_BITS or step.choice.rule in _COMPOSITES:
        return True
    d = entry.definition
    kernel = inspect.unwrap(step.kernel) if step.kernel is not None else None
    return d is not None and d.decomposition is not None and kernel is d.decomposition


# ---- the rows ----------------------------------------------------------------------------------


def _with_kernel(entry: OpEntry, step: Step, outcome: str) -> Row:
    """The row of a key that has something to call."""
    key, choice = step.key, step.choice
    if choice.rule == "wrapper" and key is not None:
        return _wrapper_row(entry, step, key, outcome)
    record, registered = choice.record, choice.registered
    if record is None or registered is None:
        raise TypeError(f"{entry.name} has no kernel at {key}")
    notes = []
    if choice.rule == "parts" and key is not None:
        notes += [
            f"passed over: the kernel at {at.name} ({records[-1].source}), because "
            f"{by_parts_because(entry)}"
            for at, records in entry.records.items()
            if at & BEHIND_AUTOGRAD.get(key, 0)
        ]
    d = entry.definition
    bare = record.promoted or record.with_keyset or choice.rule == "fallback"
    if d is not None and d.operands.promotes and not bare:
        notes.append("operands of differing dtypes are converted to a common one first")
    return Row(
        key,
        outcome,
        choice.rule,
        RULES[choice.rule],
        kernel_info(record, registered),
        shadowed=shadowed_by(entry, registered),
        notes=tuple(notes),
    )


def _wrapper_row(entry: OpEntry, step: Step, key: DispatchKey, outcome: str) -> Row:
    """The row of a key that its wrapper serves; what the wrapper made may say in words what it does."""
    why = getattr(step.kernel, "__doc__", None) or role_of(key).does
    notes = []
    policy = policy_of(entry, key) if key & AUTOCAST else None
    if policy is not None:
        notes.append(f"autocast policy: {policy.value}")
    elif key is DispatchKey.Python and active_modes():
        names = ", ".join(type(mode).__name__ for mode in reversed(active_modes()))
        notes.append(f"modes, innermost first: {names}")
    ends = _ends(entry, step)
    if ends:
        why = "runs the decomposition, whose ops are deferred one by one"
    calls = None if ends else DispatchKeySet(step.below)
    return Row(key, outcome, "wrapper", why, wrapper_info(key), calls, notes=tuple(notes))


def _without_kernel(entry: OpEntry, step: Step) -> Row:
    """The row of a key that is passed over, or where the call fails."""
    key, choice = step.key, step.choice
    record = record_behind(entry, choice)
    found = (
        kernel_info(record, choice.registered)
        if record is not None and choice.registered is not None
        else None
    )
    if choice.fallthrough:
        why = "a fallthrough is registered, which says to skip the key"
        return Row(key, "skipped", choice.rule, why, found)
    if choice.present:
        return Row(key, "skipped", choice.rule, "the key is for calls on another backend", found)
    if choice.rule == "ambiguous" or key is None or key & BACKEND_BITS:
        return Row(key, "missing", choice.rule, RULES[choice.rule])
    if key in registry.wrappers:
        return Row(key, "skipped", choice.rule, role_of(key).idle)
    return Row(key, "skipped", choice.rule, RULES[choice.rule])


def _unreached(key: DispatchKey, above: Step) -> Row:
    """The row of a key below the last kernel."""
    if above.key is not None and above.key & BACKEND_BITS:
        why = f"{above.key.name} is a stronger backend"
    else:
        why = "the kernel above calls other ops, which are dispatched on their own"
    return Row(key, "unreached", "", why)


def _left_out(key: DispatchKey, above: Step) -> Row:
    """The row of a key that a wrapper leaves together with its own."""
    name = "" if above.key is None else above.key.name
    return Row(key, "unreached", "", f"left together with {name}, which records the call")


_EXCLUDED: Final = "this thread's masks take the key out of every call"


def _blocked(row: Row) -> Row:
    """The same row in a call that raises."""
    if row.outcome not in ("chosen", "called", "next"):
        return row
    return replace(row, outcome="blocked", why=f"{row.why}: not reached, as the call fails")
