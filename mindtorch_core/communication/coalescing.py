"""Several calls as one: coalesced forms of collective operations, and blocks of single calls."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial, wraps
from types import FrameType
from typing import Any, Final, NamedTuple, TypeVar

from ..deferred.frames import CORE, INSIDE
from ..tensors.tensor import Tensor
from ..values.own_frames import refusing
from . import collectives
from .collectives import Op, all_gather
from .engine import Then
from .errors import UnfitError
from .groups import NON_MEMBER, ProcessGroup, by_own_name, chosen, default_group, outside
from .lending import check_alike, check_tensor, check_tensors
from .listening import as_one
from .reductions import ReduceOp
from .work import COLLECTING, Work

__all__ = [
    "all_gather_coalesced",
    "all_gather_into_tensor",
    "all_gather_single",
    "all_reduce",
    "all_reduce_coalesced",
    "reduce_scatter_single",
    "reduce_scatter_tensor",
]

F = TypeVar("F", bound=Callable[..., Any])


def _together(
    op: str, group: Any, tensors: Sequence[Tensor], calls: Sequence[Callable[[], Work]]
) -> Work:
    """Begin calls as one.

    Args:
        op: what they are told of by.
        group: the ranks.
        tensors: each call's.
        calls: begin one each.
    """
    with as_one(op), chosen(group).as_list(tensors, op):
        begun = [call() for call in calls]
    return Work(Then([work._ticket for work in begun]), [t for w in begun for t in w.result()])


def _ended(work: Work, async_op: bool) -> Work | None:
    if async_op:
        return work
    work.wait()
    return None


@by_own_name
def all_reduce_coalesced(
    tensors: Sequence[Tensor] | Tensor,
    op: Op = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce each of several tensors over all ranks, in place.

    Raises:
        ValueError: if their dtypes differ.
    """
    each = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    check_tensors(each, "tensors")
    check_alike(each)
    if outside(group, "all_reduce_coalesced"):
        return None
    calls = [partial(collectives.all_reduce, t, op, group, async_op=True) for t in each]
    return _ended(_together("all_reduce_coalesced", group, each, calls), async_op)  # type: ignore[arg-type]


