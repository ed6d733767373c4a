"""Draw the rooms of the core, top floor first, as the linter's contract orders them.

A room's line in the picture is the first line of its package's docstring, so the picture says what the
code says.
"""

from __future__ import annotations

import ast
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = "rooms"
WIDTH, MARGIN, GAP, LINE, FLOOR = 1000, 24, 12, 15, 14
STYLE = """
    text { font-family: Helvetica, Arial, "DejaVu Sans", sans-serif; fill: #1d2733; font-size: 12px }
    .head { font-family: Menlo, Consolas, "DejaVu Sans Mono", monospace; font-weight: bold; font-size: 13px }
    .note { fill: #56616e; font-size: 11.5px }
    .room { fill: #ffffff; stroke: #8795a5; stroke-width: 1.2 }
    .rows { fill: #fdf3e3; stroke: #c99a4b; stroke-width: 1.2 }
    .down { stroke: #1d2733; stroke-width: 1.6; fill: none; marker-end: url(#arrow) }
"""


def floors() -> list[list[str]]:
    """Rooms by floor, the highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (contract,) = (c for c in settings["contracts"] if c["id"] == CONTRACT)
    return [
        [room.strip(" ()") for room in layer.replace("|", ":").split(":")]
        for layer in contract["layers"]
    ]


def summary(room: str) -> str:
    """The first line of a room's docstring."""
    path = ROOT / "mindtorch_core" / room
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    doc = ast.get_docstring(ast.parse(source.read_text("utf-8")))
    if not doc:
        raise ValueError(f"{source} has no docstring to show")
    return " ".join(doc.partition("\n\n")[0].replace("`", "").split())


def floor(rooms: list[str], top: int) -> tuple[list[str], int]:
    """The boxes of one floor, and where the next one begins."""
    width = (WIDTH - 2 * MARGIN - 40 - GAP * (len(rooms) - 1)) / len(rooms)
    texts = [textwrap.wrap(summary(room), int((width - 20) / 5.7)) for room in rooms]
    height = 32 + LINE * max(map(len, texts))
    shapes = []
    for i, (room, lines) in enumerate(zip(rooms, texts, strict=True)):
        x = MARGIN + i * (width + GAP)
        kind = "rows" if room == "operators" else "room"
        shapes.append(
            f'<rect class="{kind}" x="{x:.0f}" y="{top}" width="{width:.0f}" height="{height}" rx="7"/>'
        )
        shapes.append(f'<text class="head" x="{x + 10:.0f}" y="{top + 19}">{escape(room)}</text>')
        shapes += [
            f'<text class="note" x="{x + 10:.0f}" y="{top + 36 + LINE * k}">{escape(line)}</text>'
            for k, line in enumerate(lines)
        ]
    return shapes, top + height + FLOOR


def lines() -> Iterator[str]:
    """The picture as SVG."""
    shapes, y = [], MARGIN
    for rooms in floors():
        more, y = floor(rooms, y)
        shapes += more
    bottom = y - FLOOR
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + MARGIN}" role="img" '
        'aria-labelledby="title desc">'
    )
    yield '  <title id="title">The rooms of mindtorch_core</title>'
    yield '  <desc id="desc">A room imports only from rooms below it.</desc>'
    yield f"  <style>{STYLE}  </style>"
    yield '  <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8"'
    yield '    markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#1d2733"/></marker></defs>'
    yield f'  <rect width="{WIDTH}" height="{bottom + MARGIN}" rx="10" fill="#f7f8fa"/>'
    yield from (f"  {shape}" for shape in shapes)
    x = WIDTH - MARGIN - 14
    yield f'  <path class="down" d="M{x} {MARGIN + 4} V{bottom - 4}"/>'
    yield (
        f'  <text class="note" transform="translate({x + 14} {MARGIN + 8}) rotate(90)">imports go down'
        "</text>"
    )
    yield "</svg>"


def files() -> dict[str, str]:
    """The picture."""
    return {"docs/rooms.svg": "\n".join(lines()) + "\n"}
