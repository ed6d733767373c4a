"""Making pipelines for ``with`` blocks, or taking those of blocks that are over."""

from __future__ import annotations

import sys
from typing import Final

from ..values.references import LOOK
from .blocks import SPARE
from .context import MAX_BYTES, MAX_OPS, Pipeline
from .observers import TRACING

__all__ = ["pipeline_context"]

_getrefcount: Final = sys.getrefcount


def pipeline_context(
    max_ops: int = MAX_OPS,
    max_bytes: int = MAX_BYTES,
    trace: bool = False,
    *,
    through_backward: bool = False,
) -> Pipeline:
    """A pipeline, to be entered with ``with``: ops are recorded, and run together when a value is needed.

    Args:
        max_ops: flush by itself when this many ops are recorded; so a long loop does not grow.
        max_bytes: flush by itself when the recorded results would take this much memory.
        trace: describe every op and when it ran, for `Pipeline.graph` and `export_chrome_trace`.
        through_backward: have ``backward()`` and ``autograd.grad()`` recorded, not flush first.

    Example:
        >>> with torch.pipeline(): y = torch.ones(2) * 2
        >>> y
        tensor([2., 2.])
    """
    if max_ops is not MAX_OPS or max_bytes is not MAX_BYTES or trace or TRACING:
        return Pipeline(max_ops, max_bytes, trace, through_backward=through_backward)
    try:
        end = SPARE.pop()
    except IndexError:
        end = None
    if end is None or _getrefcount(end) > LOOK:  # the statement that it has served is not over yet
        pipe = Pipeline()
        pipe.usual = True
    else:
        pipe = end.of
        pipe.end, pipe.max_ops, pipe.max_bytes = end, MAX_OPS, MAX_BYTES
    pipe.through_backward = through_backward
    return pipe
