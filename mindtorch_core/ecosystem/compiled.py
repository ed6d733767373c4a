"""Compiled modules of PyTorch's world: their Python forms where packages supply them, or the way out."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Sequence
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Final

from .extensions import supplied, way_out

__all__ = ["install"]

# Names that such modules have: others are not looked at, since imports must stay quick.
_NAMES: Final = re.compile(r"(\.|^)_\w+$|_(C|cpp|cpu|cuda|ext|ops|kernels)$")
_BUILT_FOR: Final = re.compile(
    r"libtorch|libc10|torch_python|THPVariable|at::|c10::|_ZN\d*(2at|3c10|5torch)"
)


class _Finder:
    """Finds compiled modules before others do: finder and loader of the import system."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A compiled module's Python form, or itself with an error that says what is wrong."""
        if not _NAMES.search(name) or name.partition(".")[0] in sys.stdlib_module_names:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or not isinstance(spec.loader, ExtensionFileLoader):
            return None
        entry = supplied().get(name)
        if entry is not None:
            return ModuleSpec(name, self, origin=entry.module)  # type: ignore[arg-type]  # by duck typing
        create: Any = spec.loader.create_module

        def create_module(spec: ModuleSpec) -> ModuleType:
            try:
                made: ModuleType = create(spec)
            except ImportError as error:
                if not _BUILT_FOR.search(str(error)):
                    raise
                raise ImportError(
                    f"{way_out(name)} ({error})", name=name, path=spec.origin
                ) from None
            return made

        spec.loader.create_module = create_module  # type: ignore[method-assign]
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """An ordinary module."""

    def exec_module(self, module: ModuleType) -> None:
        """Register the ops, by importing what supplies them; its names are the module's."""
        assert module.__spec__ is not None
        found = importlib.import_module(str(module.__spec__.origin))
        vars(module).update({k: v for k, v in vars(found).items() if not k.startswith("__")})


def install() -> None:
    """Have the import system ask here first."""
    if not any(isinstance(each, _Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
