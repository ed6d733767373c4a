"""``torch.classes``: classes that compiled libraries register. There are none."""

from __future__ import annotations

import os
from typing import NoReturn

from .extensions import load_library as _load

__all__ = ["load_library", "loaded_libraries"]

loaded_libraries: set[str] = set()


def load_library(path: str | os.PathLike[str]) -> None:
    """Register what a compiled library holds, if a package supplies it in Python.

    Raises:
        OSError: if none does.
    """
    _load(path)
    loaded_libraries.add(os.path.realpath(path))


class _Namespace:
    """Classes of one namespace: none."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"torch.classes.{self._name} has no class {name!r}: mindtorch loads no compiled ones",
            name=name,
        )


def __getattr__(name: str) -> _Namespace:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _Namespace(name)
