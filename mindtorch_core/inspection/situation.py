"""The situation in which a call is explained: its arguments' keys and the thread's state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ..dispatch.adapters import tensors_in
from ..dispatch.autocast_keys import AUTOCAST_OF
from ..dispatch.dispatcher import keys_of
from ..dispatch.entry import OpEntry
from ..dispatch.keys import (
    BACKENDS,
    DEFAULT_INCLUDED,
    DispatchKey,
    DispatchKeySet,
    as_mask,
    expand_aliases,
    include_keys,
    parse_key,
)
from ..gradients.grad_mode import inference_mode
from ..values.devices import device as Device
from .naming import key_of

__all__ = ["keys_of_call", "thread_state"]


def keys_of_call(
    entry: OpEntry,
    args: tuple[Any, ...],
    keys: DispatchKeySet | int | str | None,
    device: str | Device | DispatchKey | None,
    requires_grad: bool,
) -> int:
    """The keys that a call starts from: given ones, its tensors' own, or those of tensors described.

    Raises:
        TypeError: if they are given twice.
        RuntimeError: if there is no such device or key, or its backend is not installed.
    """
    described = device is not None or requires_grad
    if keys is not None:
        if described:
            raise TypeError("explain() was given keys: leave device and requires_grad out")
        return as_mask(parse_key(keys) if isinstance(keys, str) else keys)
    if any(True for _ in tensors_in(args)):
        if described:
            raise TypeError(
                "explain() was given tensors, which say themselves where they live and whether they "
                "require grad: leave device and requires_grad out"
            )
        return keys_of(args, {})
    schema = entry.schema
    takes_tensors = schema is None or any(a.type == "Tensor" for a in schema.arguments)
    takes_device = schema is None or any(a.type == "Device" for a in schema.arguments)
    if not takes_tensors and not takes_device:
        return DEFAULT_INCLUDED
    mask = DEFAULT_INCLUDED | key_of("cpu" if device is None else device)
    if requires_grad and takes_tensors:
        mask = expand_aliases(mask | DispatchKey.Autograd)
    return int(mask)


@contextmanager
def thread_state(
    call: int, *, pipeline: bool, inference: bool, autocast: bool, modes: bool
) -> Iterator[None]:
    """This thread's masks as they are inside the named contexts.

    Args:
        call: the keys of the call.
        pipeline: as in ``torch.pipeline()``.
        inference: as in ``torch.inference_mode()``.
        autocast: as in ``torch.autocast(device)``, for the call's device.
        modes: as in a dispatch mode.

    Raises:
        RuntimeError: if autocast does not serve the call's device.
    """
    added = int(DispatchKey.Pipeline) if pipeline else 0
    if modes:
        added |= DispatchKey.Python
    if autocast:
        added |= _autocast_key(call)
    with ExitStack() as stack:
        if inference:
            stack.enter_context(inference_mode())
        if added:
            stack.enter_context(include_keys(added))
        yield


def _autocast_key(call: int) -> DispatchKey:
    """The Autocast key of a call's strongest backend."""
    backends = call & BACKENDS
    backend = DispatchKey(1 << (backends.bit_length() - 1)) if backends else None
    key = None if backend is None else AUTOCAST_OF.get(backend)
    if key is None:
        what = "calls without any backend" if backend is None else f"the backend {backend.name}"
        raise RuntimeError(f"autocast does not serve {what}: leave autocast out")
    return key
