"""Running an op on the CPU for a device that has no kernel for it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from ..dispatch.adapters import device_of_all, tensors_in
from ..dispatch.entry import OpEntry
from ..dispatch.functions import fn
from ..dispatch.registry import registry
from ..opdefs.packets import front
from ..random import Generator
from ..tensors.tensor import Tensor
from ..values.devices import device
from ..values.dtypes import int64
from ..values.errors import NoKernelError

__all__ = ["cpu_fallback", "fallback_counts"]

# How often each op was left to the CPU, by device type and name.
_COUNTS: Final[Counter[tuple[str, str]]] = Counter()
_running: Final = threading.local()  # `names`: the ops that this thread is leaving to the CPU


def cpu_fallback(name: str, /, *args: Any, **kwargs: Any) -> Any:
    """Compute an op on the CPU: arguments are copied there, results and what was written back.

    A backend registers it for all ops of its key, as ``registry.register_fallback(key,
    cpu_fallback)``. It is reached only by ops that have neither a kernel of the backend nor a
    decomposition: those which numerical libraries compute (factorizations, Fourier transforms,
    special functions), and primitives that the backend still lacks. Random numbers come from a
    stream of the CPU whose seed the device's generator draws.

    Args:
        name: qualified name of the op.
        *args: the op's arguments.
        **kwargs: the op's keyword arguments.

    Example:
        >>> from mindtorch_core.dispatch.registry import registry
        >>> fallback = registry.register_fallback("PrivateUse1", torch.library.cpu_fallback)
        >>> fallback.remove()

    Raises:
        NotImplementedError: if the CPU has no kernel for the op either, or the op returns a view,
            which cannot share memory with its base across devices.
        NoKernelError: if it is one that the fallback itself needs on the device, such as ``copy_``
            or, for random ops, ``random_.from``.
    """
    entry = registry.entry(name)
    if entry.definition is not None and entry.definition.traits.view:
        raise NotImplementedError(
            f"{name} returns a view of its argument, so it cannot be computed on another device: "
            f"the backend has to supply a kernel"
        )
    home = _device_of(entry, args, kwargs)
    with _leaving(name, home):
        _COUNTS[home.type, entry.name] += 1
        args, kwargs = _with_cpu_generator(entry, home, args, kwargs)
        copies: dict[int, Tensor] = {}
        on_cpu = _mapped(lambda t: _copied(t, copies), (args, kwargs))
        result = front(entry)(*on_cpu[0], **on_cpu[1])
        originals = {id(copies[id(t)]): t for t in tensors_in((*args, *kwargs.values()))}
        for original in _written(entry, args, kwargs):
            original.copy_(copies[id(original)])
        return _mapped(lambda t: originals[id(t)] if id(t) in originals else t.to(home), result)


def fallback_counts(device_type: str) -> dict[str, int]:
    """How often this process has left ops of a device to the CPU, by the ops' names.

    Args:
        device_type: such as ``acme``.

    Example:
        >>> torch.library.fallback_counts("cpu")
        {}
    """
    return {name: n for (type, name), n in _COUNTS.copy().items() if type == device_type}


@contextmanager
def _leaving(name: str, home: device) -> Iterator[None]:
    """Refuse an op that is met again on the way to the CPU: it would never arrive.

    Raises:
        NoKernelError: if the op is being left to the CPU already.
    """
    names: list[str] = _running.__dict__.setdefault("names", [])
    if name in names:
        raise NoKernelError(
            f"'{name}' cannot be left to the CPU for the '{home.type}' backend.\n"
            f"  why: to leave '{names[0]}' to the CPU, the fallback itself needs '{name}' on "
            f"'{home.type}', where no kernel computes it.\n"
            f"  fix: register a kernel with registry.register_kernel({name!r}, {home.type!r}, fn).",
            op=name,
            device=home.type,
        )
    names.append(name)
    try:
        yield
    finally:
        names.pop()


def _device_of(entry: OpEntry, args: tuple[Any, ...], kwargs: dict[str, Any]) -> device:
    """The device of the tensors that are not on the CPU, or the one that was asked for.

    Raises:
        RuntimeError: if they are on several devices, and the op is none that copies between them.
    """
    elsewhere = [t for t in tensors_in((*args, *kwargs.values())) if t._device.type != "cpu"]
    if not elsewhere:
        return device(kwargs.get("device") or "cpu")
    if entry.definition is None or not entry.definition.operands.crosses_devices:
        device_of_all(entry, elsewhere)
    found: device = elsewhere[0]._device
    return found


def _with_cpu_generator(
    entry: OpEntry, home: device, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a random op with a generator of the CPU, which the device's one has seeded."""
    names = [a.name for a in entry.schema.arguments] if entry.schema is not None else []
    if "generator" not in names:
        return args, kwargs
    at = names.index("generator")
    own = args[at] if at < len(args) else kwargs.get("generator")
    seed = fn.empty((), dtype=int64, device=home).random_(generator=own)
    stream = Generator("cpu").manual_seed(int(seed.item()))
    if at < len(args):
        return (*args[:at], stream, *args[at + 1 :]), kwargs
    return args, kwargs | {"generator": stream}


def _copied(t: Tensor, copies: dict[int, Tensor]) -> Tensor:
    made = copies.get(id(t))
    if made is None:
        made = copies[id(t)] = t.detach().to("cpu")
    return made


def _mapped(fn: Callable[[Tensor], Any], value: Any) -> Any:
    """Containers with each tensor replaced, and each device by the CPU where ``fn`` copies there."""
    if isinstance(value, Tensor):
        return fn(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_mapped(fn, v) for v in value))
    if isinstance(value, list | tuple):
        return type(value)(_mapped(fn, v) for v in value)
    if isinstance(value, dict):
        return {k: _mapped(fn, v) for k, v in value.items()}
    return device("cpu") if isinstance(value, device) else value


def _written(entry: OpEntry, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
    """The arguments that the op writes to."""
    if entry.schema is None or not entry.schema.is_mutable:
        return []
    found: list[Any] = []
    for i, argument in enumerate(entry.schema.arguments):
        if not argument.is_write:
            continue
        found.append(args[i] if i < len(args) else kwargs.get(argument.name))
    return list(tensors_in(found))
