"""Sums of gradients over processes, started while backward still computes others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.autograd.endings import when_ended

from ..optim.in_backward import step
from .buckets import Bucket

__all__ = ["Reducer", "parameters_used"]

_UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error "
    "indicates that your module has parameters that were not used in producing loss. You can enable unused "
    "parameter detection by passing the keyword argument `find_unused_parameters=True` to "
    "`torch.nn.parallel.DistributedDataParallel`, and by making sure all `forward` function outputs "
    "participate in calculating loss. Parameter indices which did not receive grad for rank {rank}: {left}"
)
_TWICE = (
    "Expected to mark a variable ready only once. Parameter at index {number} has been marked as ready "
    "twice: it was used outside the forward function, or in several reentrant backward passes"
)


class Reducer:
    """Adds up the gradients of a module's parameters over a group.

    Args:
        parameters: those that require grad, in the module's order.
        group: the processes.
        buckets: which of them are summed at once, in the order of the sums.
        keeps_memory: whether small gradients stay in the same memory from one backward to the next.
        finds_unused: whether parameters may be without a gradient, and others find out.
        is_static: whether all steps use the same parameters, which the first finds out.
    """

    def __init__(
        self,
        parameters: Sequence[Tensor],
        group: Any,
        buckets: Sequence[Bucket],
        *,
        keeps_memory: bool,
        finds_unused: bool,
        is_static: bool = False,
    ) -> None:
        self.parameters = list(parameters)
        self.group = group
        self.finds_unused = finds_unused or is_static
        self.is_static = is_static
        self.keeps_memory = keeps_memory
        self.buckets = list(buckets)
        self._bucket_of = {n: bucket for bucket in self.buckets for n in bucket.numbers}
        self._works: list[list[Any]] = []  # of each bucket
        self._hook: Callable[[Any], Any] | None = None  # sums a bucket in place of all_reduce
        self._next = 0  # the first bucket whose sum has not begun
        # Which parameters have got a gradient since the last sum; how often in the backward of a static
        # graph, and how often they still do in this one.
        self._used = [False] * len(self.parameters)
        self._times: list[int] | None = None
        self._left: list[int] = []
        self._unused: list[int] = []  # those that get none in the backward that is expected
        self._open = False  # whether it has begun
        self.active = False
        self._captured = False  # whether a captured function makes this step
        self.share = 1 / torch.distributed.get_world_size(group)
        self._handles = []
        for number, parameter in enumerate(self.parameters):
            hook = self._noticed(number)
            self._handles.append(parameter.register_post_accumulate_grad_hook(hook))
            if hasattr(parameter, "_steps_in_backward"):  # it waits for the sum
                parameter._steps_in_backward.remove()

    def _noticed(self, number: int) -> Any:
        def ready(_: Tensor) -> None:
            self._used[number] = True
            if self.active:
                self._came(number)

        return ready

    def _be_last(self) -> None:
        """What users' hooks make of a gradient is what is summed."""
        for handle in self._handles:
            table = handle.hooks_dict_ref()
            if table and next(reversed(table)) != handle.id:
                table.move_to_end(handle.id)

    def begin(self, outputs: Sequence[Tensor], *, captured: bool = False) -> None:
        """Expect a backward pass.

        Args:
            outputs: where it begins; empty if that is not known.
            captured: whether a captured function makes it, which asks whoever calls this for changes.

        Raises:
            RuntimeError: if gradients of the last one are missing.
        """
        if self.active and self._next < len(self.buckets):
            left = sorted(n for bucket in self.buckets for n in bucket.waiting)
            if len(left) < len(self.parameters):
                raise RuntimeError(
                    _UNFINISHED.format(rank=torch.distributed.get_rank(self.group), left=left)
                )
        self._next, self._works = 0, []
        self._be_last()
        self._captured = captured and self._sums_by_ops()
        for bucket in self.buckets:
            bucket.begin(anew=self._captured or not self.keeps_memory, keeps=self._captured)
        self._unused = []
        self._left = [*(self._times or [0] * len(self.parameters))]
        self._open = False
        self.active = True
        if not self.finds_unused:
            return
        if not self.is_static and outputs:
            used = parameters_used(outputs)
            self._unused = [n for n, p in enumerate(self.parameters) if id(p) not in used]
        elif self._times is not None:
            self._unused = [n for n, times in enumerate(self._times) if not times]
        for node in {t.grad_fn for t in outputs if t.grad_fn is not None}:
            node.register_prehook(self._begun)

    def _sums_by_ops(self) -> bool:
        """Whether ops can do all that is done, as a captured function's later calls do nothing else."""
        plain = all(type(bucket) is Bucket for bucket in self.buckets)
        return plain and not self.finds_unused and self._hook is None

    def _begun(self, _: Any = None) -> None:
        """Backward has begun: what is known to get no gradient in it does not wait for one."""
        if self._open or not self.active:
            return
        if self.finds_unused and not when_ended(self._rest):
            return  # gradients are asked for that are put into no parameter
        self._open = True
        if not self._first_of_static():
            for number in sorted(self._unused, reverse=True):
                self._mark(number)

    def _first_of_static(self) -> bool:
        return self.is_static and self._times is None

    def _came(self, number: int) -> None:
        """A parameter has its gradient, or a part of it."""
        self._begun()
        self._left[number] -= 1
        if not self._first_of_static() and self._left[number] <= 0:
            self._mark(number)

    def _rest(self) -> None:
        """Backward has ended: the gradients that have not come are those that there are."""
        if not (self.active and self._open):
            return
        if self._first_of_static():
            self._times = [-left for left in self._left]
        for number in sorted((n for b in self.buckets for n in b.waiting), reverse=True):
            self._used[number] |= self.parameters[number].grad is not None
            self._mark(number)

    def _mark(self, number: int) -> None:
        """A parameter's gradient is there, or will not come."""
        bucket = self._bucket_of[number]
        if number not in bucket.waiting:
            raise RuntimeError(_TWICE.format(number=number))
        share = self.share if self._hook is None else 1
        used = self._used[number]
        if torch.is_grad_enabled():  # a backward that is recorded
            with torch.no_grad():
                bucket.take(number, share, is_used=used)
        else:
            bucket.take(number, share, is_used=used)
        self._go_on()

    def _go_on(self) -> None:
        """Begin the sums of all buckets that are full, in their order, which all processes share."""
        while self._next < len(self.buckets) and not self.buckets[self._next].waiting:
            self._begin_sum()
        if self._next == len(self.buckets):
            self._finish()

    def fix(self) -> None:
        """Have all steps use the same parameters."""
        self.is_static = self.finds_unused = True

    def use(self, hook: Callable[[Any], Any]) -> None:
        """Have a function sum each bucket: it is given a `GradBucket`, and gives a `Future` of a tensor.

        Raises:
            RuntimeError: if there is one.
        """
        if self._hook is not None:
            raise RuntimeError(
                "register_comm_hook or register_builtin_comm_hook can only be called once."
            )
        self._hook = hook
        for bucket in self.buckets:
            bucket.put_together()

    def _begin_sum(self) -> None:
        """Begin the sum of the next bucket."""
        number, bucket = self._next, self.buckets[self._next]
        self._next += 1
        last = self._next == len(self.buckets)
        if self._captured:
            with torch.no_grad():
                for term in bucket.terms():
                    torch.ops._c10d_functional.all_reduce_(term, "sum", self.group.group_name)
            self._works.append([])
            return
        if self._hook is None:
            # Nothing is left to be computed beside the last sums: this thread makes them, as to wake another
            # one takes longer than a small sum.
            call, group = torch.distributed.all_reduce, self.group
            works = [call(term, group=group, async_op=not last) for term in bucket.terms()]
            self._works.append([work for work in works if work is not None])
            return
        memory = bucket.memory
        assert memory is not None, "begin makes it"
        with torch.no_grad():
            given = torch.distributed.GradBucket(number, memory, bucket.parameters, is_last=last)
            work = self._hook(given)
        if not isinstance(work, torch.futures.Future):
            raise TypeError(
                f"a communication hook gives a torch.futures.Future, got {type(work).__name__}"
            )
        self._works.append([work])

    def _await(self, bucket: Bucket, works: Sequence[Any]) -> None:
        """Wait for the sums of a bucket, which a hook may have in other memory."""
        with torch.no_grad():
            found: Any = None
            for work in works:
                found = work.wait()
        if self._hook is None:
            return
        if isinstance(found, list | tuple) and len(found) == 1:
            (found,) = found
        count = sum(bucket.sizes)
        if not isinstance(found, Tensor) or found.numel() != count:
            raise RuntimeError(
                f"a communication hook's future is of a tensor of {count} elements, got "
                f"{list(found.shape) if isinstance(found, Tensor) else type(found).__name__}"
            )
        with torch.no_grad():
            bucket.put(found)

    def _finish(self) -> None:
        """Wait for all sums and let the parameters have them."""
        self.active = False
        used = self._used_anywhere()
        self._used = [False] * len(self.parameters)
        for bucket, works in zip(self.buckets, self._works, strict=True):
            self._await(bucket, works)
            bucket.give([used[n] for n in bucket.numbers])
            if self._captured:
                bucket.forget()
        self._works = []
        for parameter in self.parameters:
            if hasattr(parameter, "_steps_in_backward") and parameter.grad is not None:
                step(parameter)

    def _used_anywhere(self) -> list[bool]:
        """Which parameters have a gradient in some process."""
        if not self.finds_unused:
            return [True] * len(self.parameters)
        counts = torch.tensor(self._used, dtype=torch.int32)
        torch.distributed.all_reduce(counts, group=self.group)
        return [bool(n) for n in counts.tolist()]

    def shadow(self) -> None:
        """Take part in the sums of a backward pass that this process does not make."""
        self._next, self._works = 0, []
        self._used = [False] * len(self.parameters)
        for bucket in self.buckets:
            bucket.begin(anew=True)
            bucket.clear()
        while self._next < len(self.buckets):
            self._begin_sum()
        self._used_anywhere()
        for works in self._works:
            for work in works:
                work.wait()
        self._works = []


def parameters_used(outputs: Iterable[Tensor]) -> set[int]:
    """Identities of the leaves that outputs depend on, by their graph."""
    found: set[int] = set()
    left = [node for t in outputs if (node := _node(t)) is not None]
    seen = set(left)
    while left:
        node = left.pop()
        variable = getattr(node, "variable", None)
        if variable is not None:
            found.add(id(variable))
        for below, _ in node.next_functions:
            if below is not None and below not in seen:
                seen.add(below)
                left.append(below)
    return found


def _node(tensor: Tensor) -> Any:
    if tensor.grad_fn is not None:
        return tensor.grad_fn
    if tensor.requires_grad:  # a leaf, whose accumulating node a view of it shows
        above: Any = tensor.view_as(tensor).grad_fn
        return above.next_functions[0][0]
    return None
