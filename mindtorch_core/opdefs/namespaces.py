"""Modules such as ``torch.linalg``, whose functions are made of ops when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..dispatch.functions import find_packet, names_in, names_known
from ..dispatch.nearest import missing

__all__ = ["serve"]


def serve(
    namespace: str, module: dict[str, Any], *, from_torch: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module that shows a namespace of functions.

    Args:
        namespace: as in `Exposure.namespaces`.
        module: the module's globals, where functions are kept once they are made.
        from_torch: names that the module shares with ``torch``.
    """
    shared = frozenset(from_torch)

    def get(name: str) -> Any:
        packet = None
        if not name.startswith("__"):
            packet = find_packet("torch" if name in shared else namespace, name)
        if packet is None:
            known = names_known(namespace)
            raise missing(module["__name__"], name, lambda: known | shared | {*public()})
        made = module[name] = packet.function()
        return made

    def public() -> list[str]:
        return [n for n in module if n[:1] != "_"]

    def names() -> list[str]:
        return sorted({*names_in(namespace), *shared, *public()})

    return get, names
