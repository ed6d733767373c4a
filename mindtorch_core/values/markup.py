"""HTML for notebooks: texts are escaped, styles stay within what is shown."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

__all__ = ["box", "escaped", "json_text", "preformatted", "table"]

# In a script element "</script" ends it, and "<!--" begins a comment in which that no longer does.
_IN_SCRIPTS: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}
_CELL = "text-align:left;vertical-align:top"


def escaped(text: object) -> str:
    """A text that is shown as it is."""
    return html.escape(str(text))


def json_text(data: Any) -> str:
    """Plain data as JSON for a script element of a page: whatever stands in it, it ends no element."""
    return json.dumps(data, separators=(",", ":")).translate(_IN_SCRIPTS)


def box(*parts: str) -> str:
    """Parts of HTML, one under the other."""
    return f"<div>{''.join(parts)}</div>"


def preformatted(text: object) -> str:
    """A text of which the lines and the spaces count."""
    return f'<pre style="margin:0.3em 0">{escaped(text)}</pre>'


def table(head: Sequence[str], rows: Iterable[Sequence[object]], strong: Iterable[int] = ()) -> str:
    """A table.

    Args:
        head: of each column.
        rows: the cells' texts.
        strong: numbers of the rows that stand out.
    """
    marked = frozenset(strong)
    lines = ["<table><thead><tr>"]
    lines += [f'<th style="{_CELL}">{escaped(cell)}</th>' for cell in head]
    lines.append("</tr></thead><tbody>")
    for number, row in enumerate(rows):
        style = f"{_CELL};font-weight:bold" if number in marked else _CELL
        cells = "".join([f'<td style="{style}">{escaped(cell)}</td>' for cell in row])
        lines.append(f"<tr>{cells}</tr>")
    lines.append("</tbody></table>")
    return "".join(lines)
