"""Tensors of which each process holds a part: how they lie on a mesh, and what can be done with them.

The public face is ``torch.distributed.tensor``. Optimizers, norms, clipping and files need no more than
`rules` serves; other ops are refused there. A rule of its own for an op, as tensor parallelism wants, is an
entry of the table in `rules`.
"""

from __future__ import annotations

from .rules import RULES

__all__ = ["RULES"]
