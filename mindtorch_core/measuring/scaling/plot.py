"""A drawing of efficiency by ranks: an SVG that stands alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from .prediction import Predicted

__all__ = ["efficiency_plot"]

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 640, 360, 60, 56, 20, 50


def efficiency_plot(script: str, network: str, points: Sequence[Predicted]) -> str:
    """The text of an SVG: predicted efficiency in per cent over ranks, whose axis is logarithmic.

    Args:
        script: its name; whatever stands in it is shown as text.
        network: its name, likewise.
        points: one for each number of ranks, in their order.
    """
    most = max(math.log2(points[-1].ranks), 1.0)

    def x(ranks: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * math.log2(ranks) / most

    def y(share: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * min(max(share, 0.0), 1.0)

    title = _clean(f"Predicted, not measured: {script} on {network}")
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{title}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="24" font-size="14">{title}</text>',
    ]
    for tenth in range(0, 11, 2):
        at = y(tenth / 10)
        lines.append(f'<path d="M{_LEFT} {at:.1f}H{_WIDTH - _RIGHT}" stroke="#ddd"/>')
        lines.append(
            f'<text x="{_LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{10 * tenth} %</text>'
        )
    lines += [
        f'<text x="{x(p.ranks):.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{p.ranks}</text>'
        for p in points
    ]
    path = " ".join(f"{x(p.ranks):.1f},{y(p.efficiency):.1f}" for p in points)
    lines.append(f'<polyline points="{path}" fill="none" stroke="#06c" stroke-width="2"/>')
    lines += [
        f'<circle cx="{x(p.ranks):.1f}" cy="{y(p.efficiency):.1f}" r="3" fill="#06c">'
        f"<title>{p.ranks} ranks: {100 * p.efficiency:.1f} %</title></circle>"
        for p in points
    ]
    lines += [f'<text x="{_LEFT}" y="{_HEIGHT - 10}">ranks</text>', "</svg>", ""]
    return "\n".join(lines)


def _clean(text: str) -> str:
    """A text for XML, which has no place for control characters and lone surrogates."""
    shown = "".join(
        c if c.isprintable() and not 0xD800 <= ord(c) < 0xE000 else "\ufffd" for c in text
    )
    return escape(shown)
