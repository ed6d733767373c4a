"""Views that lie elsewhere in each run: rows of a batch, say, or a position in a cache.

A view of memory that is there costs nothing, so it need not be recorded. At a place where a trace has met
one with other numbers, views are made at once from then on, and what reads them finds them among the
block's inputs, of which strides and shapes are guarded but no place in memory.
"""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Final

from ...dispatch.keys import MASKS, DispatchKey, with_masks
from ..frames import INSIDE
from ..trace import TENSORS, RecordedOp
from .following import MISSED
from .known import Expected
from .matching import stands_at
from .sites import Site

if TYPE_CHECKING:
    from .replaying import Replaying

__all__ = ["floated"]

_UNRECORDED: Final = ~int(DispatchKey.Pipeline)


def floated(
    pipe: Replaying, e: Expected, op: RecordedOp, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A view that is made at once, or `MISSED` where it is to be recorded.

    Args:
        pipe: the pipeline, whose block is one that may come again.
        e: what is expected; the call is another one.
        op: the op that is called.
        args: its arguments.
        kwargs: those by name.
    """
    site = pipe.site
    otherwise = e.op is op and e.kind == "view"
    if site is None or not (otherwise or site.floating):
        return MISSED
    base = args[0]
    if not TENSORS[base.__class__] or base._payload is None:
        return MISSED  # its memory is still to be made
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and INSIDE[frame.f_globals.get("__name__")]:
        frame = frame.f_back
    if frame is None:
        return MISSED
    code, instruction = frame.f_code, frame.f_lasti
    here = otherwise and stands_at(e, code, instruction)
    if here:
        site.floating[id(code), instruction] = code  # so that no other one gets its identity
    elif not _known(site, code, instruction):
        return MISSED
    view = with_masks(MASKS.include, MASKS.keep & _UNRECORDED, op.impl, *args, **kwargs)
    if here and (view._shape, view._dtype, view._geometry()[0]) == e.results[0]:
        with pipe.lock:
            if pipe.expected is e:  # go on, to find all such places in one run
                pipe.values[e.out] = view
                pipe.skipped = [*pipe.skipped, e]
                pipe.expected = e.next
    return view


def _known(site: Site, code: CodeType, instruction: int) -> bool:
    """Whether views float at an instruction, which the interpreter may have come to specialise."""
    floating = site.floating
    found = floating.get((id(code), instruction))
    if found is None:
        positions = [*code.co_positions()]
        wanted = positions[instruction // 2]
        same = any(
            held is code and positions[at // 2] == wanted for (_, at), held in floating.items()
        )
        found = floating[id(code), instruction] = code if same else False
    return found is not False
