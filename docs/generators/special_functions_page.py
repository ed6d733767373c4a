"""``docs/special_functions.md``: how many digits functions of float64 have, here and in PyTorch.

PyTorch has to be installed, which brings mpmath. ``tests/oracle`` looks at fewer numbers.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "oracle"))

from exact_values import ENOUGH, FUNCTIONS, errors

COUNT = 150  # numbers from each range

INTRODUCTION = """\
# Digits of functions

Written by `docs/make.py`. Do not edit.

The largest errors on the CPU in float64, in units in the last place of the value to 50 digits that mpmath
gives, here and in PyTorch. Each function is looked at in several ranges, from subnormal numbers to huge
ones, {count} numbers of each, and ever closer to roots and poles. Functions are within {enough} units, or as
good as PyTorch: those below have a range in which they are off by more. Next to a root nobody has more
digits than the last one of the argument leaves.
"""
HEAD = (
    "| function | range | off by | at | PyTorch | at |",
    "| --- | --- | --- | --- | --- | --- |",
)


def shown(error: float) -> str:
    """An error with as many digits as mean something."""
    return f"{error:.2g}" if error < 1000 else f"{error:.0e}".replace("e+0", "e").replace("e+", "e")


def files() -> dict[str, str | None]:
    """The page."""
    good, exceptions = [], []
    for name in FUNCTIONS:
        found = errors(name, COUNT)
        where, ((ours, at), _) = max(found.items(), key=lambda item: item[1][0][0])
        _, (_, (theirs, place)) = max(found.items(), key=lambda item: item[1][1][0])
        if ours <= ENOUGH:
            good.append(
                f"| `{name}` | {where} | {shown(ours)} | {at:.6g} | {shown(theirs)} | {place:.6g} |"
            )
        for where, ((ours, at), (theirs, place)) in found.items():
            if ours > ENOUGH:
                exceptions.append(
                    f"| `{name}` | {where} | {shown(ours)} | {at:.6g} | {shown(theirs)} | {place:.6g} |"
                )
    parts = [INTRODUCTION.format(count=COUNT, enough=ENOUGH), *HEAD, *exceptions]
    parts += [
        "",
        f"The others, at their worst; within {ENOUGH} units everywhere:",
        "",
        *HEAD,
        *good,
    ]
    return {"docs/special_functions.md": "\n".join(parts) + "\n"}
