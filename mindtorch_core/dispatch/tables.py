"""How the kernel for a mask is found: the first key of the mask that does not fall through.

`steps` walks a mask from its highest key down, from the choice at each key
(`mindtorch_core.dispatch.choice`) to the first kernel. `resolve` answers with that kernel, which is
kept in `OpEntry.table` until something is registered; `mindtorch_core.inspection` shows the walk.

Wrapper keys (Autograd, ADInplaceOrView, Pipeline and others) are served by factories: given the op
and the mask below, a factory returns a kernel around "everything below", or None where the op has
nothing to wrap there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, NoReturn

from ..values.errors import NoKernelError
from .adapters import as_called, no_kernel, same_device, shown
from .autocast_keys import passes
from .choice import Choice, choose
from .entry import Kernel, KernelRecord, OpEntry
from .first_calls import looked_at, returned_wrongly
from .keys import (
    AUTOGRAD,
    BACKEND_BITS,
    FUNCTIONALITY,
    PRIVATE_USE_KEYS,
    DispatchKey,
    DispatchKeySet,
    expand_aliases,
)
from .registry import refuse_signature, registry
from .retired import RETIRED, refusing

__all__ = ["Step", "fill", "resolve", "steps"]


Around = Callable[[OpEntry, KernelRecord, DispatchKey, Kernel], Kernel]


def as_it_is(entry: OpEntry, record: KernelRecord, backend: DispatchKey, kernel: Kernel) -> Kernel:
    """A backend's kernel, with nothing around it."""
    return kernel


class Step(NamedTuple):
    """What the walk down a mask finds at one key.

    Attributes:
        key: the key, or None for what serves calls without any backend.
        choice: what the op has there; of the rule ``wrapper`` where the key's wrapper serves it.
        kernel: the function to call; None where the key is passed over.
        below: the mask that a kernel at this key leaves to what is below it.
    """

    key: DispatchKey | None
    choice: Choice
    kernel: Kernel | None = None
    below: int = 0


def fill(entry: OpEntry, mask: int) -> Kernel:
    """The kernel for an effective mask, computed; it goes into the table after its first call.

    The first result is checked against the schema and the op's rule, so that a kernel that returns too
    many or too few values, or tensors of another kind, is found out, and the calls after it pay nothing
    for the check. Deferred results are looked at when they are there.
    """
    refuses = mask & RETIRED[0]
    try:
        generation, kernel, first = _settled(entry, mask)
    except NoKernelError as error:
        if refuses:  # that their backend was unloaded says more
            return refusing(partial(_no_kernel, error))
        raise
    if refuses:
        kernel, first = refusing(kernel), refusing(first)

    def first_call(*args: Any, **kwargs: Any) -> Any:
        try:
            result = first(*args, **kwargs)
        except TypeError as error:
            refuse_signature(entry, error)
            raise
        problem = returned_wrongly(entry, result)
        if problem is not None:
            record = _serving(entry, mask)
            at = f"\n  kernel: {record.source}" if record is not None else ""
            raise RuntimeError(f"the kernel of {entry.name} {problem}: {entry.schema}{at}")
        registry.store(entry, mask, kernel, generation)
        return result

    return first_call


def _no_kernel(error: NoKernelError, *args: Any, **kwargs: Any) -> NoReturn:
    raise error


def _serving(entry: OpEntry, mask: int) -> KernelRecord | None:
    """The registered kernel that a call ends at, below all wrappers."""
    while True:
        found = next(s for s in steps(entry, mask, lambda below: resolve(entry, below)) if s.kernel)
        if found.choice.record is not None or not found.below:
            return found.choice.record
        mask = found.below


def _settled(entry: OpEntry, mask: int) -> tuple[int, Kernel, Kernel]:
    """What was computed while nothing was registered: the registry's generation, and the kernel.

    Then the kernel for the first call, in which backends' results are looked at where they are given.
    Computed without the lock: a plugin that is being loaded in another thread may need this thread.
    """
    while True:
        generation = registry.settled()
        try:
            kernel = resolve(entry, mask)
            looks = entry.definition is not None and not mask & registry.looked_at_later
            first = resolve(entry, mask, partial(looked_at, resolve)) if looks else kernel
        except Exception as error:
            if registry.generation == generation:
                error.__suppress_context__ = True  # the table's KeyError, which led here
                raise
        else:
            if registry.generation == generation:
                return generation, kernel, first


def resolve(entry: OpEntry, mask: int, around: Around = as_it_is) -> Kernel:
    """The function that a call of ``entry`` with this effective mask runs.

    Args:
        entry: the op.
        mask: an effective mask.
        around: makes of a backend's own kernel for the op what is called in its place.

    Raises:
        NoKernelError: if nothing can serve the mask.
    """
    for step in steps(entry, mask, lambda below: resolve(entry, below, around), around):
        if step.kernel is not None:
            return step.kernel
    raise NoKernelError(
        f"There were no tensor arguments to this function (e.g., you passed an empty list of "
        f"Tensors), but no fallback function is registered for schema {entry.name}.\n"
        f"  fix: pass at least one tensor, or register a composite kernel for {entry.name}.",
        op=entry.name,
        device="Undefined",
    )


