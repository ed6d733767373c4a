"""Several calls as one work: coalesced forms of collective operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..tensors.tensor import Tensor
from .collectives import Op, all_gather, all_reduce
from .engine import Then
from .groups import by_own_name, chosen, outside
from .lending import check_tensors
from .listening import as_one
from .reductions import ReduceOp
from .work import COLLECTING, Work

__all__ = ["all_gather_coalesced", "all_reduce_coalesced"]


def _together(works: Sequence[Work | None], async_op: bool) -> Work | None:
    begun = [work for work in works if work is not None]
    whole = Work(Then([work._ticket for work in begun]), [t for w in begun for t in w.result()])
    if async_op:
        return whole
    whole.wait()
    return None


@by_own_name
def all_reduce_coalesced(
    tensors: Sequence[Tensor] | Tensor,
    op: Op = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce each of several tensors over all ranks, in place."""
    each = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    check_tensors(each, "tensors")
    if outside(group, "all_reduce_coalesced"):
        return None
    with as_one("all_reduce_coalesced"), chosen(group).as_list(len(each)):
        works = [all_reduce(t, op, group, async_op=True) for t in each]
    return _together(works, async_op)


@by_own_name
def all_gather_coalesced(
    output_tensor_lists: list[list[Tensor]],
    input_tensor_list: list[Tensor],
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Write each of several tensors of all ranks into lists; ``output_tensor_lists[rank][i]``."""
    check_tensors(input_tensor_list, "input_tensor_list")
    if outside(group, "all_gather_coalesced"):
        return None
    for each in output_tensor_lists:
        check_tensors(each, "output_tensor_lists")
    with as_one("all_gather_coalesced"), chosen(group).as_list(len(input_tensor_list)):
        works = [
            all_gather([row[i] for row in output_tensor_lists], t, group, async_op=True)
            for i, t in enumerate(input_tensor_list)
        ]
    return _together(works, async_op)


class Coalescing:
    """What `_coalescing_manager` gives: the works that were begun in its block."""

    def __init__(self) -> None:
        self.works: list[Work] = []

    def append(self, work: Work | None = None) -> None:
        """Take a work."""
        if work is not None:
            self.works.append(work)

    def wait(self) -> None:
        """Wait for all."""
        for work in self.works:
            work.wait()


@contextmanager
def _coalescing_manager(
    group: Any = None, device: Any = None, async_ops: bool = False
) -> Iterator[Coalescing]:
    """A block whose works are waited for at its end, or by `Coalescing.wait`."""
    made = Coalescing()
    outer = COLLECTING.set(made.works)
    try:
        yield made
    finally:
        COLLECTING.reset(outer)
    if not async_ops:
        made.wait()
