"""Modules such as ``torch.linalg``, whose functions are made of ops when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from ..dispatch.functions import find_packet, names_in, names_known
from ..dispatch.nearest import missing

__all__ = ["serve", "settle"]


def settle(function: Any, module: str) -> None:
    """Have a function say that it is of the module that shows it, where pickles look for it."""
    if isinstance(function, FunctionType):
        function.__qualname__ = function.__qualname__.rpartition(".")[2]
        root = sys.modules["mindtorch_core"].__name__  # torch, where `import torch` is mindtorch
        function.__module__ = module.replace("mindtorch_core", root, 1)


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
        if name not in shared:
            settle(made, module["__name__"])
        return made

    def public() -> list[str]:
        return [n for n in module if n[:1] != "_"]

    def names() -> list[str]:
        return sorted({*names_in(namespace), *shared, *public()})

    return get, names
