"""Write every file that is generated from the ops' definitions, or say which are not current.

    python docs/make.py                 the files that follow from the definitions alone
    python docs/make.py --all           all of them but those that lack what they need, which are named
    python docs/make.py --check         write nothing; exit with 1 if one of them is not current
    python docs/make.py opinfo          one of them, by name; also those that run every op:
                                        ``opinfo``, ``moduleinfo``, ``optiminfo``, ``special`` and
                                        ``random`` need PyTorch, ``npu`` the simulated toolkit

To generate another file, write a module with a function ``files()`` into `docs/generators/` and name
it in `GENERATORS`.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Generator:
    """What writes files.

    Attributes:
        module: in `docs/generators/`; its ``files()`` gives the text by path below the repository's
            root, with None for files that should not be there.
        by_default: whether it takes seconds and needs nothing but the packages of this repository.
        needs: modules of other packages that it needs.
    """

    module: str
    by_default: bool = True
    needs: tuple[str, ...] = ()

    @property
    def lacks(self) -> list[str]:
        """Those of the modules that it needs that are not installed."""
        return [name for name in self.needs if find_spec(name) is None]


# In this order: what is imported by everything comes first.
GENERATORS: Final[Mapping[str, Generator]] = {
    "homes": Generator("homes"),
    "ops": Generator("ops_page"),
    "stubs": Generator("stubs"),
    "paths": Generator("path_stubs"),
    "rooms": Generator("rooms"),
    "figures": Generator("figures"),
    "opinfo": Generator("opinfo_page", by_default=False, needs=("torch",)),
    "moduleinfo": Generator("moduleinfo_page", by_default=False, needs=("torch",)),
    "optiminfo": Generator("optiminfo_page", by_default=False, needs=("torch",)),
    "special": Generator("special_functions_page", by_default=False, needs=("torch",)),
    "random": Generator("random_page", by_default=False, needs=("torch",)),
    "npu": Generator("npu_ops_page", by_default=False, needs=("mindtorch_npu_simulator",)),
}


def made_by(name: str) -> dict[str, str | None]:
    """The files of one generator, as they should be."""
    module = importlib.import_module(f"generators.{GENERATORS[name].module}")
    made: dict[str, str | None] = module.files()
    return made


def update(made: Mapping[str, str | None], *, check: bool) -> list[str]:
    """Write files that differ from what they should be, unless only to check; their paths."""
    changed = []
    for path, text in made.items():
        place = ROOT / path
        there = place.read_text(encoding="utf-8") if place.exists() else None
        if there == text:
            continue
        changed.append(path)
        if check:
            continue
        if text is None:
            place.unlink()
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8", newline="\n")
    return changed


def main(arguments: list[str]) -> int:
    """Run generators, each in a process of its own: one must see the ops before they are defined."""
    parser = argparse.ArgumentParser(description="Write the files that are generated.")
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(GENERATORS))
    parser.add_argument("--all", action="store_true", help="also those that run every op")
    parser.add_argument("--check", action="store_true", help="only say which are not current")
    options = parser.parse_args(arguments)
    if unknown := {*options.names} - {*GENERATORS}:
        parser.error(
            f"no generator {', '.join(sorted(unknown))}; there are {', '.join(GENERATORS)}"
        )
    names = options.names or [n for n, g in GENERATORS.items() if g.by_default]
    if options.all:
        names = [name for name, generator in GENERATORS.items() if not generator.lacks]
        for name in (n for n in GENERATORS if n not in names):
            print(f"left out: {name} (needs {', '.join(GENERATORS[name].lacks)})")
    changed = []
    for name in names:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            made = process.submit(made_by, name).result()
        changed += update(made, check=options.check)
    for path in changed:
        print(f"{'not current' if options.check else 'written'}: {path}")
    return int(options.check and bool(changed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
