"""Numbers that a block changes and computes with on the host: how many steps an optimizer has made, say.

They are no part of what a block computes, and to look at them must not end what it records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial

from ..deferred.blocks import STACK
from ..deferred.dependence import memory_of
from ..dispatch.keys import DispatchKey
from ..dispatch.masks import exclude_keys
from ..tensors.tensor import Tensor

__all__ = ["at_once"]

_AT_ONCE = partial(exclude_keys, DispatchKey.Pipeline)


def at_once(tensors: Sequence[Tensor]) -> Callable[[], AbstractContextManager[object]]:
    """What to be in while tensors are read and written, so that it happens at once.

    Nothing special where no block is open, or where something that is recorded reads or writes one of
    them: then all that is done to them is recorded in its turn, and who looks at a value breaks the block.

    Args:
        tensors: all that will be read or written.
    """
    opened = STACK.open
    if not opened or STACK.left or any(t._payload is None or t._pending for t in tensors):
        return nullcontext
    memories = {id(memory_of(t)) for t in tensors}
    return nullcontext if any(pipe.uses(memories) for pipe in opened) else _AT_ONCE
