"""Where the parts of a DTensor lie, as a table."""

from __future__ import annotations

from itertools import product
from typing import Any

from .....communication.sharded.layouts import part_of

__all__ = ["visualize_sharding"]


def visualize_sharding(dtensor: Any, header: str = "", use_rich: bool = False) -> None:
    """Print which ranks have which rows and columns, once: by the first rank of the mesh.

    Args:
        dtensor: of one dimension or two; nothing is printed of an empty one.
        header: taken for PyTorch's sake, which does not show it either.
        use_rich: taken for PyTorch's sake: the table is plain text.

    Raises:
        RuntimeError: for one of more dimensions.
    """
    mesh = dtensor.device_mesh
    if dtensor.numel() == 0:
        return
    if dtensor.ndim >= 3:
        raise RuntimeError("visualize sharding supports only 1D or 2D DTensor")
    if mesh.get_coordinate() is None or any(mesh.get_coordinate()):
        return
    held: dict[tuple[str, str], list[str]] = {}
    spans: tuple[dict[str, int], dict[str, int]] = {}, {}
    for place in product(*map(range, mesh.shape)):
        sizes, starts = part_of(dtensor.shape, mesh, dtensor.placements, place=place)
        if 0 in sizes:
            continue
        sizes, starts = (*sizes, 1, 1)[:2], (*starts, 0, 0)[:2]
        at = [f"{start}-{start + size - 1}" for start, size in zip(starts, sizes, strict=True)]
        for span, text, start in zip(spans, at, starts, strict=True):
            span[text] = start
        rank = int(mesh.mesh[place].item())
        held.setdefault((at[0], at[1]), []).append(str(rank))
    rows, columns = (sorted(span, key=span.__getitem__) for span in spans)
    kind = mesh.device_type
    print(
        _table(
            ["", *(f"Col {each}" for each in columns)],
            [
                [f"Row {row}"]
                + [
                    f"{kind}:{','.join(held[row, column])}" if (row, column) in held else ""
                    for column in columns
                ]
                for row in rows
            ],
        )
    )


def _table(titles: list[str], rows: list[list[str]]) -> str:
    """Columns of text below their titles, which have two places more."""
    widths = [max(len(title) + 2, *(len(row[i]) for row in rows)) for i, title in enumerate(titles)]
    lines = [titles, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
