"""Pages on the functions that programs use most: what arguments are, errors, examples.

A row says in a line what an op does. What a reader of ``help(torch.sum)`` wants besides stands here, by
the function's name, and is read when such a function is made: the import has none of it.
"""

from __future__ import annotations

import importlib
from typing import Final

from .homes import HOMES

__all__ = ["page"]

_HOMES: Final = {name: module for module, names in HOMES for name in names.split()}

_NONE: Final = "none on the samples that PyTorch tests it with; see docs/opinfo.md."
_OF_CHANCE: Final = "none on the CPU, where a seed gives the same numbers; see docs/random.md."
_NO_SAMPLES: Final = "none; PyTorch has no samples to test it with, apart from those of other ops."
DIFFERENCES: Final = {
    "copy_": _NO_SAMPLES,
    "detach": _NO_SAMPLES,
    "zero_": _NO_SAMPLES,
    "normal_": _OF_CHANCE,
    "multinomial": "``out`` may be of another dtype, as for every op.",
    "rand": _OF_CHANCE,
    "randn": _OF_CHANCE,
    "randint": _OF_CHANCE,
    "randperm": _OF_CHANCE,
    "rand_like": _OF_CHANCE,
    "randn_like": _OF_CHANCE,
    "uniform_": _OF_CHANCE,
}


def page(name: str) -> str:
    """What is to be said of a function beyond a line; empty if there is no page on it."""
    family = _HOMES.get(name)
    if family is None:
        return ""
    pages: dict[str, str] = importlib.import_module(f"{__name__}.{family}").PAGES
    body, _, example = pages[name].partition("Example:\n")
    differs = DIFFERENCES.get(name, _NONE)
    return f"{body}Differences from PyTorch: {differs}\n\nExample:\n{example.rstrip()}"
