"""The report as one page: ops by dtype, searchable, with every message; it needs no network."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import resources
from typing import Any

from ...values.devices import row_of
from ...values.markup import json_text
from .cases import LEVELS
from .results import STATES, Results
from .sweeps import SWEPT

__all__ = ["report", "write_page"]

_PLACE = "/*DATA*/"


def write_page(path: str, results: Results, device: str, level: str) -> None:
    """Write the page.

    Raises:
        OSError: if the file cannot be written.
    """
    template = resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    text = json_text(report(results, device, level))
    with open(path, "w", encoding="utf-8") as file:
        file.write(template.replace(_PLACE, text))


def report(results: Results, device: str, level: str) -> dict[str, Any]:
    """The results as plain data."""
    from ... import __version__

    used = {dtype for row in results.ops.values() for dtype in row}
    dtypes = [d for d in SWEPT if d in used] + sorted(used - set(SWEPT))
    return {
        "device": device,
        "distribution": row_of(device).distribution,
        "core": __version__,
        "level": level,
        "levels": LEVELS,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "states": STATES,
        "totals": results.totals(),
        "dtypes": dtypes,
        "ops": [
            {
                "op": op,
                "family": results.families[op],
                "state": results.state_of(op),
                "cells": {d: _cell(cell) for d, cell in results.ops[op].items()},
            }
            for op in sorted(results.ops)
        ],
        "others": [{"test": test, **_cell(cell)} for test, cell in results.others.items()],
    }


def _cell(cell: Any) -> dict[str, Any]:
    return {"state": cell.state, "counts": cell.counts, "problems": cell.problems}
