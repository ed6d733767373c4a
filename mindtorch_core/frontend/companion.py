"""Names of ``torch`` that the distribution mindtorch-nn supplies, found where PyTorch has them."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any, Final

from ..dispatch.nearest import missing
from .aliases import ALIASES, alias, import_alias

__all__ = ["DISTRIBUTION", "install", "module_at", "names_of_nn", "nn_name"]

DISTRIBUTION: Final = "mindtorch-nn"
_PACKAGE: Final = "mindtorch_nn"
_MODULES: Final = {
    **{
        f"mindtorch_core.nn.{name}": f"{_PACKAGE}.{name}"
        for name in ("attention", "init", "modules", "parallel", "parameter", "utils")
    },
    "mindtorch_core.distributions": f"{_PACKAGE}.distributions",
    "mindtorch_core.optim": f"{_PACKAGE}.optim",
    "mindtorch_core.utils.data": f"{_PACKAGE}.data",
}


def module_at(path: str) -> ModuleType:
    """The module of a path, for attributes.

    Raises:
        AttributeError: if it is not there.
    """
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        parent, _, name = path.rpartition(".")
        raise AttributeError(
            f"module {parent!r} has no attribute {name!r}: {error}", name=name
        ) from None


def nn_name(name: str) -> Any:
    """A name of ``torch.nn``.

    Raises:
        AttributeError: if there is none.
    """
    here = f"mindtorch_core.nn.{name}"
    if here in ALIASES:  # of the distribution, or of the room `ecosystem`
        return module_at(here)
    said = f"module 'mindtorch_core.nn' has no attribute {name!r}"
    if name.startswith("__"):
        raise AttributeError(said)
    try:
        package = import_alias(_PACKAGE, here)
    except ModuleNotFoundError as error:
        if error.name != here:
            raise
        raise AttributeError(f"{said}: {error}", name=name) from None
    try:
        return getattr(package, name)
    except AttributeError:
        raise missing("mindtorch_core.nn", name, names_of_nn) from None


def names_of_nn() -> list[str]:
    """The names that `nn_name` finds."""
    try:
        return [name for name in dir(importlib.import_module(_PACKAGE)) if name[0] != "_"]
    except ModuleNotFoundError:
        return []


def install() -> None:
    """Have the import system find the distribution's modules."""
    for path, source in _MODULES.items():
        alias(path, source, distribution=DISTRIBUTION)
