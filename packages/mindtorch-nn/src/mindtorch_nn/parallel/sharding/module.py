"""`FSDPModule`: what modules can be told after `fully_shard`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, Self

from mindtorch_core import Tensor
from mindtorch_core.utils._own_frames import warn_user

from .group import ParameterGroup
from .state import ShardingState

__all__ = ["FSDPModule", "UnshardHandle", "share_comm_ctx"]


class UnshardHandle:
    """Parameters that are being put together."""

    def __init__(self, group: ParameterGroup | None) -> None:
        self._group = group

    def wait(self) -> None:
        """Wait until the module has them."""
        if self._group is not None:
            self._group.expose()
            self._group = None


class FSDPModule:
    """A module whose parameters lie in parts; `fully_shard` derives classes of modules from it."""

    _sharding_state: ShardingState

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """A module of the class as it was, as a part of a container is."""
        own: Any = cls.__mro__[2]
        made = own.__new__(own, *args, **kwargs)
        made.__init__(*args, **kwargs)
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module with its parameters put together."""
        return self._run_with_parameters(super().__call__, args, kwargs)  # type: ignore[misc]

    def _run_with_parameters(self, call: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        state = self._sharding_state
        with state.running(self):
            args, kwargs = state.inputs(args, kwargs)
            return state.outputs(call(*args, **kwargs))

    def _get_fsdp_state(self) -> ShardingState:
        return self._sharding_state

    def _below(self, *, recurse: bool = True) -> Iterator[ParameterGroup]:
        modules = self.modules() if recurse else [self]  # type: ignore[attr-defined]
        for module in modules:
            if isinstance(module, FSDPModule):
                yield module._sharding_state.group

    def _apply(self, *args: Any, **kwargs: Any) -> Self:
        self.reshard()
        made: Self = super()._apply(*args, **kwargs)  # type: ignore[misc]
        return made

    # ---- by hand -----------------------------------------------------------------------------------

    def reshard(self) -> None:
        """Give up the parameters of this call of `fully_shard`; its modules have parts again."""
        self._sharding_state.group.reshard()

    def unshard(self, async_op: bool = False) -> UnshardHandle | None:
        """Put the parameters of this call of `fully_shard` together.

        Args:
            async_op: whether to return before they are there, with a handle to wait on.
        """
        group = self._sharding_state.group
        group.start()
        handle = UnshardHandle(group)
        if async_op:
            return handle
        handle.wait()
        return None

    def reset_iter_state(self) -> None:
        """Forget a forward or a backward that has failed, with its gradients."""
        state = self._sharding_state
        state.traffic.forget()
        state.group.forget()

    # ---- what backward does ------------------------------------------------------------------------

    def set_is_last_backward(self, is_last_backward: bool) -> None:
        """Accepted: each backward waits for the sums that it has begun."""

    def set_requires_gradient_sync(
        self, requires_gradient_sync: bool, *, recurse: bool = True
    ) -> None:
        """Whether backward sums gradients; else it keeps those of the whole parameters for the next one.

        Args:
            requires_gradient_sync: whether it does.
            recurse: whether that is said to modules below too.
        """
        for group in self._below(recurse=recurse):
            group.syncs = requires_gradient_sync

    def set_requires_all_reduce(self, requires_all_reduce: bool, *, recurse: bool = True) -> None:
        """Whether sums go on to the copies along the first dimension of a mesh of two."""
        for group in self._below(recurse=recurse):
            group.syncs_copies = requires_all_reduce

    def set_reshard_after_forward(self, reshard_after_forward: bool, recurse: bool = True) -> None:
        """Whether parameters are given up after forward."""
        if not isinstance(reshard_after_forward, bool):
            raise ValueError(
                f"reshard_after_forward should be a bool, got {type(reshard_after_forward)}"
            )
        modules = self.modules() if recurse else [self]  # type: ignore[attr-defined]
        for module in modules:
            if isinstance(module, FSDPModule):
                module._sharding_state.automatic = False
                group = module._sharding_state.group
                group.reshard()
                group.reshards_after_forward, group.near = reshard_after_forward, None

    def set_reshard_after_backward(
        self, reshard_after_backward: bool, *, recurse: bool = True
    ) -> None:
        """Whether parameters are given up after backward."""
        for group in self._below(recurse=recurse):
            group.reshards_after_backward = reshard_after_backward

    def set_gradient_divide_factor(self, factor: float) -> None:
        """Divide sums of this module's gradients by a number, in place of the number of processes."""
        self._sharding_state.group.factor = factor

    def set_reduce_scatter_divide_factor(self, factor: float) -> None:
        """`set_gradient_divide_factor` under a name of old."""
        warn_user("Use `set_gradient_divide_factor` instead", FutureWarning)
        self.set_gradient_divide_factor(factor)

    def set_reduce_scatter_unused_params(
        self, reduce_scatter_unused_params: bool, *, recurse: bool = True
    ) -> None:
        """Whether parameters without a gradient take part in sums with zeros, as others may have one."""
        for group in self._below(recurse=recurse):
            group.sums_unused = reduce_scatter_unused_params

    def set_force_sum_reduction_for_comms(self, enable: bool) -> None:
        """Accepted: engines divide sums themselves where they have no averages."""

    def set_unshard_in_backward(self, unshard_in_backward: bool) -> None:
        """Accepted: backward puts parameters together only when it reads them."""

    def set_all_reduce_hook(self, hook: Callable[[Tensor], None], *, stream: Any = None) -> None:
        """Have a function see, or change, each message of summed gradients before the parts get them.

        Args:
            hook: takes this process's part, flat; its sum over the copies where a mesh has two dimensions.
            stream: accepted for a mesh of one dimension: it runs where backward does.

        Raises:
            ValueError: if a stream is given for a mesh of two.
        """
        group = self._sharding_state.group
        if stream is not None and group.copy_group is not None:
            raise ValueError("stream cannot be set when using native HSDP")
        group.hook = hook

    # ---- what one progress thread and its buffers need no telling ------------------------------------

    def set_post_optim_event(self, event: Any) -> None:
        """Accepted: parts are read after what has changed them."""

    def set_reduce_scatter_max_input_buffers(
        self, max_input_buffers: int, *, recurse: bool = True
    ) -> None:
        """Accepted: one sum is under way while the next one is made.

        Raises:
            TypeError: if it is no whole number.
            ValueError: if it is less than one.
        """
        if isinstance(max_input_buffers, bool) or not isinstance(max_input_buffers, int):
            raise TypeError(
                f"max_input_buffers must be an int, got {type(max_input_buffers).__name__}"
            )
        if max_input_buffers < 1:
            raise ValueError(f"max_input_buffers must be a positive int, got {max_input_buffers}")

    def set_separate_reduce_scatter_group(
        self, enable: bool = True, *, recurse: bool = True
    ) -> None:
        """Accepted: messages of one group do not wait for each other."""

    def set_allocate_memory_from_process_group_for_comm(self, enable: bool) -> None:
        """Accepted: no engine has memory of its own to lend."""

    # ---- ahead -------------------------------------------------------------------------------------

    def set_modules_to_forward_prefetch(self, modules: Sequence[FSDPModule]) -> None:
        """Which modules' parameters are sent for when this one has its own in forward.

        By default the one that followed in the last forward.
        """
        self._sharding_state.group.forward_prefetch = _groups_of(modules)

    def set_modules_to_backward_prefetch(self, modules: Sequence[FSDPModule]) -> None:
        """Which modules' parameters are sent for when this one has its own in backward.

        By default the one that came before in forward, if backward has read its parameters before.
        """
        self._sharding_state.group.backward_prefetch = _groups_of(modules)

    # ---- what there is not ---------------------------------------------------------------------------

    def _no_way(self, name: str) -> NoReturn:
        raise NotImplementedError(
            f"{name} is not part of mindtorch: what is sent goes through the communicator of the mesh's group"
        )

    def set_custom_all_gather(self, comm: Any) -> NoReturn:
        """Refused."""
        self._no_way("set_custom_all_gather")

    def set_custom_reduce_scatter(self, comm: Any) -> NoReturn:
        """Refused."""
        self._no_way("set_custom_reduce_scatter")

    def set_symm_mem_for_comm(self, backend: str = "NCCL") -> NoReturn:
        """Refused."""
        self._no_way("set_symm_mem_for_comm")


def _groups_of(modules: Sequence[Any], expected: str = "FSDPModule") -> list[ParameterGroup]:
    for module in modules:
        if not isinstance(module, FSDPModule):
            raise ValueError(f"Expects {expected} but got {type(module)}: {module}")
    return [module._sharding_state.group for module in modules]


def share_comm_ctx(modules: Sequence[FSDPModule]) -> None:
    """Accepted: all modules' messages go through one progress thread.

    Raises:
        ValueError: if `fully_shard` was not applied to one.
    """
    _groups_of(modules, "list of FSDPModules")