def steps(
    entry: OpEntry,
    mask: int,
    resolve_below: Callable[[int], Kernel],
    around: Around = as_it_is,
) -> Iterator[Step]:
    """The walk down a mask: one step for each key, highest first. The first kernel is the answer.

    Args:
        entry: the op.
        mask: an effective mask.
        resolve_below: gives wrappers the kernel for the mask below them.
        around: makes of a backend's own kernel for the op what is called in its place.

    Raises:
        NoKernelError: at the step of a backend that has no kernel.
        RuntimeError: at the step of a key with two kernels of equal right.
    """
    runtime = expand_aliases(mask)
    for key, choice in _choices(entry, runtime & ~BACKEND_BITS):
        # All Autograd keys are left together: a CPU and a Meta tensor in one call are recorded once.
        below = runtime & (key - 1) & (~AUTOGRAD if key & AUTOGRAD else -1)
        if choice.fallthrough or passes(key, runtime):
            yield Step(key, choice)
        elif choice.record is not None:
            yield Step(key, choice, _chosen(entry, choice, runtime & _up_to(key)), below)
        elif choice.rule == "ambiguous":
            yield Step(key, choice)
            raise _ambiguous(entry)
        else:
            yield _at_wrapper(entry, key, choice, below, resolve_below)
    yield from _at_backends(entry, runtime & BACKEND_BITS, around)


def _highest_first(mask: int) -> Iterator[DispatchKey]:
    while mask:
        key = DispatchKey(1 << (mask.bit_length() - 1))
        yield key
        mask ^= key


def _choices(entry: OpEntry, mask: int) -> Iterator[tuple[DispatchKey, Choice]]:
    """The choice at each key of a mask, highest first.

    A fallthrough stands for its functionality on every weaker backend too.
    """
    skipped = 0
    for key in _highest_first(mask):
        if not key & skipped:
            choice = choose(entry, key)
            skipped = FUNCTIONALITY.get(key, 0) if choice.fallthrough else 0
        yield key, choice


def _at_wrapper(
    entry: OpEntry,
    key: DispatchKey,
    choice: Choice,
    below: int,
    resolve_below: Callable[[int], Kernel],
) -> Step:
    """The step at a key without a registered kernel: its wrapper's, where that has something to do."""
    factory = registry.wrappers.get(key)
    kernel = None if factory is None else factory(entry, below, resolve_below)
    return Step(key, choice) if kernel is None else Step(key, Choice("wrapper", key), kernel, below)


def _up_to(key: DispatchKey) -> int:
    """All bits up to ``key``'s."""
    return (int(key) << 1) - 1


def _chosen(entry: OpEntry, choice: Choice, mask: int) -> Kernel:
    """The function to call for a choice that has a kernel."""
    record = choice.record
    if record is None:
        raise TypeError(f"{entry.name} has no kernel there")
    if record.with_keyset:
        mask &= ~sum(key for key, at in _choices(entry, mask) if at.fallthrough)
    if choice.rule == "fallback":
        fn, name = record.fn, entry.name
        if record.with_keyset:
            keyset = DispatchKeySet(mask)
            return lambda *args, **kwargs: fn(keyset, name, *args, **kwargs)
        return lambda *args, **kwargs: fn(name, *args, **kwargs)
    return as_called(entry, record, mask)


def _at_backends(entry: OpEntry, mask: int, around: Around) -> Iterator[Step]:
    """The steps at the backends of the mask, the strongest first.

    A PrivateUse backend without a kernel is passed over, for calls whose memory lives elsewhere. A
    fallthrough leads to no other backend of its functionality, as in PyTorch.
    """
    missing: list[DispatchKey] = []  # PrivateUse keys passed over because they have no kernel
    for backend, choice in _choices(entry, mask):
        if choice.record is not None:
            kernel = _chosen(entry, choice, mask)
            if choice.rule == "direct":
                kernel = around(entry, choice.record, backend, kernel)
            if missing or mask != backend:
                kernel = same_device(entry, kernel, tuple(missing), resolve)
            yield Step(backend, choice, kernel)
            return
        yield Step(backend, choice)
        if choice.fallthrough:
            continue
        if backend not in PRIVATE_USE_KEYS:
            raise no_kernel(entry, shown(missing[0] if missing else backend))
        missing.append(backend)
    if missing:
        raise no_kernel(entry, shown(missing[0]))
    undefined = choose(entry, None)
    if undefined.record is not None:
        yield Step(None, undefined, _chosen(entry, undefined, mask))
    else:
        yield Step(None, undefined)


def _ambiguous(entry: OpEntry) -> RuntimeError:
    return RuntimeError(
        f"{entry.name} has kernels registered to both CompositeImplicitAutograd and a backend mapped "
        f"to AutogradOther. This makes the backend kernel unreachable.\n"
        f"  fix: register the decomposition at CompositeExplicitAutograd and give {entry.name} a "
        f"kernel at Autograd, or register a kernel at AutogradOther."
    )
