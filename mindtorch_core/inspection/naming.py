"""Finding ops and keys by the names that people give them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dispatch.calls.overload_choice import fits
from ..dispatch.entry import OpEntry
from ..dispatch.functions import FUNCTIONS, find_packet
from ..dispatch.keys import BACKEND_BITS, DispatchKey, parse_key
from ..dispatch.nearest import nearest
from ..dispatch.registry import registry
from ..opdefs.torch_ops import OpOverload, OpOverloadPacket, ops
from ..plugins.loader import backends
from ..values.devices import KNOWN_TYPES, TABLE, device, row_of
from ..values.errors import BackendUnavailableError

__all__ = ["find_op", "key_of", "place_of", "siblings_of"]

Op = str | OpOverload | OpOverloadPacket | Callable[..., Any]

# How users write where a function is found, and the namespace of functions that it means.
_PREFIXES: Final = {
    "torch.ops.": "",
    "torch.nn.functional.": "nn",
    "nn.functional.": "nn",
    "F.": "nn",
    "torch.linalg.": "linalg",
    "linalg.": "linalg",
    "torch.special.": "special",
    "special.": "special",
    "torch.fft.": "fft",
    "fft.": "fft",
    "torch.Tensor.": "Tensor",
    "Tensor.": "Tensor",
    "torch.": "torch",
}


def find_op(op: Op, args: tuple[Any, ...] = ()) -> OpEntry:
    """The registry's entry of an op; backends are loaded where the name is not known without.

    Args:
        op: a name such as ``add``, ``aten::add``, ``add.Tensor``, ``aten.max.dim`` or ``F.softmax``; an
            overload or a packet of ``torch.ops``; or a function such as ``torch.add``.
        args: a call's arguments, which choose among overloads.

    Raises:
        RuntimeError: if there is no such op; the text suggests the nearest names.
        TypeError: if ``op`` is none of these.
    """
    if isinstance(op, str):
        return _named(op, args)
    if isinstance(op, OpOverload):
        return op._entry
    if isinstance(op, OpOverloadPacket):
        return _named(op._qualified_op_name, args)
    own = getattr(op, "_opoverload", None)  # what torch.library.custom_op gives
    if isinstance(own, OpOverload):
        return own._entry
    for packets in FUNCTIONS.values():
        for packet in packets.values():
            if any(f is not None and f is op for f in (packet.made, packet.python)):
                return (
                    _fitting(packet.entries, args) if packet.entries else _named(packet.name, args)
                )
    raise TypeError(
        f"{op!r} is no op: give its name, such as 'add' or 'aten::max.dim', an op of torch.ops, or a "
        f"function such as torch.add"
    )


def _named(name: str, args: tuple[Any, ...]) -> OpEntry:
    found = _look_up(name, args)
    if found is None:
        registry.load_backends()  # a plugin may define ops
        found = _look_up(name, args)
    return _unknown(name) if found is None else found


def _look_up(name: str, args: tuple[Any, ...]) -> OpEntry | None:
    place, name = place_of(name.strip())
    for space in (place,) if place else ("torch", "Tensor", "nn"):
        packet = find_packet(space, name)
        if packet is not None and packet.entries:
            return _fitting(packet.entries, args)
    name = _qualified(name)
    base, _, overload = name.partition(".")
    if overload in ("", "default"):
        entries = registry.overloads(base)
        return _fitting(entries, args) if entries else None
    namespace, _, op = base.partition("::")
    found = registry.find(name)
    if found is None and hasattr(getattr(ops, namespace), op):
        packet_of_ops = getattr(getattr(ops, namespace), op)
        if overload in packet_of_ops.overloads():
            entry: OpEntry = getattr(packet_of_ops, overload)._entry
            return entry
    return found


def place_of(name: str) -> tuple[str, str]:
    """Where a name says the function is found, and the rest of it."""
    for prefix, place in _PREFIXES.items():
        if name.startswith(prefix):
            return place, name.removeprefix(prefix)
    return "", name


def _qualified(name: str) -> str:
    """``aten.add.Tensor`` becomes ``aten::add.Tensor``; a bare name means ``aten``."""
    if "::" in name:
        return name
    first, dot, rest = name.partition(".")
    if dot and not registry.overloads(f"aten::{first}") and first in dir(ops):
        return f"{first}::{rest}"
    return f"aten::{name}"


def _fitting(entries: list[OpEntry], args: tuple[Any, ...]) -> OpEntry:
    """The first overload that takes the arguments, or simply the first."""
    if args:
        return next((e for e in entries if e.has_schema and fits(e, args, {})), entries[0])
    return entries[0]


def _unknown(name: str) -> OpEntry:
    qualified = _qualified(place_of(name.strip())[1])
    base, _, overload = qualified.partition(".")
    known = registry.overloads(base)
    if not known:
        return registry.entry(qualified)  # raises, with the nearest names
    namespace, _, op = base.partition("::")
    has = [e.name for e in known]
    if hasattr(getattr(ops, namespace), op):
        has = [f"{base}.{o}" for o in getattr(getattr(ops, namespace), op).overloads()]
    raise RuntimeError(f"{base} has no overload named {overload!r}: it has {', '.join(has)}.")


def siblings_of(entry: OpEntry) -> tuple[str, ...]:
    """The other ops of an op's name."""
    base = entry.name.partition(".")[0]
    return tuple(e.name for e in registry.overloads(base) if e is not entry)


def key_of(backend: str | device | DispatchKey) -> DispatchKey:
    """The dispatch key of a backend.

    Args:
        backend: a device such as ``cpu``, which loads its plugin, or a backend's dispatch key such as
            ``CUDA``, which needs none.

    Raises:
        BackendUnavailableError: if no plugin serves the device; the text names the package.
        RuntimeError: if there is no such device or key, or the key is not a backend's.
    """
    if isinstance(backend, DispatchKey) or backend in DispatchKey.__members__:
        key = parse_key(backend)  # type: ignore[arg-type]
        if key & BACKEND_BITS:
            return key
        raise RuntimeError(
            f"{key.name} is not the key of a backend: give a device such as 'cpu', or a key such as CPU"
        )
    name = str(backend).partition(":")[0]
    try:
        return DispatchKey(row_of(name).key)
    except BackendUnavailableError:
        # What is installed, or could be, and cannot be used, is not a mistake in the name.
        if name in KNOWN_TYPES or name in {status.name for status in backends()}:
            raise
        near = _nearest(name)
        if not near:
            raise
        raise RuntimeError(
            f"no device and no dispatch key is called {name!r}. Did you mean {' or '.join(near)}?"
        ) from None


def _nearest(name: str) -> list[str]:
    """Devices and backend keys whose names are close to an unknown one."""
    known = {n: n for n in sorted({*TABLE, *KNOWN_TYPES})}
    known |= {k.name.lower(): k.name for k in DispatchKey if k & BACKEND_BITS} | known
    return [known[n] for n in nearest(name.lower(), known)]
