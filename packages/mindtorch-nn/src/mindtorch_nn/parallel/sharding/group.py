"""Parameters that are gathered in one message before they are used, and whose gradients are summed in one."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import mindtorch_core as torch
from mindtorch_core import Tensor

from .parameter import ShardedParameter
from .policies import MixedPrecisionPolicy
from .traffic import Gathering, Reduction, Traffic

__all__ = ["ParameterGroup"]


class ParameterGroup:
    """The parameters of one call of `fully_shard`.

    Outside forward and backward the modules have parts. `unshard` puts the parameters together, `expose`
    lets the modules have them, `reshard` gives them up.

    Args:
        parameters: of the group.
        mesh: the ranks; of two dimensions, parts lie along the second and are repeated along the first.
        policy: the dtypes.
        reshards: whether the parameters are given up after forward.
        near: a part of the processes, among which the parameters are cut between forward and backward.

    Attributes:
        wholes: the parameters, while they are put together.
        exposed: whether the modules have them.
        syncs: whether backward sums gradients over processes.
        factor: by what sums are divided; None for the number of processes.
        hook: sees summed gradients before the parts get them.
    """

    def __init__(
        self,
        parameters: list[ShardedParameter],
        mesh: Any,
        policy: MixedPrecisionPolicy,
        *,
        reshards: bool,
        near: Any = None,
    ) -> None:
        self.parameters = parameters
        self.mesh = mesh
        self.policy = policy
        self.reshards_after_forward = reshards
        self.near = near
        self.reshards_after_backward = True
        self.syncs = True
        self.syncs_copies = True
        self.sums_unused = False
        self.factor: float | None = None
        self.hook: Callable[[Tensor], None] | None = None
        self.forward_prefetch: list[ParameterGroup] | None = None
        self.backward_prefetch: list[ParameterGroup] | None = None
        self.wholes: list[Tensor] | None = None
        self.traffic = Traffic()  # of the root, once that is known
        self._gathering: Gathering | None = None
        self._between: list[Tensor] | None = None  # what this process has in `near`
        self._versions: list[tuple[int, ...]] = []
        self.exposed = False
        self._kept: list[Tensor | None] = [None] * len(
            parameters
        )  # gradients that are not summed yet
        self._sums: dict[int, Tensor] = {}  # summed within a row of the mesh, not over its copies
        self.recalled_last = False
        self._contents = _told([p.shape for p in parameters])

    @property
    def shard_group(self) -> Any:
        """The processes among which the parameters are cut."""
        return self.mesh.get_group(self.mesh.ndim - 1)

    @property
    def copy_group(self) -> Any:
        """The processes that have the same parts; None without such."""
        return self.mesh.get_group(0) if self.mesh.ndim == 2 else None

    # ---- putting together --------------------------------------------------------------------------

    def computing_dtype(self, p: ShardedParameter) -> torch.dtype:
        """Of a parameter in forward and backward."""
        wanted = self.policy.param_dtype
        return wanted if wanted is not None and p.dtype.is_floating_point else p.dtype

    def start(self) -> None:
        """Begin to put the parameters together, unless they are or that has begun."""
        if self._versions != self._now():
            self.reshard()  # the parts have been changed since
        if self.wholes is None and self._gathering is None and self.parameters:
            for p in self.parameters:
                p.take_over()
            self._versions = self._now()
            self._gathering = Gathering(
                self.parameters,
                [self.computing_dtype(p) for p in self.parameters],
                self.shard_group if self._between is None else self.near,
                self._between,
                contents=self._contents,
            )

    def _now(self) -> list[tuple[int, ...]]:
        # Ops on a DTensor count in it, those on what `to_local` gives in its part.
        return [(id(p.local), p.local._version, p.part._version) for p in self.parameters]

    def unshard(self) -> list[Tensor]:
        """The parameters, put together."""
        self.start()
        if self._gathering is not None:
            gathering, self._gathering = self._gathering, None
            self.wholes = gathering.finish()
            for number, whole in enumerate(self.wholes):
                self.traffic.recalled.add(whole, partial(self._again, number))
        return self.wholes or []

    def again(self) -> list[Tensor]:
        """The parameters, which backward asks for."""
        if self.wholes is None:
            found = self.unshard()
            self.traffic.prefetch_backward(self)
        else:
            found = self.wholes
        self.recalled_last = True
        return found

    def _again(self, number: int) -> Tensor:
        return self.again()[number]

    def drop_prefetched(self) -> None:
        """Give up what was gathered ahead and nobody has used."""
        if self._gathering is not None:
            self._gathering.finish()
            self._gathering = None

    def expose(self) -> None:
        """Let the modules have the parameters; where gradients are recorded, as results of gathering."""
        wholes = self.unshard()
        trained = [n for n, p in enumerate(self.parameters) if p.part.requires_grad]
        shown: list[Any] = [w.detach() for w in wholes]
        if trained and torch.is_grad_enabled() and self.traffic.start is not None:
            made = _Gathered.apply(self.traffic.start, self, trained, *[wholes[n] for n in trained])
            for n, each in zip(trained, made, strict=True):
                shown[n] = each
        else:
            for n in trained:
                shown[n].requires_grad_()
        for p, each in zip(self.parameters, shown, strict=True):
            p.show(p.computed(each))
        self.exposed = True

    def hide(self) -> None:
        """Let the modules have their parts."""
        if self.exposed:
            for p in self.parameters:
                p.show(p.part)
            self.exposed = False

    def reshard(self, *, after_forward: bool = False) -> None:
        """Give the parameters up; graphs that need them will ask.

        Args:
            after_forward: whether `near` keeps them, if there is one.
        """
        self.hide()
        self.drop_prefetched()
        if self.wholes is not None:
            for whole in self.wholes:
                self.traffic.recalled.remove(whole)
            if after_forward and self.near is not None:
                pairs = zip(self.parameters, self.wholes, strict=True)
                self._between = [self._near_part(p, whole) for p, whole in pairs]
            self.wholes = None
        if not after_forward:
            self._between = None

    def _near_part(self, p: ShardedParameter, whole: Tensor) -> Tensor:
        with torch.no_grad():
            rows = p.gradient_rows(whole, whole.dtype)
            own: Tensor = rows.chunk(self.near.size())[self.near.rank()]
            return own.reshape(-1).clone()

    # ---- gradients ---------------------------------------------------------------------------------

    def reducing_dtype(self, p: ShardedParameter) -> torch.dtype:
        """In which a parameter's gradient is summed."""
        return self.policy.reduce_dtype or self.computing_dtype(p)

    def backward(self, trained: Sequence[int], grads: Sequence[Tensor | None]) -> None:
        """Sum gradients over the processes, or keep them until that is asked for."""
        with torch.no_grad():
            for n, grad in zip(trained, grads, strict=True):
                if grad is not None:
                    kept = self._kept[n]
                    grad = grad.to(self.reducing_dtype(self.parameters[n]))
                    self._kept[n] = grad if kept is None else kept + grad
            if self.reshards_after_backward:
                self.reshard()
            if not self.syncs:
                return
            chosen = [n for n in trained if self.sums_unused or self._kept[n] is not None]
            found = [self._kept[n] for n in chosen]
            for n in chosen:
                self._kept[n] = None
            if chosen:
                self.traffic.begin(Reduction(self, chosen, found))

    def arrived(self, number: int, row: Tensor) -> None:
        """Take this process's part of a summed gradient.

        Args:
            number: of the parameter.
            row: as it was sent, averaged.
        """
        self.parameters[number].give_gradient(row)

    def held_back(self, number: int, row: Tensor, *, done: bool) -> Tensor | None:
        """What is to be summed over the copies: all that was held back; None while it still is."""
        if number in self._sums:
            row = self._sums.pop(number) + row
        if done:
            return row
        self._sums[number] = row
        return None

    def forget(self) -> None:
        """Forget gradients that have not been summed, and whatever is under way."""
        self._kept = [None] * len(self.parameters)
        self._sums = {}
        self.reshard()


def _told(shapes: Sequence[tuple[int, ...]]) -> str:
    """What parameters there are, so that processes with others do not take them for theirs."""
    text = ", ".join(str(list(shape)) for shape in shapes)
    if len(text) <= _LONGEST:
        return f"parameters {text}"
    count = sum(math.prod(shape) for shape in shapes)
    return f"{len(shapes)} parameters of {count:,} elements, shapes {zlib.crc32(text.encode()):08x}"


_LONGEST: Final = 200  # characters


class _Gathered(torch.autograd.Function):
    """The parameters as results of gathering: its backward is the sum of their gradients.

    So backward comes here when all gradients of a group are there, in the same order in all processes,
    and the graph keeps no parameter.
    """

    @staticmethod
    def forward(
        ctx: Any, start: Tensor, group: ParameterGroup, trained: list[int], *wholes: Tensor
    ) -> Any:
        ctx.set_materialize_grads(False)
        ctx.group, ctx.trained = group, trained
        return tuple(whole.view_as(whole) for whole in wholes)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        ctx.group.backward(ctx.trained, grads)
        nothing = torch.zeros((), device="cpu")  # where the start is
        return (nothing, None, None, *(None for _ in grads))
