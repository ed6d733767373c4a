"""What a run of the kit was asked for, known before its tests are collected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["CHOSEN", "Options"]


@dataclass(slots=True)
class Options:
    """The kit's options.

    Attributes:
        device: the device under test; empty outside a run of the kit.
        level: how much is tested.
        page: file for the report as a page; empty for none.
        quiet: show no sign of each test.
    """

    device: str = ""
    level: str = "core"
    page: str = ""
    quiet: bool = False


CHOSEN: Final = Options()
