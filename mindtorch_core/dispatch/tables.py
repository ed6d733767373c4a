"""How the kernel for a mask is found: PyTorch's precedence rules, applied lazily.

`resolve` answers which function a call with a given effective mask runs. Its answer is kept in
`OpEntry.table` until something is registered, so no answer depends on the order of registration.

Wrapper keys (Autograd, ADInplaceOrView, Pipeline) are served by factories: given the op and the
mask below, a factory returns a kernel around "everything below", or None where the op has nothing
to wrap there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..devices import TABLE
from ..errors import NoKernelError
from .keys import (
    AUTOGRAD,
    AUTOGRAD_OF,
    BACKEND_KEYS,
    BACKENDS,
    PRIVATE_USE_KEYS,
    DispatchKey,
    DispatchKeySet,
    expand_aliases,
)
from .registry import Kernel, KernelRecord, OpEntry, registry

__all__ = ["fill", "resolve"]

_BACKEND_OF: Final = {v: k for k, v in AUTOGRAD_OF.items()}
_IMPLICIT: Final = DispatchKey.CompositeImplicitAutograd
_EXPLICIT: Final = (
    DispatchKey.CompositeExplicitAutogradNonFunctional,
    DispatchKey.CompositeExplicitAutograd,
)


def fill(entry: OpEntry, mask: int) -> Kernel:
    """Compute the kernel for an effective mask and keep it in the op's table."""
    generation = registry.generation
    kernel = resolve(entry, mask)
    registry.store(entry, mask, kernel, generation)
    return kernel


def resolve(entry: OpEntry, mask: int) -> Kernel:
    """The function that a call of ``entry`` with this effective mask runs.

    Raises:
        NoKernelError: if nothing can serve the mask.
    """
    runtime = expand_aliases(mask)
    rest = runtime & ~BACKENDS
    while rest:  # wrapper keys, highest first
        key = DispatchKey(1 << (rest.bit_length() - 1))
        rest ^= key
        alias = DispatchKey.Autograd if key & AUTOGRAD else key
        if key in entry.fallthrough or alias in entry.fallthrough:
            continue
        found = _at_wrapper(entry, key, runtime)
        if found is not None:
            return found
    return _at_backends(entry, runtime & BACKENDS)


def _at_wrapper(entry: OpEntry, key: DispatchKey, mask: int) -> Kernel | None:
    """The kernel at a non-backend key of the mask, or None where the key falls through."""
    record = entry.record(key)
    if record is not None:
        return _as_called(entry, record, mask & ~_above(key))
    if key & AUTOGRAD:
        backend = _BACKEND_OF.get(key)
        if _IMPLICIT in entry.records and (
            not _has_backend(entry, backend) or _differentiated_by_parts(entry)
        ):
            return _composite(entry, _IMPLICIT, mask)
        alias = entry.record(DispatchKey.Autograd)
        if alias is not None:
            return _as_called(entry, alias, mask & ~_above(key))
    factory = registry.wrappers.get(key)
    if factory is not None:
        # All Autograd keys are left together: a CPU and a Meta tensor in one call are recorded
        # once.
        below = mask & ~(AUTOGRAD | _above(key)) if key & AUTOGRAD else mask & (key - 1)
        made = factory(entry, below, lambda m: resolve(entry, m))
        if made is not None:
            return made
    return _fallback(entry, key)


def _above(key: DispatchKey) -> int:
    """All bits higher than ``key``."""
    return ~((int(key) << 1) - 1)


def _differentiated_by_parts(entry: OpEntry) -> bool:
    """Whether a defined op has no gradient formula, so that its decomposition is recorded instead.

    A backend's own kernel for such an op serves calls that need no gradient.
    """
    d = entry.definition
    return d is not None and d.decomposition is not None and d.grad is None


def _has_backend(entry: OpEntry, backend: DispatchKey | None) -> bool:
    """PyTorch's rule for whether a CompositeImplicit kernel yields at an Autograd key."""
    direct = backend is not None and (backend in entry.kernels or backend in entry.fallthrough)
    return direct or DispatchKey.CompositeExplicitAutograd in entry.kernels


def _at_backends(entry: OpEntry, mask: int) -> Kernel:
    """The kernel of the strongest backend in the mask."""
    missing: list[DispatchKey] = []  # PrivateUse keys passed over because they have no kernel
    for backend in _strongest_first(mask):
        if backend in entry.fallthrough:
            continue
        found = _backend_kernel(entry, backend, mask)
        if found is not None:
            one_backend = not missing and mask == backend
            return found if one_backend else _same_device(entry, found, tuple(missing))
        if backend not in PRIVATE_USE_KEYS:
            raise _no_kernel(entry, _shown(missing[0] if missing else backend))
        missing.append(backend)
    for key in (*_EXPLICIT, _IMPLICIT):
        if key in entry.records and not missing:
            return _composite(entry, key, mask)
    if missing:
        raise _no_kernel(entry, _shown(missing[0]))
    raise NoKernelError(
        f"There were no tensor arguments to this function (e.g., you passed an empty list of "
        f"Tensors), but no fallback function is registered for schema {entry.name}.\n"
        f"  fix: pass at least one tensor, or register a composite kernel for {entry.name}.",
        op=entry.name,
        device="Undefined",
    )


