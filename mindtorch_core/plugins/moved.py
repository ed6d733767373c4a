"""Public modules that have another path now: the old one works for a while, and says so.

The finder below stands behind all others, so it is asked only for modules that are not there.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Any, Final

from .public_modules import DOOR, OFFERS, is_public, offered

__all__ = ["MOVED", "install", "moved_to"]

# The path of old, and the one of now, which may be private: then who imports it is told where its public
# names are. An entry stands for the modules below it too, and stays as long as ``docs/stability.md``
# promises.
MOVED: Final[dict[str, str]] = {
    "mindtorch_core.creation": "mindtorch_core.frontend.creation",
    "mindtorch_core.devices": "mindtorch_core.values.devices",
    "mindtorch_core.dtypes": "mindtorch_core.values.dtypes",
    "mindtorch_core.errors": "mindtorch_core.values.errors",
    "mindtorch_core.layouts": "mindtorch_core.values.layouts",
    "mindtorch_core.memory_formats": "mindtorch_core.values.memory_formats",
    "mindtorch_core.modes": "mindtorch_core.frontend.dispatch_modes",
    "mindtorch_core.operators.define": "mindtorch_core.opdefs.define",
    "mindtorch_core.operators.overloads": "mindtorch_core.opdefs.torch_ops",
    "mindtorch_core.operators.rules": "mindtorch_core.opdefs.rules",
    "mindtorch_core.operators.tags": "mindtorch_core.opdefs.tags",
    "mindtorch_core.printing": "mindtorch_core.frontend.printing",
    "mindtorch_core.promotion": "mindtorch_core.values.promotion",
    "mindtorch_core.shapes": "mindtorch_core.values.shapes",
    "mindtorch_core.tensor": "mindtorch_core.tensors.tensor",
    "mindtorch_core.testing.recipes": "mindtorch_core.operators.recipes",
    "mindtorch_core.threads": "mindtorch_core.values.threads",
}

# Where names went that stood in one of these modules and do not stand in the present one.
FORMERLY: Final = (DOOR, "mindtorch_core.dispatch.functions")


def moved_to(name: str) -> str:
    """The present path of a module; empty if it has not moved."""
    known = name
    while known:
        if known in MOVED:
            return MOVED[known] + name.removeprefix(known)
        known = known.rpartition(".")[0]
    return ""


class _Moved(ModuleType):
    """Stands where a module was: its names are those of the module that moved."""

    def __getattr__(self, name: str) -> Any:
        new = moved_to(self.__name__)
        if name in ("__path__", "__file__"):  # nothing lies there any more
            raise AttributeError(f"module {self.__name__!r} has moved to {new!r}")
        if self.__spec__ is None:  # no import has warned: see `install`
            _warn(self.__name__, new)
        module = importlib.import_module(new)
        if name == "__all__":
            return getattr(module, name, [each for each in vars(module) if each[0] != "_"])
        for place in (module, *map(importlib.import_module, FORMERLY)):
            if hasattr(place, name):
                return getattr(place, name)
        raise AttributeError(f"module {new!r} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return dir(importlib.import_module(moved_to(self.__name__)))


class _Finder:
    """Finds the old paths: both the finder and the loader of the import system."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A module that stands for the one that moved, None if there is no such entry."""
        if not moved_to(name):
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]  # by duck typing

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module that forwards."""
        return _Moved(spec.name, f"Moved to `{moved_to(spec.name)}`.")

    def exec_module(self, module: ModuleType) -> None:
        """Import what moved, and tell who imports it by the old path.

        Raises:
            ModuleNotFoundError: if there is nothing under the new path.
        """
        new = moved_to(module.__name__)
        importlib.import_module(new)
        _warn(module.__name__, new)


def _instead(new: str) -> str:
    """Where the names are that a private module has and that are public."""
    module = importlib.import_module(new)
    places: dict[str, list[str]] = {}
    for name in getattr(module, "__all__", ()):
        place, _, there = offered(new, name).rpartition(".")
        if place:
            places.setdefault(place, []).append(there if there == name else f"{there} for {name}")
    found = [f"{', '.join(places[each])} from {each}" for each in OFFERS if each in places]
    return f"import {'; '.join(found)} instead" if found else f"see {DOOR}"


def _warn(old: str, new: str) -> None:
    """Warn at the line that imports the old path."""
    text = (
        f"{old} has moved to {new}: import it from there"
        if is_public(new)
        else f"{old} has moved, and is private now: {_instead(new)}"
    )
    at = sys._getframe(1)
    while at.f_back is not None and _is_of_import(at):
        at = at.f_back
    warnings.warn_explicit(
        text,
        DeprecationWarning,
        at.f_code.co_filename,
        at.f_lineno,
        at.f_globals.get("__name__"),
        at.f_globals.setdefault("__warningregistry__", {}),
    )


def _is_of_import(frame: FrameType) -> bool:
    """Whether a frame is of this file or of the import system."""
    name = str(frame.f_globals.get("__name__"))
    return name == __name__ or name.partition(".")[0] in ("importlib", "_frozen_importlib")


def install() -> None:
    """Have the import system find the old paths.

    Importing ``mindtorch_core.tensors.tensor`` would put the module into the place of ``torch.tensor``: where
    the package has something else of that name, what stands for the module is there from the start,
    and warns when it is looked into.
    """
    if not any(isinstance(each, _Finder) for each in sys.meta_path):
        sys.meta_path.append(_Finder())
    for old, new in MOVED.items():
        package, _, name = old.rpartition(".")
        parent = sys.modules.get(package)
        if parent is not None and name in vars(parent):
            sys.modules.setdefault(old, _Moved(old, f"Moved to `{new}`."))
