"""Modules with two paths: what is imported by the one is the module at the other, and no copy.

``mindtorch_core.optim`` is ``mindtorch_nn.optim``, and ``mindtorch`` is ``mindtorch_core``. Nothing is
imported before it is asked for.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any, Final

from ..dispatch.nearest import lacking

__all__ = ["ALIASES", "alias", "import_alias", "keep_function", "source_of"]

# A path, and where the module is; an entry stands for the modules below it too.
ALIASES: Final[dict[str, str]] = {}
_ROOTS: Final = {"mindtorch_core"}  # the first names of these paths
_DISTRIBUTIONS: Final[dict[str, str]] = {}  # what supplies a package that may not be installed


# Paths of modules whose package has a function of the same name, which it keeps when they are imported.
_FUNCTIONS: Final[set[str]] = set()
_KEPT: Final = "__kept_functions__"


class _Keeping(ModuleType):
    """A package in which imports put no module where a function is."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in vars(self)[_KEPT] or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


def _keep(path: str, module: ModuleType) -> None:
    """Have a package keep the function that a module in it has and is named by."""
    package, _, name = path.rpartition(".")
    holder = sys.modules[package]
    vars(holder).setdefault(_KEPT, set()).add(name)
    vars(holder)[name] = getattr(module, name)
    holder.__class__ = _Keeping


def keep_function(path: str) -> None:
    """Have the package of a module keep the function that is named as the module is.

    Args:
        path: of the module, which has the function too.
    """
    _FUNCTIONS.add(path)


def alias(path: str, source: str, *, distribution: str = "") -> None:
    """Let a path stand for a module, and the paths below it for the modules below that one.

    Args:
        path: as in ``import path``; it and all above it are packages.
        source: the path of the module.
        distribution: what to install where the module's package is not there.
    """
    ALIASES[path] = source
    _ROOTS.add(path.partition(".")[0])
    if distribution:
        _DISTRIBUTIONS[source.partition(".")[0]] = distribution
    if not any(isinstance(each, _Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def source_of(path: str) -> str:
    """The path of the module that a path stands for; empty if it stands for none."""
    known = path
    while known:
        if known in ALIASES:
            return ALIASES[known] + path.removeprefix(known)
        known = known.rpartition(".")[0]
    return ""


def _unknown(path: str) -> str:
    """What is said of a module that is not there."""
    return (
        f"No module named {path!r}: mindtorch lacks it. If PyTorch has it, ask for it in mindtorch's list of "
        f"issues; dir({path.rpartition('.')[0]}) shows what there is."
    )


def import_alias(source: str, path: str) -> ModuleType:
    """Import a module that has another path too.

    Raises:
        ModuleNotFoundError: for ``path``, if it is not there.
    """
    try:
        module = importlib.import_module(source)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{source}.".startswith(f"{error.name}."):
            text, needed = _unknown(path), _DISTRIBUTIONS.get(error.name)
            if needed is not None:
                text = f"{path!r} is part of {needed}, which is not installed: pip install {needed}"
            raise ModuleNotFoundError(text, name=path) from None
        raise
    if source.startswith("mindtorch_"):
        vars(module).setdefault("__getattr__", lacking(module))
    return module


class _Finder:
    """Finds the paths of `ALIASES`: finder and loader of the import system.

    It stands before the others, which would find the file of a module below a package again, and make
    a second module of it.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A module, by the path that stands for it.

        Raises:
            ModuleNotFoundError: if there is none.
        """
        if name.partition(".")[0] not in _ROOTS:
            return None
        source = source_of(name)
        if not source:
            return None
        known = name in sys.modules
        module = import_alias(source, name)
        if name in _FUNCTIONS:
            _keep(name, module)
        # What is there already, the import system takes as it is: `python -m` could not.
        if not known:
            sys.modules.pop(name, None)
        spec = ModuleSpec(name, self, origin=getattr(module, "__file__", None))  # type: ignore[arg-type]  # by duck typing
        spec.loader_state = module, module.__spec__
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself."""
        module: ModuleType = spec.loader_state[0]
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give it back its own spec: it has been executed."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state[1]

    def get_code(self, name: str) -> CodeType | None:
        """The code of a module, for ``python -m``."""
        spec: Any = importlib.import_module(source_of(name)).__spec__
        code: CodeType | None = spec.loader.get_code(spec.name)
        return code
