"""What a sharded module does around its forward."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import mindtorch_core as torch
from mindtorch_core.autograd.recompute import AGAIN

from ..mixed_precision import cast
from .group import ParameterGroup
from .policies import MixedPrecisionPolicy
from .traffic import Traffic

__all__ = ["ShardingState"]


class ShardingState:
    """The state of the modules of one call of `fully_shard`.

    Args:
        modules: of the call.
        group: their parameters.
        policy: the dtypes.
        automatic: whether it is the root that keeps its parameters after forward, and others do not.
    """

    def __init__(
        self,
        modules: list[Any],
        group: ParameterGroup,
        policy: MixedPrecisionPolicy,
        *,
        automatic: bool,
    ) -> None:
        self.modules = modules
        self.group = group
        self.policy = policy
        self.automatic = automatic
        self.is_root: bool | None = None
        self.traffic = group.traffic
        self._waiting: set[int] = set()  # modules of the call that are still to be run

    # ---- who is the root ---------------------------------------------------------------------------

    def settle(self) -> None:
        """Become the root of all below, if nobody has been called before.

        Raises:
            RuntimeError: if something below has been called by itself, or the root is several modules.
        """
        if self.is_root is not None:
            return
        if len(self.modules) > 1:
            raise RuntimeError(f"FSDP requires a single root module but got {self.modules}")
        states: list[ShardingState] = []
        for name, module in self.modules[0].named_modules():
            state = getattr(module, "_sharding_state", None)
            if state is None or state in states:
                continue
            if state is not self and state.is_root is not None:
                raise RuntimeError(
                    f"FSDP state has already been lazily initialized for {name}\nFSDP requires running "
                    f"forward through the root module first"
                )
            states.append(state)
        traffic = Traffic()
        for state in states:
            state.is_root = state is self
            state.join(traffic)
        if self.automatic:
            self.group.reshards_after_forward = False

    def join(self, traffic: Traffic) -> None:
        """Send through what all share."""
        self.group.reshard()
        self.traffic = self.group.traffic = traffic
        traffic.groups.append(self.group)

    # ---- forward -----------------------------------------------------------------------------------

    def inputs(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Arguments of forward in the dtype that the module computes in."""
        wanted = self.policy.param_dtype
        if wanted is not None and self.policy.cast_forward_inputs:
            args, kwargs = cast(args, wanted), cast(kwargs, wanted)
        return args, kwargs

    def outputs(self, found: Any) -> Any:
        """What forward gave, in the dtype that was asked for."""
        wanted = self.policy.output_dtype
        return found if wanted is None else cast(found, wanted)

    @contextmanager
    def running(self, module: Any) -> Iterator[None]:
        """A block in which a module of the call has its parameters."""
        self.settle()
        traffic, group = self.traffic, self.group
        outermost = traffic.depth == 0
        if outermost:
            traffic.begin_forward()
        traffic.depth += 1
        token = AGAIN.set(self._running_again)
        try:
            if not self._waiting:
                self._waiting = {id(each) for each in self.modules}
                group.expose()
                traffic.uses(group)
            with ExitStack() as stack:
                if torch.is_grad_enabled():
                    stack.enter_context(traffic.recalled.saving())
                yield
            self._waiting.discard(id(module))
        except BaseException:
            self._waiting.clear()
            group.reshard()
            raise
        finally:
            AGAIN.reset(token)
            traffic.depth -= 1
            if not self._waiting and group.reshards_after_forward:
                group.reshard(after_forward=True)
            if outermost:
                traffic.end_forward()

    @contextmanager
    def _running_again(self) -> Iterator[None]:
        """A block in backward in which a part of the modules' forward is run again, for a checkpoint."""
        group = self.group
        if group.exposed:
            yield
            return
        with self.traffic.again():
            group.again()
            group.expose()
            try:
                yield
            finally:
                group.hide()