def _strongest_first(mask: int) -> Iterator[DispatchKey]:
    for key in reversed(BACKEND_KEYS):
        if mask & key:
            yield key


def _backend_kernel(entry: OpEntry, backend: DispatchKey, mask: int) -> Kernel | None:
    """Direct kernel, then composites, then the backend's fallback, then nothing."""
    record = entry.record(backend)
    if record is not None:
        return _as_called(entry, record, mask)
    for key in (*_EXPLICIT, _IMPLICIT):
        if key in entry.records:
            return _composite(entry, key, mask)
    return _fallback(entry, backend)


def _composite(entry: OpEntry, key: DispatchKey, mask: int) -> Kernel:
    record = entry.records[key][-1]
    return _as_called(entry, record, mask)


def _fallback(entry: OpEntry, key: DispatchKey) -> Kernel | None:
    record = registry.fallbacks.get(key)
    if record is None:
        return None
    fn, name = record.fn, entry.name
    return lambda *args, **kwargs: fn(name, *args, **kwargs)


def _as_called(entry: OpEntry, record: KernelRecord, mask: int) -> Kernel:
    """The function to put into the table for a registered kernel."""
    fn = record.fn
    if record.with_keyset:
        keyset = DispatchKeySet(mask)
        return lambda *args, **kwargs: fn(keyset, *args, **kwargs)
    definition = entry.definition
    if definition is None or record.promoted or not definition.promotes:
        return fn
    return _with_promotion(fn, definition.compute_dtype)


def _with_promotion(fn: Kernel, compute_dtype: Kernel) -> Kernel:
    """Hand a kernel tensors of one dtype: the promoted one, numbers made into tensors."""

    def promoted(*args: Any, **kwargs: Any) -> Any:
        tensors = [a for a in args if hasattr(a, "_dtype")]
        first = tensors[0]._dtype
        target = compute_dtype(*args, **kwargs)
        uniform = target is first and len(tensors) == len(args)
        if uniform and all(t._dtype is first for t in tensors):
            return fn(*args, **kwargs)
        at = tensors[0]
        return fn(*(_operand(a, target, at) for a in args), **kwargs)

    return promoted


def _operand(value: Any, target: Any, at: Any) -> Any:
    """One operand as a tensor of dtype ``target`` on the device of ``at``."""
    if hasattr(value, "_dtype"):
        return value if value._dtype is target else value.to(target)
    if isinstance(value, int | float | complex):
        return at.new_full((), value, dtype=target)
    return value


def tensors_in(values: Any) -> Iterator[Any]:
    """Every tensor among arguments, looking into lists and tuples."""
    for value in values:
        if hasattr(value, "_keys"):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors_in(value)


def _same_device(entry: OpEntry, kernel: Kernel, missing: tuple[DispatchKey, ...]) -> Kernel:
    """Guard a kernel chosen among several backends.

    A zero-dimensional CPU tensor may accompany tensors of another device, as in PyTorch; anything
    else on a second device is an error. So is memory of a PrivateUse device without a kernel.
    """
    definition = entry.definition
    if definition is not None and definition.crosses_devices:
        return lambda self, *args, **kwargs: _at_first(entry, self, args, kwargs)

    def guarded(*args: Any, **kwargs: Any) -> Any:
        tensors = list(tensors_in((*args, *kwargs.values())))
        for t in tensors:
            if any(t._keys & key for key in missing):
                raise _no_kernel(entry, t._device.type)
        devices = {t._device for t in tensors if t._shape or t._device.type != "cpu"}
        if len(devices) > 1:
            first, second = sorted(map(str, devices))[:2]
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found at least two devices, "
                f"{first} and {second}! (when calling {entry.name})"
            )
        if devices:
            target = devices.pop()
            args = tuple(
                a.to(target) if hasattr(a, "_keys") and a._device is not target else a for a in args
            )
        return kernel(*args, **kwargs)

    return guarded


def _at_first(entry: OpEntry, self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an op on the device of its first argument, with the other tensors moved there."""

    def moved(value: Any) -> Any:
        if hasattr(value, "_keys"):
            return value if value._device is self._device else value.to(self._device)
        return [moved(v) for v in value] if isinstance(value, list | tuple) else value

    kernel = _at_backends(entry, self._keys & BACKENDS)
    return kernel(self, *map(moved, args), **{k: moved(v) for k, v in kwargs.items()})


def _shown(backend: DispatchKey) -> str:
    """What users know a backend by: its device name where it holds a PrivateUse key."""
    if backend in PRIVATE_USE_KEYS:
        for row in TABLE.values():
            if row.key == backend:
                return row.type
    return backend.name


def _no_kernel(entry: OpEntry, where: str) -> NoKernelError:
    have = ", ".join(k.name for k in entry.kernels) or "none"
    return NoKernelError(
        f"Could not run '{entry.name}' with arguments from the '{where}' backend.\n"
        f"  why: neither a kernel for it nor a decomposition into other ops is registered; "
        f"'{entry.name}' has kernels at: {have}.\n"
        f"  fix: move the arguments to a device that has it, or register a kernel with "
        f"registry.register_kernel({entry.name!r}, {where!r}, fn).",
        op=entry.name,
        device=where,
    )
