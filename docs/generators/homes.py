"""Write the files ``homes.py``: which module has which ops on demand, kernels, and pages of the manual.

A module of ops that `mindtorch_core.operators` does not import is imported when one of its names is
first asked for; so are the CPU's modules of kernels for these ops.
"""

from __future__ import annotations

import importlib
import itertools
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Final, TypeVar

from mindtorch_core import operators
from mindtorch_core.dispatch.functions import FUNCTIONS
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs import manual
from mindtorch_core.opdefs.packets import OPERATORS, OpMethod
from mindtorch_core.tensors.tensor import Tensor

ROOT: Final = Path(__file__).resolve().parents[2]
OPS: Final = Path(operators.__file__).parent
PAGES: Final = Path(manual.__file__).parent
KERNELS: Final = ROOT / "plugins/mindtorch-cpu/src/mindtorch_cpu/ops"
WIDTH: Final = 100
HEAD_OF_OPS: Final = '''\
"""Which module defines which names on demand. Written by `docs/make.py`; do not edit.

A row says a module and what it defines: places, and the names that stand in all of these. The place
``aten`` is that of ops, with their overloads; ``Tensor`` that of what the module puts on the class; the
others are namespaces of functions.
"""

from typing import Final

__all__ = ["HOMES"]

# Strings of many names cost the import less than tuples.
HOMES: Final = (
'''

HEAD_OF_KERNELS: Final = '''\
"""Which module holds the kernels of ops that are defined on demand. Written by `docs/make.py`."""

from typing import Final

__all__ = ["HOMES"]

HOMES: Final = (
'''

HEAD_OF_PAGES: Final = '''\
"""Which module holds the pages on which functions. Written by `docs/make.py`; do not edit."""

from typing import Final

__all__ = ["HOMES"]

HOMES: Final = (
'''

Names = set[tuple[str, str]]
T = TypeVar("T")


def names_there() -> Names:
    """Place and name of all that is defined now."""
    found = {(place, name) for place, packets in FUNCTIONS.items() for name in packets}
    found |= {("aten", e.name.removeprefix("aten::")) for e in registry.defined()}
    found |= {("Tensor", name) for name in OPERATORS}
    shown = vars(Tensor).items()
    return found | {("Tensor", name) for name, held in shown if not isinstance(held, OpMethod)}


def modules(package: ModuleType, depth: int) -> list[str]:
    """A package's modules that are not imported yet, by their names relative to it.

    Args:
        package: of ops, or of kernels.
        depth: how many packages deep they lie.
    """
    found, folder = [], Path(str(package.__file__)).parent
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join(parts)
        imported = f"{package.__name__}.{name}" in sys.modules
        if len(parts) == depth and parts[-1] not in ("__init__", "samples") and not imported:
            found.append(name)
    return found


def homes(
    package: ModuleType, wanted: Iterable[str], there: Callable[[], set[T]]
) -> Iterator[tuple[str, set[T]]]:
    """What each module brings itself, rather than a module that it imports.

    Args:
        package: whose modules they are.
        wanted: the modules' names.
        there: says what all modules brought until now.
    """
    found: dict[str, set[T]] = {}
    seen = there()
    run = SourceFileLoader.exec_module

    def recorded(self: SourceFileLoader, module: ModuleType) -> None:
        run(self, module)
        found[module.__name__] = there() - seen
        seen.update(found[module.__name__])

    SourceFileLoader.exec_module = recorded  # type: ignore[method-assign]
    try:
        for name in wanted:
            importlib.import_module(f"{package.__name__}.{name}")
    finally:
        SourceFileLoader.exec_module = run  # type: ignore[method-assign]
    for name in wanted:
        if brought := found.get(f"{package.__name__}.{name}"):  # others help those
            yield name, brought


def by_places(names: Names) -> str:
    """What a module defines, as its row says it: the names that stand in the same places, together."""
    places: dict[str, list[str]] = {}
    for place, name in sorted(names):
        places.setdefault(name, []).append(place)
    found: dict[str, list[str]] = {}
    for name, at in sorted(places.items()):
        found.setdefault(" ".join(at), []).append(name)
    return "; ".join(f"{at}: {' '.join(shortened(each))}" for at, each in sorted(found.items()))


def shortened(names: Iterable[str]) -> Iterator[str]:
    """Names in their order, the overloads of one behind it: ``max.dim,other``."""
    for base, each in itertools.groupby(names, lambda name: name.partition(".")[0]):
        found = [name.partition(".")[2] for name in each]
        if "" in found:
            yield base
        if any(found):
            yield f"{base}.{','.join(filter(None, found))}"


def row(module: str, text: str) -> Iterator[str]:
    """A row of a table, on several lines where it is long."""
    line = f'    ("{module}", "{text}"),'
    if len(line) <= WIDTH:
        yield line
        return
    pieces = textwrap.wrap(text, WIDTH - 8, break_long_words=False, break_on_hyphens=False)
    yield f'    ("{module}",'
    yield from (f'     "{piece} "' for piece in pieces[:-1])
    yield f'     "{pieces[-1]}"),'


def lines_of_ops() -> list[str]:
    """The core's file as it should be.

    Raises:
        RuntimeError: if ops are defined already: nobody can tell where.
    """
    if {f"{operators.__name__}.{name}" for name, _ in operators.homes.HOMES} & set(sys.modules):
        raise RuntimeError("some ops are defined already: run this in a process of its own")
    registry.on_demand.listed(operators.__name__, ())  # a table that is not current would mislead
    out = HEAD_OF_OPS.splitlines()
    for module, names in homes(operators, modules(operators, 2), names_there):
        out += row(module, by_places(names))
    return [*out, ")  # fmt: skip"]


def lines_of_kernels() -> list[str]:
    """The CPU's file as it should be, once all ops are defined."""
    from mindtorch_cpu import ops  # its modules ask for their ops when they are imported
    from mindtorch_cpu import register as kernels

    out = HEAD_OF_KERNELS.splitlines()
    for module, names in homes(ops, modules(ops, 1), lambda: set(kernels.KERNELS)):
        out += row(module, " ".join(sorted(name.removeprefix("aten::") for name in names)))
    return [*out, ")  # fmt: skip"]


def lines_of_pages() -> list[str]:
    """The manual's file as it should be.

    Raises:
        RuntimeError: if two modules have a page on one function.
    """
    out, seen = HEAD_OF_PAGES.splitlines(), set[str]()
    for family in sorted(path.stem for path in PAGES.glob("[!_]*.py") if path.stem != "homes"):
        names = importlib.import_module(f"{manual.__name__}.{family}").PAGES.keys()
        if twice := seen & names:
            raise RuntimeError(
                f"pages on {', '.join(sorted(twice))} stand in {family}, and elsewhere"
            )
        seen |= names
        out += row(family, " ".join(sorted(names)))
    return [*out, ")  # fmt: skip"]


def files() -> dict[str, str]:
    """All of them; only in a process that has not defined these ops yet."""
    made = {
        OPS / "homes.py": lines_of_ops(),
        KERNELS / "homes.py": lines_of_kernels(),
        PAGES / "homes.py": lines_of_pages(),
    }
    return {str(path.relative_to(ROOT)): "\n".join(lines) + "\n" for path, lines in made.items()}
