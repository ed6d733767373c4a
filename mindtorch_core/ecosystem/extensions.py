"""Python forms of PyTorch's compiled extensions: the entry-point group ``mindtorch.extensions``.

A package whose ops are compiled against PyTorch loads a library. Another package can supply those ops in
Python: its entry point is named for the library, as ``torchvision._C``, and is a module that registers
the ops with ``torch.library`` when it is imported.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from importlib_metadata import EntryPoint

__all__ = ["GROUP", "load_library", "supplied", "way_out"]

GROUP: Final = "mindtorch.extensions"


@cache
def supplied() -> dict[str, EntryPoint]:
    """The libraries that installed packages have Python forms of, by name."""
    from importlib_metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=GROUP)}


def names_of(path: Path) -> list[str]:
    """Names by which a library may be supplied: with its package's, and of its package alone."""
    stem = path.name.partition(".")[0]
    folder, bare = path.parent.name, stem.removeprefix("lib")
    if folder == "lib":  # within a package
        return [f"{path.parent.parent.name}.lib.{stem}", f"lib.{stem}", bare]
    return [f"{folder}.{stem}", folder, bare] if folder else [bare, stem]


def way_out(name: str) -> str:
    """What to do about a library that is compiled against PyTorch."""
    return (
        f"{name} is compiled against PyTorch, which mindtorch does not contain. Use the package without "
        f"its compiled part if it can do without, or install a package that supplies its ops in Python "
        f"(entry-point group {GROUP!r}, name {name!r}; there are: {', '.join(supplied()) or 'none'})."
    )


def load_library(path: str | os.PathLike[str]) -> str:
    """Register the ops of a compiled library, in their Python form; returns the library's name.

    Args:
        path: of the library; it need not exist.

    Raises:
        OSError: if no installed package supplies it.
    """
    names = names_of(Path(path))
    for name in names:
        entry = supplied().get(name)
        if entry is not None:
            import_module(entry.module)
            return name
    raise OSError(f"cannot load the library {os.fspath(path)!r}: {way_out(names[0])}")
