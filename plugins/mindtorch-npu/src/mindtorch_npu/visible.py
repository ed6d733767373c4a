"""Which of the machine's NPUs the environment shows to the process."""

from __future__ import annotations

import os
from typing import Final

__all__ = ["VARIABLE", "hint", "misread"]

VARIABLE: Final = "ASCEND_RT_VISIBLE_DEVICES"  # CANN reads it, when it is initialised


def misread() -> str:
    """What CANN does not read as it is meant; empty if the variable is well formed or not set.

    It takes ascending numbers with commas between them, and stops at the first entry that is none.
    """
    value = os.environ.get(VARIABLE)
    if value is None:
        return ""
    entries = value.split(",")
    numbers = [int(entry) for entry in entries if entry.isascii() and entry.isdigit()]
    if len(numbers) == len(entries) and numbers == sorted(set(numbers)):
        return ""
    return (
        f"{VARIABLE} is {value!r}: write ascending numbers with commas and without blanks, as in "
        f"'0,2'; CANN stops at the first entry that is wrong"
    )


def hint(count: int) -> str:
    """Why there may be fewer devices than somebody expects.

    Args:
        count: how many there are.
    """
    value = os.environ.get(VARIABLE)
    if value is not None:
        return misread() or f"{VARIABLE} is {value!r}, and CANN numbers what it shows from 0"
    return "" if count else "`npu-smi info` must list one"
