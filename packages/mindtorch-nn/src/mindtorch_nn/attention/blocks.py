"""Blocks of a mask: lists of those that count, and pictures of them.

For each row of blocks the columns are listed: first those that count, then the others.
"""

from __future__ import annotations

from collections.abc import Iterator

import mindtorch_core as torch
from mindtorch_core import Tensor

__all__ = ["dense", "lines", "listed", "listed_by_column"]


def listed(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """How many blocks of each row count, and the columns, with those that count first."""
    number = blocks.sum(-1, dtype=torch.int32)
    order = blocks.to(torch.int32).argsort(dim=-1, descending=True, stable=True)
    return number, order.to(torch.int32)


def dense(number: Tensor, columns: Tensor) -> Tensor:
    """Which blocks count, where they were `listed`."""
    width = columns.size(-1)
    places = torch.arange(width, device=columns.device)
    behind = torch.where(places < number.unsqueeze(-1), columns.long(), width)
    made = torch.zeros((*columns.shape[:-1], width + 1), dtype=torch.int32, device=columns.device)
    return made.scatter(-1, behind, 1)[..., :width]


def listed_by_column(
    number: Tensor | None, columns: Tensor | None
) -> tuple[Tensor | None, Tensor | None]:
    """What was listed by row, listed by column."""
    if number is None or columns is None:
        return None, None
    return listed(dense(number, columns).transpose(-2, -1))


def lines(blocks: Tensor, down: int, across: int) -> Iterator[str]:
    """One head's picture: a sign, twice, for each part of so many rows and columns."""
    for row in blocks.float().split(down):
        shares = [part.mean().item() for part in row.split(across, dim=1)]
        yield "".join(2 * ("█" if s == 1 else "░" if s else " ") for s in shares)
