"""Tensors of which each process holds a part: how they lie on a mesh, and what can be done with them.

The public face is ``torch.distributed.tensor``. What an op makes of parts is an entry of the table in
`axis_rules`, where it follows from the axes of its operands, or in `rules`; other ops gather their operands.
"""

from __future__ import annotations

from .rules import RULES

__all__ = ["RULES"]
