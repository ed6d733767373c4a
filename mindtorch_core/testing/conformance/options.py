"""What a run of the kit was asked for, known before its tests are collected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..progress import Progress

__all__ = ["CHOSEN", "Options", "shard_of"]


@dataclass(slots=True)
class Options:
    """The kit's options.

    Attributes:
        device: the device under test; empty outside a run of the kit.
        level: how much is tested.
        page: file for the report as a page; empty for none.
        quiet: show no sign of each test.
        fallback: whether the CPU may compute what the device has no kernel for.
        shard: which part of the tests is run, of how many.
        emptied: whether tests were chosen, and none of them is of that part.
        progress: the line that says how far a quiet run is, while one runs.
    """

    device: str = ""
    level: str = "core"
    page: str = ""
    quiet: bool = False
    fallback: bool = True
    shard: tuple[int, int] = (1, 1)
    emptied: bool = False
    progress: Progress | None = None


def shard_of(text: str) -> tuple[int, int]:
    """The part of the tests that ``i/n`` names.

    Raises:
        ValueError: if it names none.
    """
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise ValueError(f"a shard is i/n with i from 1 to n, such as 2/4, not {text!r}")
    return int(part), int(parts)


CHOSEN: Final = Options()
