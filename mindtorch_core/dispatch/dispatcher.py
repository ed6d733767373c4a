"""Calling ops by name: the boxed entry points beside the generated call paths.

`dispatch` starts from the arguments' own keys, `dispatch_with_keyset` from given ones,
`redispatch` from what a kernel leaves below itself. All three apply the thread's include and
exclude masks. Ops with a schema have a faster way in, the function made by
`mindtorch_core.dispatch.callpath`.
"""

from __future__ import annotations

from typing import Any

from .keys import ACTIVE, DispatchKeySet, as_mask, effective
from .registry import Kernel, OpEntry, registry
from .tables import fill, tensors_in

__all__ = ["dispatch", "dispatch_with_keyset", "kernel_for", "redispatch"]


def kernel_for(entry: OpEntry, mask: int) -> Kernel:
    """The kernel a call of ``entry`` with these keys runs, the thread's masks applied."""
    if ACTIVE:
        mask = effective(mask)
    found = entry.table.get(mask)
    return found if found is not None else fill(entry, mask)


def keys_of(args: tuple[Any, ...], kwargs: dict[str, Any], device: Any = None) -> int:
    """Union of the keys of all tensor arguments; of ``device``'s where there are none."""
    mask = 0
    for t in tensors_in((*args, *kwargs.values())):
        mask |= t._keys
    if mask == 0 and device is not None:
        from ..devices import concrete, row_of

        mask = row_of(concrete(device).type).key
    return mask


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
    return kernel_for(entry, as_mask(keyset) or keys_of((), {}, device))(*args, **kwargs)


def redispatch(name: str, keyset: DispatchKeySet | int, /, *args: Any, **kwargs: Any) -> Any:
    """Call the op's next kernel: for kernels, with the keys below their own."""
    return kernel_for(registry.entry(name), as_mask(keyset))(*args, **kwargs)
