"""Calling ops by name: the boxed entry points beside the generated call paths.

`dispatch` starts from the arguments' own keys, `dispatch_with_keyset` from given ones,
`redispatch` from what a kernel leaves below itself. All three apply the thread's include and
exclude masks. Ops with a schema have a faster way in, the function made by
`mindtorch_core.dispatch.calls.fronts`.
"""

from __future__ import annotations

from typing import Any

from ..values.devices import concrete, row_of
from .adapters import tensors_in
from .autocast_keys import AUTOCAST
from .entry import Kernel, OpEntry
from .keys import ACTIVE, BACKENDS, DEFAULT_INCLUDED, DispatchKeySet, as_mask, effective
from .registry import registry
from .tables import fill

__all__ = ["dispatch", "dispatch_with_keyset", "kernel_below", "kernel_for", "redispatch"]


def kernel_for(entry: OpEntry, mask: int) -> Kernel:
    """The kernel a call of ``entry`` with these keys runs, the thread's masks applied."""
    if ACTIVE:
        mask = effective(mask)
    found = entry.table.get(mask)
    return found if found is not None else fill(entry, mask)


def keys_of(args: tuple[Any, ...], kwargs: dict[str, Any], device: Any = None) -> int:
    """Union of the keys of all tensor arguments; those of ``device`` where there are none."""
    mask = 0
    for t in tensors_in((*args, *kwargs.values())):
        mask |= t._keys
    if mask:
        return mask
    return DEFAULT_INCLUDED if device is None else row_of(concrete(device).type).keys


def dispatch(name: str, device: Any = None, /, *args: Any, **kwargs: Any) -> Any:
    """Call an op by name.

    Args:
        name: op name; a bare ``add`` means ``aten::add``.
        device: decides for ops without tensor arguments; may be None.
        args: the op's arguments.
        kwargs: its keyword arguments.

    Raises:
        RuntimeError: if there is no such op.
        NoKernelError: if it has no kernel for the arguments' backend.
    """
    entry = registry.entry(name)
    return kernel_for(entry, keys_of(args, kwargs, device))(*args, **kwargs)


def dispatch_with_keyset(
    name: str, keyset: DispatchKeySet | int, device: Any = None, /, *args: Any, **kwargs: Any
) -> Any:
    """Call an op with given dispatch keys instead of the arguments' own.

    Where the key set holds no backend, ``device`` supplies it.
    """
    entry = registry.entry(name)
    mask = as_mask(keyset)
    if device is not None and not mask & BACKENDS:
        mask |= row_of(concrete(device).type).key
    return kernel_for(entry, mask)(*args, **kwargs)


def redispatch(name: str, keyset: DispatchKeySet | int, /, *args: Any, **kwargs: Any) -> Any:
    """Call the op's next kernel: for kernels, with the keys below their own.

    The thread's masks bring no Autocast key back: they hold it in the place of the tensors.
    """
    return kernel_below(registry.entry(name), as_mask(keyset))(*args, **kwargs)


def kernel_below(entry: OpEntry, mask: int) -> Kernel:
    """The kernel that a redispatch to these keys runs, the thread's masks applied."""
    if ACTIVE:
        mask = effective(mask) & ~(AUTOCAST & ~mask)
    kernel = entry.table.get(mask)
    return kernel if kernel is not None else fill(entry, mask)
