"""``import torch`` is mindtorch: what the package of that name does when it is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import FunctionType, ModuleType
from typing import Any, Final

import mindtorch_core

from ..dispatch.nearest import SHOWN, lacking
from ..frontend.aliases import ALIASES, alias
from ..frontend.surroundings import ELSEWHERE
from . import compiled, errors
from .torch_version import __version__

__all__ = ["VARIABLE", "install"]

VARIABLE: Final = "MINDTORCH_TORCH"  # set to 1, it is mindtorch that `import torch` gives


def install(file: str) -> None:
    """Let ``torch`` and the modules below it be mindtorch's, in this process.

    Args:
        file: of the package ``torch`` that is being imported.

    Raises:
        ImportError: if PyTorch is installed as well and nobody has chosen.
    """
    theirs = _pytorch()
    if theirs and os.environ.get(VARIABLE, "0") in ("", "0"):
        raise ImportError(
            f"both PyTorch ({theirs}) and mindtorch ({os.path.dirname(file)}) are installed under the "
            f"name 'torch', and only one can have it. Choose: 'pip uninstall mindtorch-torch' leaves "
            f"PyTorch (reinstall it if it was installed first), 'pip uninstall torch' leaves mindtorch, "
            f"and {VARIABLE}=1 takes mindtorch for one process, as 'mindtorch run' does.",
            name="torch",
            path=file,
        )
    alias("torch", "mindtorch_core")
    compiled.install()
    mindtorch_core.__version__ = __version__
    mindtorch_core.__name__ = "torch"
    vars(mindtorch_core)["torch"] = mindtorch_core  # as it is in PyTorch, and in programs
    sys.modules["torch"] = mindtorch_core
    sys.meta_path.insert(0, _Renaming())
    SHOWN[:] = [_path_in_torch]
    errors.install()
    for path, module in list(sys.modules.items()):
        if path.startswith(("mindtorch_core", "mindtorch_nn")):
            _rename(module, path)
    for name in mindtorch_core.__all__:
        _call(getattr(mindtorch_core, name), "torch")


def _pytorch() -> str:
    """The folder of PyTorch, wherever on the path it is; empty if it is not installed."""
    for entry in sys.path:
        folder = os.path.join(entry or os.getcwd(), "torch")
        if os.path.isfile(os.path.join(folder, "version.py")):
            return folder
    return ""


def _path_in_torch(path: str) -> str:
    """PyTorch's path of a module that has one of mindtorch's."""
    known = {
        source: shown
        for shown, source in ALIASES.items()
        if shown.startswith("mindtorch_core.") and shown.partition(".")[2] not in ELSEWHERE
    }
    known["mindtorch_nn"] = "mindtorch_core.nn"
    part = path
    while part:
        if part in known:
            path = known[part] + path.removeprefix(part)
            break
        part = part.rpartition(".")[0]
    return path.replace("mindtorch_core", "torch", 1)


def _call(value: Any, path: str) -> None:
    """Have a class or function say that it is of a module: pickles and ``repr`` name it."""
    if isinstance(value, type | FunctionType):
        try:
            value.__module__ = path
        except (AttributeError, TypeError):
            return  # a class of Python's own, such as `torch.inf`'s


def _rename(module: ModuleType, path: str) -> None:
    """Have what a module defines name PyTorch's module."""
    shown = _path_in_torch(path)
    sys.modules.setdefault(shown, module)  # where annotations and pickles look for it
    if type(module) is ModuleType and path.startswith(
        ("mindtorch_core.ecosystem.", "mindtorch_nn")
    ):
        vars(module).setdefault("__getattr__", lacking(module))
    for value in list(vars(module).values()):
        if isinstance(value, type | FunctionType) and value.__module__ == path:
            _call(value, shown)


class _Renaming:
    """Imports mindtorch's modules as ever, and renames what they define: finder and loader."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A module of mindtorch's that has a file, or None."""
        if not name.startswith(("mindtorch_core.", "mindtorch_nn")) or _aliased(name):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        execute: Any = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            _rename(module, name)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _aliased(name: str) -> bool:
    """Whether a path, or one above it, stands for another."""
    while name:
        if name in ALIASES:
            return True
        name = name.rpartition(".")[0]
    return False
