"""Tables: drawn by rich where a person looks on and rich is installed, aligned text elsewhere.

rich is an extra, ``pip install mindtorch-core[terminal]``: without it terminals get the text as well.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["drawn", "print_table"]


def drawn() -> bool:
    """Whether tables are drawn."""
    return sys.stdout.isatty() and importlib.util.find_spec("rich") is not None


def print_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    right: Sequence[int] = (),
) -> None:
    """Print a table.

    Args:
        head: names of the columns.
        rows: cells as text; whatever stands in them is printed as it is.
        title: printed above it.
        right: numbers of the columns that are flush right.
    """
    if drawn():
        _draw(head, rows, title, right)
        return
    lines = [tuple(head), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    if title:
        print(title)
    for line in lines:
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def _draw(
    head: Sequence[str], rows: Sequence[Sequence[str]], title: str, right: Sequence[int]
) -> None:
    console: Any = importlib.import_module("rich.console").Console()
    text: Any = importlib.import_module("rich.text").Text  # no markup: names may hold brackets
    table: Any = importlib.import_module("rich.table").Table(
        title=text(title) if title else None, title_justify="left", box=_box(),
        padding=(0, 1, 0, 0), pad_edge=False,
    )  # fmt: skip
    widest = max(range(len(head)), key=lambda i: max(len(row[i]) for row in [head, *rows]))
    for i, name in enumerate(head):
        justify = "right" if i in right else "left"
        table.add_column(text(name), justify=justify, overflow="fold", no_wrap=i != widest)
    for row in rows:
        table.add_row(*map(text, row))
    console.print(table)


def _box() -> Any:
    return importlib.import_module("rich.box").SIMPLE_HEAD