@by_own_name
def all_gather_coalesced(
    output_tensor_lists: list[list[Tensor]],
    input_tensor_list: list[Tensor],
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Write each of several tensors of all ranks into lists; ``output_tensor_lists[rank][i]``.

    Raises:
        ValueError: if there is not one for each tensor of each rank, or the tensors' dtypes differ.
    """
    check_tensors(input_tensor_list, "input_tensor_list")
    check_alike(input_tensor_list)
    if outside(group, "all_gather_coalesced"):
        return None
    for row in output_tensor_lists:
        check_tensors(row, "output_tensor_lists")
        if len(row) != len(input_tensor_list):
            raise UnfitError(
                f"all_gather_coalesced: invalid output size: (expected length {len(input_tensor_list)}, "
                f"got {len(row)})"
            )
    calls = [
        partial(all_gather, [row[i] for row in output_tensor_lists], t, group, async_op=True)
        for i, t in enumerate(input_tensor_list)
    ]
    work = _together("all_gather_coalesced", group, input_tensor_list, calls)  # type: ignore[arg-type]
    return _ended(work, async_op)


# ---- blocks ----------------------------------------------------------------------------------------


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


class NoWork:
    """What a call gives that is made at the end of its block: that has the work, so that this has none."""

    def __getattr__(self, name: str) -> Any:
        if hasattr(Work, name):
            raise ValueError(
                f"Illegal to call {name} on IllegalWork object: the call is made at the end of the block of "
                "_coalescing_manager, which waits for it, or whose manager does"
            )
        raise AttributeError(name)


class _Put(NamedTuple):
    """A call that is made at the end of its block.

    Attributes:
        op: the function's name.
        tensor: whose elements are sent.
        begin: makes it.
    """

    op: str
    tensor: Tensor
    begin: Callable[[], Work]


# By group what is called in blocks that are open.
_OPEN: Final[ContextVar[dict[Any, list[_Put]]]] = ContextVar("_OPEN")


def _by_ours() -> bool:
    """Whether a package of ours above the core calls, such as a layer, which goes on with the result."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and CORE[frame.f_globals.get("__name__")]:
        frame = frame.f_back
    return frame is not None and INSIDE[frame.f_globals.get("__name__")]


def _coalesced(sent: str) -> Callable[[F], F]:
    """Decorator: in a block of its group a call is made at the block's end, with the others as one.

    What is made of the function calls it as it was.

    Args:
        sent: the argument whose elements are sent.
    """

    def decorate(function: F) -> F:
        signature = inspect.signature(function)

        @refusing
        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            if not (blocks := _OPEN.get(None)) or _by_ours():
                return function(*args, **kwargs)
            given = signature.bind(*args, **kwargs)
            given.apply_defaults()
            own = given.arguments
            group = default_group() if own["group"] is None else own["group"]
            block = blocks.get(group) if isinstance(group, ProcessGroup) else None
            if block is None:
                return function(*args, **kwargs)
            for name, each in own.items():
                if name not in ("op", "group", "async_op"):
                    check_tensor(each, name)
            waits = not own["async_op"]
            own["async_op"] = True
            begin = partial(function, *given.args, **given.kwargs)
            block.append(_Put(function.__name__, own[sent], begin))
            return None if waits else NoWork()

        called.__module__ = __name__
        return called  # type: ignore[return-value]  # its signature is the function's

    return decorate


all_reduce = _coalesced("tensor")(collectives.all_reduce)
all_gather_into_tensor = _coalesced("input_tensor")(collectives.all_gather_into_tensor)
reduce_scatter_tensor = _coalesced("input")(collectives.reduce_scatter_tensor)
# PyTorch's names of late.
all_gather_single = all_gather_into_tensor
reduce_scatter_single = reduce_scatter_tensor


class _Block:
    """What `_coalescing_manager` gives."""

    def __init__(self, group: Any, async_ops: bool) -> None:
        self._group = group if group is NON_MEMBER else chosen(group)
        self._async = async_ops
        self._made = Coalescing()
        self._puts: list[_Put] = []

    def __enter__(self) -> Coalescing:
        around = _OPEN.get({})
        if around.get(self._group):
            raise ValueError("ProcessGroup has non-empty op list at the start of coalescing")
        self._outer = COLLECTING.set(self._made.works)
        self._opened = _OPEN.set({**around, self._group: self._puts})
        return self._made

    def __exit__(self, kind: object, *_: object) -> None:
        COLLECTING.reset(self._outer)
        _OPEN.reset(self._opened)
        if kind is not None:
            return
        if self._puts:
            self._made.append(_all_of(self._group, self._puts))
        if not self._async:
            self._made.wait()


def _coalescing_manager(group: Any = None, device: Any = None, async_ops: bool = False) -> _Block:
    """A block whose calls are made at its end, as one, and waited for there or by `Coalescing.wait`.

    That is so for `all_reduce`, `all_gather_into_tensor` and `reduce_scatter_tensor` of its group; others are
    made at once, and those that were begun with ``async_op=True`` waited for with them.

    Args:
        group: the ranks; a process that is not in it calls nothing.
        device: taken for PyTorch's sake.
        async_ops: whether the end of the block does not wait.

    Raises:
        ValueError: if a block of the group is open that has calls.
        RuntimeError: if the calls are not all of one function.
    """
    return _Block(group, async_ops)


def _all_of(group: Any, puts: Sequence[_Put]) -> Work:
    """Make the calls of a block.

    Raises:
        RuntimeError: if they are not all of one function.
    """
    ops = {each.op for each in puts}
    if len(ops) > 1:
        raise RuntimeError(
            f"Coalescing manager requires all collectives to be the same type, but got mixed types: {ops}"
        )
    tensors = [each.tensor for each in puts]
    if puts[0].op == "all_reduce":
        check_alike(tensors)
    return _together(f"{ops.pop()}_coalesced", group, tensors, [each.begin for each in puts])
