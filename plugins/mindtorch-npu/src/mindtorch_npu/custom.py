"""Where custom operator packages are: operators that users have added to CANN, or replaced."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["VARIABLE", "libraries"]

VARIABLE: Final = "ASCEND_CUSTOM_OPP_PATH"
LIBRARY: Final = Path("op_api/lib/libcust_opapi.so")  # in each package


def libraries(operators: Path) -> list[Path]:
    """The libraries of all custom packages, the preferred ones first, whether they exist or not.

    Args:
        operators: the toolkit's own operator package, where ``ASCEND_OPP_PATH`` names no other.
    """
    named = [entry.strip() for entry in os.environ.get(VARIABLE, "").split(":")]
    installed = Path(os.environ.get("ASCEND_OPP_PATH", "").strip() or operators) / "vendors"
    packages = [*(Path(entry) for entry in named if entry), *_vendors(installed)]
    return list(dict.fromkeys(package / LIBRARY for package in packages))


def _vendors(folder: Path) -> Iterator[Path]:
    """The packages that are installed in the toolkit, in the order that its ``config.ini`` gives."""
    try:
        text = (folder / "config.ini").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        key, _, names = line.partition("=")
        if key.strip() == "load_priority":
            yield from (folder / name.strip() for name in names.split(",") if name.strip())
