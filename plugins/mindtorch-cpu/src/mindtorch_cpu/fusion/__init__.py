"""Fused launch of recorded ops: runs of element-wise ops become one pass over cache-sized tiles.

`grouping` decides which entries run together, `tiles` cuts their operands, `group` computes a
group's tiles, `planning` puts it together and keeps plans by the structure of the trace.
"""

from .planning import plan

__all__ = ["plan"]
