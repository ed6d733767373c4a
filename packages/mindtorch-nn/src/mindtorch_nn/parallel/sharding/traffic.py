"""What groups of parameters send: gathering, sums of gradients, and what is begun ahead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.autograd.recalled import Recalled

from .parameter import ShardedParameter

__all__ = ["Gathering", "Reduction", "Traffic"]


def _by_kind(dtypes: Sequence[torch.dtype]) -> dict[torch.dtype, list[int]]:
    """Places by dtype, as one message has one dtype."""
    kinds: dict[torch.dtype, list[int]] = {}
    for place, dtype in enumerate(dtypes):
        kinds.setdefault(dtype, []).append(place)
    return kinds


class Gathering:
    """Parameters that are being put together.

    Args:
        parameters: that are sent together.
        dtypes: those to have, by parameter.
        group: the processes among which they are cut.
        kept: what this process has of each in that group, if that is not its part.
        contents: what the processes must have alike.
    """

    def __init__(
        self,
        parameters: list[ShardedParameter],
        dtypes: Sequence[torch.dtype],
        group: Any,
        kept: Sequence[Tensor] | None = None,
        *,
        contents: str,
    ) -> None:
        self._parameters = parameters
        self._parts: list[tuple[list[int], list[int], Tensor, Any]] = []
        with torch.no_grad(), group.carrying(contents):
            for dtype, places in _by_kind(dtypes).items():
                rows = [parameters[n].rows(dtype) if kept is None else kept[n] for n in places]
                own = torch.cat(rows) if len(rows) > 1 else rows[0].contiguous()
                everyone = torch.empty((group.size(), own.numel()), dtype=dtype, device=own.device)
                work = torch.distributed.all_gather_single(
                    everyone, own, group=group, async_op=True
                )
                self._parts.append((places, [row.numel() for row in rows], everyone, work))

    def finish(self) -> list[Tensor]:
        """Wait; the parameters."""
        found: list[Any] = [None] * len(self._parameters)
        with torch.no_grad():
            while self._parts:
                places, counts, everyone, work = self._parts.pop()
                work.wait()
                for n, rows in zip(places, everyone.split(counts, 1), strict=True):
                    found[n] = self._parameters[n].whole(rows)
        return found


class Reduction:
    """Gradients that are being summed.

    Args:
        owner: the group of parameters.
        numbers: of its parameters.
        grads: of the whole parameters; None for zeros.
    """

    def __init__(self, owner: Any, numbers: Sequence[int], grads: Sequence[Tensor | None]) -> None:
        self._owner = owner
        self._parts: list[tuple[list[int], Tensor, Any]] = []
        self._copies = owner.copy_group if owner.syncs_copies else None
        self._holds = owner.copy_group is not None and not owner.syncs_copies
        op = torch.distributed.ReduceOp
        self._op = op.AVG if owner.factor is None else op.SUM
        params = [owner.parameters[n] for n in numbers]
        dtypes = [owner.reducing_dtype(p) for p in params]
        for dtype, places in _by_kind(dtypes).items():
            rows = [params[i].gradient_rows(grads[i], dtype) for i in places]
            everyone = torch.cat(rows, 1) if len(rows) > 1 else rows[0].contiguous()
            own = torch.empty(everyone.shape[1], dtype=dtype, device=everyone.device)
            work = torch.distributed.reduce_scatter_single(
                own, everyone.reshape(-1), op=self._op, group=owner.shard_group, async_op=True
            )
            self._parts.append(([numbers[i] for i in places], own, work))

    def finish(self) -> None:
        """Wait, and let the parts have their gradients."""
        owner, dist = self._owner, torch.distributed
        with torch.no_grad():
            for numbers, own, work in self._parts:
                work.wait()
                if self._copies is not None:
                    own = self._with_held_back(numbers, own)
                    dist.all_reduce(own, op=self._op, group=self._copies)
                if owner.hook is not None and not self._holds:
                    owner.hook(own)
                if owner.factor is not None:
                    own.div_(owner.factor)
                first = 0
                for n in numbers:
                    count = owner.parameters[n].numel
                    row = own[first : first + count]
                    first += count
                    if self._holds:
                        owner.held_back(n, row, done=False)
                    else:
                        owner.arrived(n, row)

    def _with_held_back(self, numbers: Sequence[int], own: Tensor) -> Tensor:
        counts = [self._owner.parameters[n].numel for n in numbers]
        rows = [
            self._owner.held_back(n, row, done=True)
            for n, row in zip(numbers, own.split(counts), strict=True)
        ]
        return torch.cat(rows)


class Traffic:
    """What all groups below one root share.

    Attributes:
        recalled: the parameters that graphs do not keep.
        start: what all gathered parameters of a forward depend on, so that backward comes there last.
    """

    def __init__(self) -> None:
        self.recalled = Recalled()
        self.groups: list[Any] = []
        self.depth = 0
        self.start: Tensor | None = None
        self._under_way: Reduction | None = None
        self._follows: dict[int, Any] = {}
        self._precedes: dict[int, Any] = {}
        self._last: Any = None

    # ---- a forward ----------------------------------------------------------------------------------

    def begin_forward(self) -> None:
        """The outermost module is called."""
        self._last = None
        self.start = None
        if torch.is_grad_enabled():
            self.start = self._begun()

    def _begun(self) -> Tensor:
        leaf = torch.zeros((), device="cpu", requires_grad=True)  # wherever the parameters are
        found: Tensor = _Start.apply(leaf, self)
        return found

    @contextmanager
    def again(self) -> Iterator[None]:
        """A block in backward in which a part of a forward is run again, for a backward of its own."""
        before, self.start = self.start, self._begun()
        try:
            yield
        finally:
            self.start = before

    def uses(self, group: Any) -> None:
        """A group is used now; the one that followed it last time is begun."""
        if self._last is not None and self._last is not group:
            self._follows[id(self._last)] = group
            self._precedes[id(group)] = self._last
        self._last = group
        ahead = group.forward_prefetch
        if ahead is None:
            after = self._follows.get(id(group))
            ahead = [] if after is None else [after]
        for each in ahead:
            each.start()

    def end_forward(self) -> None:
        """The outermost module has returned."""
        for group in self.groups:
            group.drop_prefetched()
        self.start = None

    # ---- a backward ---------------------------------------------------------------------------------

    def prefetch_backward(self, group: Any) -> None:
        """Begin the group that backward will want next."""
        ahead = group.backward_prefetch
        if ahead is None:
            before = self._precedes.get(id(group))
            ahead = [before] if before is not None and before.recalled_last else []
        for each in ahead:
            each.start()

    def begin(self, reduction: Reduction) -> None:
        """A sum has begun; the one before it is waited for."""
        before, self._under_way = self._under_way, reduction
        if before is not None:
            before.finish()

    def end_backward(self) -> None:
        """Backward has come to its end."""
        if self._under_way is not None:
            under_way, self._under_way = self._under_way, None
            under_way.finish()
        for group in self.groups:
            if group.reshards_after_backward:
                group.reshard()
            else:
                group.drop_prefetched()

    def forget(self) -> None:
        """Forget a forward or a backward that has failed."""
        if self._under_way is not None:
            under_way, self._under_way = self._under_way, None
            under_way.finish()
        for group in self.groups:
            group.forget()
        self.depth, self.start, self._last = 0, None, None


class _Start(torch.autograd.Function):
    """Made before all else of a forward, so that backward comes to it after all else."""

    @staticmethod
    def forward(ctx: Any, leaf: Tensor, traffic: Traffic) -> Tensor:
        ctx.traffic = traffic
        return leaf.view_as(leaf)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        ctx.traffic.end_backward()
        return None, None
