"""What a pipeline looks like in an interpreter and in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .context import Pipeline

__all__ = ["html_of", "text_of"]

# The counts of `Pipeline.stats` that are one number, and those that are some by what they are of.
_NUMBERS = (
    "recorded",
    "launched",
    "replayed",
    "pending",
    "dropped",
    "flushes",
    "fused_groups",
    "fused_ops",
    "remade",
)
_BY_NAME = ("flush_reasons", "breaks")


def text_of(self: Pipeline) -> str:
    """How many ops wait."""
    return f"<Pipeline with {len(self.recorded) + self.followed} pending ops>"


def html_of(self: Pipeline) -> str:
    """The counts so far; launches nothing."""
    from ..values.markup import box, escaped, table

    stats = self.stats()
    rows = [(name.replace("_", " "), stats[name]) for name in _NUMBERS if stats[name]]
    for what in _BY_NAME:
        one = what.replace("_", " ").removesuffix("s")
        rows += [(f"{one}: {name}", count) for name, count in stats[what].items()]
    return box(f"<small>{escaped(text_of(self))}</small>", table(("", "count"), rows))
