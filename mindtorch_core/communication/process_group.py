"""`ProcessGroup` as users hold it: a group whose calls are methods, by PyTorch's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import timedelta
from functools import wraps
from importlib import import_module
from typing import Any, Final, TypeVar

from ..tensors.tensor import Tensor
from . import coalescing, collectives, exchanges, messages
from .call_options import (
    AllgatherOptions,
    AllreduceCoalescedOptions,
    AllreduceOptions,
    AllToAllOptions,
    BarrierOptions,
    BroadcastOptions,
    CallOptions,
    GatherOptions,
    ReduceOptions,
    ReduceScatterOptions,
    ScatterOptions,
)
from .groups import ProcessGroup as Members
from .monitored import monitored_barrier
from .parts import part
from .reductions import ReduceOp
from .stores import Store
from .work import Work

__all__ = ["ProcessGroup"]

Tensors = Sequence[Tensor]
Rows = Sequence[Sequence[Tensor]]
F = TypeVar("F", bound=Callable[..., Any])
# Engines of PyTorch's that have a class here: by their names, modules beside this one that stand on it.
_FACES: Final = ("gloo",)


def _also(**others: str) -> Callable[[F], F]:
    """Decorator: further keywords of a method, as PyTorch has them in its other forms."""

    def decorate(method: F) -> F:
        @wraps(method)
        def named(*args: Any, **kwargs: Any) -> Any:
            return method(*args, **{others.get(name, name): v for name, v in kwargs.items()})

        return named  # type: ignore[return-value]  # its signature is the method's

    return decorate


class ProcessGroup(Members):
    """Processes that make calls together.

    Each method begins a call and returns its `Work`. Roots and peers are positions in the group. Where
    PyTorch takes lists of tensors, one for each of a process's devices, they hold one.
    """

    # ---- what it is ------------------------------------------------------------------------------

    def get_group_store(self) -> Store:
        """The store of the group."""
        return self.store

    def set_timeout(self, timeout: timedelta) -> None:
        """Let this be the timeout of each further call."""
        self.timeout = timeout

    def _get_backend_name(self) -> str:
        return self.backend

    @property
    def _device_types(self) -> list[Any]:
        """Types of devices whose tensors are moved without being staged."""
        from ..values.devices import device

        return [device(name) for name in self.communicators]

    def _get_backend(self, device: Any) -> ProcessGroup:
        """What moves a device's tensors, with the same calls; of the class of PyTorch's engine of that name.

        Raises:
            RuntimeError: for a type of device whose tensors it does not move without staging them.
        """
        from ..values.devices import device as as_device

        kind = as_device(device).type
        if kind not in self.communicators:
            raise RuntimeError(f"No backend type associated with device type {kind}")
        for name in _FACES:
            if name in self.backend:
                found: ProcessGroup = import_module(f"{__package__}.{name}").face(self)
                return found
        return self

    # ---- calls -----------------------------------------------------------------------------------

    def _begin(
        self, timeout: timedelta | None, call: Callable[..., Work | None], *args: Any, **kwargs: Any
    ) -> Work:
        """Begin a call of this group, with a timeout of its own if it has one."""
        limited = timeout is not None and timeout > timedelta(0)
        with self.limited(timeout) if limited and timeout is not None else nullcontext():
            work = call(*args, group=self, async_op=True, **kwargs)
        assert work is not None, "who holds a group is in it"
        return work

    @_also(tensor="tensors")
    def allreduce(
        self,
        tensors: Tensors | Tensor,
        opts: AllreduceOptions | ReduceOp | None = None,
        timeout: timedelta | None = None,
        *,
        op: Any = None,
    ) -> Work:
        """Reduce a tensor over all ranks, in place."""
        how, timeout = _reduction("allreduce", opts, op, timeout)
        return self._begin(timeout, collectives.all_reduce, _one("allreduce", tensors), how)

    def allreduce_coalesced(
        self, tensors: Tensors, opts: AllreduceCoalescedOptions | None = None
    ) -> Work:
        """Reduce each of several tensors over all ranks, in place."""
        how, timeout = _reduction("allreduce_coalesced", opts, None, None)
        return self._begin(timeout, coalescing.all_reduce_coalesced, [*tensors], how)

    @_also(tensor="tensors")
    def broadcast(
        self,
        tensors: Tensors | Tensor,
        opts: BroadcastOptions | int | None = None,
        timeout: timedelta | None = None,
        *,
        root: int | None = None,
    ) -> Work:
        """Overwrite all ranks' tensor with that of one."""
        at, timeout = _rooted("broadcast", opts, root, timeout)
        tensor = _one("broadcast", tensors)
        return self._begin(timeout, collectives.broadcast, tensor, group_src=at)

    @_also(tensor="tensors")
    def reduce(
        self,
        tensors: Tensors | Tensor,
        opts: ReduceOptions | int | None = None,
        op: Any = None,
        timeout: timedelta | None = None,
        *,
        root: int | None = None,
    ) -> Work:
        """Reduce a tensor over all ranks into the tensor of one."""
        at, timeout = _rooted("reduce", opts, root, timeout)
        how = opts.reduceOp if isinstance(opts, ReduceOptions) else op or ReduceOp.SUM
        tensor = _one("reduce", tensors)
        return self._begin(timeout, collectives.reduce, tensor, op=how, group_dst=at)

    @_also(input_tensor="input_tensors")
    def allgather(
        self,
        output_tensors: Rows | Tensors,
        input_tensors: Tensors | Tensor,
        opts: AllgatherOptions | None = None,
        timeout: timedelta | None = None,
    ) -> Work:
        """Write each rank's tensor into a list, by position."""
        tensor = _one("allgather", input_tensors)
        rows = _row("allgather", output_tensors)
        return self._begin(_limit(opts, timeout), collectives.all_gather, rows, tensor)

    def allgather_coalesced(
        self, output_lists: Rows, input_list: Tensors, opts: AllgatherOptions | None = None
    ) -> Work:
        """Write each of several tensors of all ranks into lists; ``output_lists[rank][i]``."""
        rows = [[*row] for row in output_lists]
        return self._begin(_limit(opts), coalescing.all_gather_coalesced, rows, [*input_list])

    def all_gather_single(
        self, output: Tensor, input: Tensor, opts: AllgatherOptions | None = None
    ) -> Work:
        """Write all ranks' tensors one after the other into one."""
        return self._begin(_limit(opts), collectives.all_gather_into_tensor, output, input)

    _allgather_base = all_gather_single

    @_also(input_tensor="input_tensors")
    def gather(
        self,
        output_tensors: Rows | Tensors,
        input_tensors: Tensors | Tensor,
        opts: GatherOptions | int | None = None,
        timeout: timedelta | None = None,
        *,
        root: int | None = None,
    ) -> Work:
        """Write each rank's tensor into a list that one rank has; the others' is empty."""
        at, timeout = _rooted("gather", opts, root, timeout)
        tensor, rows = _one("gather", input_tensors), _row("gather", output_tensors)
        return self._begin(timeout, collectives.gather, tensor, rows or None, group_dst=at)

    @_also(output_tensor="output_tensors")
    def scatter(
        self,
        output_tensors: Tensors | Tensor,
        input_tensors: Rows | Tensors,
        opts: ScatterOptions | int | None = None,
        timeout: timedelta | None = None,
        *,
        root: int | None = None,
    ) -> Work:
        """Write into each rank's tensor one of a list that one rank has; the others' is empty."""
        at, timeout = _rooted("scatter", opts, root, timeout)
        tensor, rows = _one("scatter", output_tensors), _row("scatter", input_tensors)
        return self._begin(timeout, collectives.scatter, tensor, rows or None, group_src=at)

    @_also(output="output_tensors", input="input_tensors")
    def reduce_scatter(
        self,
        output_tensors: Tensors | Tensor,
        input_tensors: Rows | Tensors,
        opts: ReduceScatterOptions | ReduceOp | None = None,
        timeout: timedelta | None = None,
        *,
        op: Any = None,
    ) -> Work:
        """Reduce a list of tensors over all ranks; each gets the one at its position."""
        how, timeout = _reduction("reduce_scatter", opts, op, timeout)
        tensor, rows = _one("reduce_scatter", output_tensors), _row("reduce_scatter", input_tensors)
        return self._begin(timeout, collectives.reduce_scatter, tensor, rows, how)

    def reduce_scatter_single(
        self,
        outputTensor: Tensor,
        inputTensor: Tensor,
        opts: ReduceScatterOptions | None = None,
    ) -> Work:
        """Reduce a tensor over all ranks; each gets the part at its position."""
        how, timeout = _reduction("reduce_scatter_single", opts, None, None)
        call = collectives.reduce_scatter_tensor
        return self._begin(timeout, call, outputTensor, inputTensor, how)

    _reduce_scatter_base = reduce_scatter_single

    def alltoall(
        self,
        output_tensors: Tensors,
        input_tensors: Tensors,
        opts: AllToAllOptions | None = None,
    ) -> Work:
        """Send one of a list to each rank, and receive one from each."""
        outputs, inputs = [*output_tensors], [*input_tensors]
        return self._begin(_limit(opts), exchanges.all_to_all, outputs, inputs)

    def all_to_all_single(
        self,
        output: Tensor,
        input: Tensor,
        output_split_sizes: Sequence[int],
        input_split_sizes: Sequence[int],
        opts: AllToAllOptions | None = None,
        timeout: timedelta | None = None,
    ) -> Work:
        """Send a part of a tensor to each rank, and receive one from each; empty sizes for equal parts."""
        sizes = [*output_split_sizes] or None, [*input_split_sizes] or None
        return self._begin(
            _limit(opts, timeout), exchanges.all_to_all_single, output, input, *sizes
        )

    alltoall_base = all_to_all_single

    def barrier(
        self, opts: BarrierOptions | timedelta | None = None, timeout: timedelta | None = None
    ) -> Work:
        """Wait until all ranks have called it."""
        limit = opts if isinstance(opts, timedelta) else _limit(opts, timeout)
        return self._begin(limit, exchanges.barrier)

    def monitored_barrier(
        self, timeout: timedelta | None = None, wait_all_ranks: bool = False
    ) -> None:
        """Wait until all ranks have called it; rank 0 says who has not."""
        monitored_barrier(self, timeout, wait_all_ranks)

    # ---- messages --------------------------------------------------------------------------------

    def send(self, tensors: Tensors, dstRank: int, tag: int) -> Work | None:
        """Begin to send a tensor."""
        return messages.isend(_one("send", tensors), group=self, tag=tag, group_dst=dstRank)

    def recv(self, tensors: Tensors, srcRank: int, tag: int) -> Work | None:
        """Begin to receive a tensor."""
        return messages.irecv(_one("recv", tensors), group=self, tag=tag, group_src=srcRank)

    def recv_anysource(self, tensors: Tensors, tag: int) -> Work | None:
        """Begin to receive a tensor from any rank."""
        return messages.irecv(_one("recv_anysource", tensors), group=self, tag=tag)

    # ---- parts, and the end ----------------------------------------------------------------------

    def split_group(
        self,
        ranks: Sequence[int],
        timeout: timedelta | None = None,
        opts: Any = None,
        group_name: str | None = None,
        group_desc: str | None = None,
        device_types: Sequence[Any] | None = None,
    ) -> ProcessGroup | None:
        """A group of some positions; all ranks call it, each with its own group's or with any other.

        Args:
            ranks: positions in this group; None is returned to those that are not in it.
            timeout: of the calls of the new group.
            opts: taken for PyTorch's sake.
            group_name: of the new group.
            group_desc: what it is for.
            device_types: whose engines it has; None for all of this group's.
        """
        kinds = None if device_types is None else [str(each) for each in device_types]
        return part(self, ranks, timeout, group_name, group_desc, kinds)

    def abort(self) -> None:
        """Give up what is queued; the group is of no use then."""
        for communicator in set(self.communicators.values()):
            communicator.abort()

    shutdown = abort


# ---- arguments, which PyTorch takes in several forms -----------------------------------------------


def _unfit(name: str, given: Any) -> TypeError:
    return TypeError(f"{name}(): incompatible function arguments: got {type(given).__name__}")


def _one(name: str, given: Any) -> Tensor:
    """The tensor, or that of a list of one.

    Raises:
        TypeError: for what is no tensor and no list.
        RuntimeError: for another number of tensors.
    """
    if isinstance(given, Tensor):
        return given
    if not isinstance(given, list | tuple) or not all(isinstance(t, Tensor) for t in given):
        raise _unfit(name, given)
    if len(given) != 1:
        raise RuntimeError(f"ProcessGroup::{name}: takes one tensor, got {len(given)}")
    found: Tensor = given[0]
    return found


def _row(name: str, given: Any) -> list[Tensor]:
    """The list of tensors, or that of a list of one list; empty for an empty one."""
    if not isinstance(given, list | tuple):
        raise _unfit(name, given)
    if given and isinstance(given[0], list | tuple):
        if len(given) != 1:
            raise RuntimeError(f"ProcessGroup::{name}: takes one list of tensors, got {len(given)}")
        return [*given[0]]
    return [*given]


def _limit(opts: Any, timeout: timedelta | None = None) -> timedelta | None:
    return opts.timeout if isinstance(opts, CallOptions) else timeout


def _reduction(
    name: str, opts: Any, op: Any, timeout: timedelta | None
) -> tuple[Any, timedelta | None]:
    """The reduction, and the timeout."""
    if isinstance(opts, CallOptions):
        if not hasattr(opts, "reduceOp"):
            raise _unfit(name, opts)
        return opts.reduceOp, opts.timeout
    if opts is not None and op is not None:
        raise _unfit(name, opts)
    chosen = op if opts is None else opts
    return ReduceOp.SUM if chosen is None else chosen, timeout


def _rooted(
    name: str, opts: Any, root: int | None, timeout: timedelta | None
) -> tuple[int, timedelta | None]:
    """The root's position, and the timeout."""
    if isinstance(opts, CallOptions):
        if not hasattr(opts, "rootRank"):
            raise _unfit(name, opts)
        return opts.rootRank, opts.timeout
    chosen = root if opts is None else opts
    if chosen is None:
        return 0, timeout
    if isinstance(chosen, bool) or not isinstance(chosen, int):
        raise _unfit(name, chosen)
    return chosen, timeout
