"""A module whose copies in several processes share their gradients."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, Final

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.ecosystem.distributed.algorithms.join import Join, Joinable, JoinHook
from mindtorch_core.utils._own_frames import warn_user

from ..modules.module import Module
from ..modules.sparse import Embedding, EmbeddingBag
from .arguments import (
    _find_tensors,
    bytes_of,
    check_devices,
    delayed_names,
    group_of,
    syncs_buffers,
)
from .buckets import divided
from .mixed_precision import Narrowed, _MixedPrecision
from .reducer import Reducer

__all__ = ["DistributedDataParallel"]

# Of a module: names of what each process has for itself.
_IGNORED: Final = "_ddp_params_and_buffers_to_ignore"


class DistributedDataParallel(Module, Joinable):
    """Trains copies of a module in the processes of a group, each on its own batches.

    The copies begin with rank 0's parameters and buffers. After backward each gradient is the mean of all
    processes', in memory that the parameters of a bucket share.

    Args:
        module: what is trained; `module` of this one.
        device_ids: None, or the one device that the module is on.
        output_device: accepted; without effect.
        dim: accepted; without effect.
        broadcast_buffers: an old name of ``forward_sync_buffers``; False keeps each process's buffers at
            the beginning, too.
        init_sync: whether the copies are compared and made equal now.
        process_group: the processes; None for all.
        bucket_cap_mb: how many MiB of gradients are summed at once; 25 by default.
        find_unused_parameters: whether outputs may depend on fewer parameters than there are, which is
            looked up after each forward.
        check_reduction: accepted; without effect.
        gradient_as_bucket_view: whether gradients of less than 256 KiB stay in the same memory from one step
            to the next; larger ones are summed where backward puts them.
        static_graph: whether all steps use the same parameters, so that it is found out once.
        delay_all_reduce_named_params: names and parameters whose gradients are summed after all others.
        param_to_hook_all_reduce: goes with them; a parameter of the module.
        mixed_precision: dtypes of forward, backward and sums, as `_MixedPrecision`.
        device_mesh: the processes, in place of ``process_group``: a mesh of one dimension.
        skip_all_reduce_unused_params: accepted; without effect.
        bucket_cap_mb_list: sizes of the buckets one by one, the last for all further ones.
        batched_grad_copy: accepted; without effect.
        forward_sync_buffers: whether forward begins with rank 0's buffers everywhere; by default it does.

    Raises:
        ValueError: if there is no process group, or several devices are named.
        RuntimeError: if the module has nothing to train, or the copies differ in their parameters.
    """

    _is_called = True  # by programs, and not by hooks of a module as in `replicate`

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: _MixedPrecision | None = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
        bucket_cap_mb_list: Sequence[float] | None = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: bool | None = None,
    ) -> None:
        Module.__init__(self)
        Joinable.__init__(self)
        if not torch.distributed.is_initialized():
            raise ValueError(
                "Default process group has not been initialized, please make sure to call "
                "init_process_group."
            )
        self._delayed = delayed_names(
            delay_all_reduce_named_params, param_to_hook_all_reduce, [*module.named_parameters()]
        )
        self.module = module
        self.parameters_to_ignore = set(getattr(module, _IGNORED, ()))
        self.process_group = group_of(process_group, device_mesh, self._shared_parameters())
        check_devices(self._shared_parameters(), device_ids, output_device)
        self.device = next(self.module.parameters(), torch.empty(0)).device
        self.device_type = self.device.type
        self.device_ids = None if device_ids is None else list(device_ids)
        self.output_device = output_device
        self.dim = dim
        self.forward_sync_buffers = syncs_buffers(broadcast_buffers, forward_sync_buffers)
        self.bucket_bytes_cap_list = bytes_of(bucket_cap_mb, bucket_cap_mb_list)
        self.bucket_bytes_cap = max(self.bucket_bytes_cap_list)
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self._divide_by_initial_world_size = True
        self.mixed_precision = mixed_precision
        self._comm_hooks: list[
            tuple[Any, Any]
        ] = []  # where captured functions see that there is one
        reducer = self._new_reducer()
        if init_sync:
            told = self.forward_sync_buffers or forward_sync_buffers is not None
            self._begin_alike(reducer.parameters, buffers=told)
        self.reducer = reducer
        self._narrowed = Narrowed.of(module, mixed_precision, self.parameters_to_ignore)

    def _begin_alike(self, trained: Sequence[Tensor], *, buffers: bool) -> None:
        """Have rank 0's parameters, and maybe buffers, in all processes.

        Raises:
            RuntimeError: if the copies differ in their parameters.
        """
        self._compare(trained)
        self._share(self._shared_parameters())
        if buffers:
            self._share(self._shared_buffers())

    def _new_reducer(self) -> Reducer:
        """What sums the gradients of the module.

        Raises:
            RuntimeError: if it has nothing to train.
        """
        shared = [
            (name, p)
            for name, p in self.module.named_parameters()
            if name not in self.parameters_to_ignore and p.requires_grad
        ]
        trained = [p for _, p in shared]
        if not trained:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that "
                "requires a gradient."
            )
        dtypes = self.mixed_precision or _MixedPrecision()
        return Reducer(
            trained,
            self.process_group,
            divided(
                trained,
                self.bucket_bytes_cap_list,
                _with_sparse_gradients(self.module, trained),
                dtypes.reduce_dtype or dtypes.param_dtype,
                {n for n, (name, _) in enumerate(shared) if name in self._delayed},
            ),
            keeps_memory=self.gradient_as_bucket_view,
            finds_unused=self.find_unused_parameters,
            is_static=self.static_graph,
        )

    def __getstate__(self) -> dict[str, Any]:
        """What is copied or saved: all but the group and what belongs to it.

        Raises:
            RuntimeError: if the group is not the default one, as a copy's is.
        """
        if self.process_group is not torch.distributed.group.WORLD:
            raise RuntimeError(
                "DDP Pickling/Unpickling are only supported when using DDP with the default process group. "
                "That is, when you have called init_process_group and have not passed process_group "
                "argument to DDP constructor"
            )
        left_out = ("process_group", "reducer")
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Be a copy, in the default group.

        Raises:
            ValueError: if there is none.
        """
        super().__setstate__(state)
        torch.distributed.get_rank()  # raises
        self.process_group = torch.distributed.group.WORLD
        self.reducer = self._new_reducer()

    @property
    def broadcast_buffers(self) -> bool:
        """An old name of `forward_sync_buffers`."""
        return self.forward_sync_buffers

    @broadcast_buffers.setter
    def broadcast_buffers(self, value: bool) -> None:
        self.forward_sync_buffers = value

    def _compare(self, parameters: Sequence[Tensor]) -> None:
        """Refuse copies that differ in their parameters.

        Raises:
            RuntimeError: on all ranks.
        """
        dist = torch.distributed
        mine = [(tuple(p.shape), str(p.dtype)) for p in parameters]
        every: list[Any] = [None] * dist.get_world_size(self.process_group)
        dist.all_gather_object(every, mine, group=self.process_group)
        for rank, other in enumerate(every):
            if len(other) != len(every[0]):
                raise RuntimeError(
                    f"DDP expects same model across all ranks, but Rank 0 has {len(every[0])} params, "
                    f"while rank {rank} has inconsistent {len(other)} params."
                )
            for number, (first, own) in enumerate(zip(every[0], other, strict=True)):
                if first != own:
                    raise RuntimeError(
                        f"DDP expects same model across all ranks: parameter {number} is {first} on rank "
                        f"0, and {own} on rank {rank}."
                    )

    def _share(self, tensors: Iterable[Tensor], root: int = 0) -> None:
        """Overwrite tensors with those of the rank at a position."""
        dist = torch.distributed
        if self._is_captured():
            for t in tensors:
                name = self.process_group.group_name
                torch.ops._c10d_functional.broadcast_(t.detach(), root, name)
            return
        works = [
            dist.broadcast(t.detach(), group=self.process_group, group_src=root, async_op=True)
            for t in tensors
        ]
        for work in works:
            work.wait()

    def _shared_parameters(self) -> list[Tensor]:
        """The parameters that all copies have alike."""
        named = self.module.named_parameters()
        return [p for name, p in named if name not in self.parameters_to_ignore]

    @cached_property
    def _all_inside(self) -> list[Module]:
        """The modules, which take longer to walk through than to ask for buffers in each step."""
        return [*self.module.modules()]

    def _shared_buffers(self) -> list[Tensor]:
        """The buffers that all copies have alike."""
        named = self.module.named_buffers()
        return [b for name, b in named if name not in self.parameters_to_ignore]

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module: Module, names: Iterable[str]) -> None:
        """Have each process keep parameters and buffers of its own, by their names in the module."""
        setattr(module, _IGNORED, list(names))

    def register_comm_hook(self, state: Any, hook: Callable[[Any, Any], Any]) -> None:
        """Have a function sum the gradients of each bucket, before the first backward.

        Args:
            state: its first argument; what it keeps from one call to the next.
            hook: given ``state`` and a `torch.distributed.GradBucket` of this process's gradients; gives a
                `torch.futures.Future` of a tensor that takes their place.

        Raises:
            TypeError: if it cannot be called.
            ValueError: if it says that it takes or gives something else.
            RuntimeError: if there is a hook, or ``mixed_precision`` says how gradients are summed.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        self._check_annotations(hook)
        if self.mixed_precision is not None:
            raise RuntimeError(
                "register_comm_hook or register_builtin_comm_hook can only be called once: mixed_precision "
                "says how gradients are summed"
            )
        self.reducer.use(partial(hook, state))
        self._comm_hooks.append((hook, state))

    @staticmethod
    def _check_annotations(hook: Callable[..., Any]) -> None:
        signature = inspect.signature(hook, eval_str=True)
        parameters = list(signature.parameters.values())
        if len(parameters) < 2:
            raise ValueError("Communication hook: it is called with a state and a bucket.")
        taken, given = parameters[1].annotation, signature.return_annotation
        if taken not in (inspect.Parameter.empty, torch.distributed.GradBucket):
            raise ValueError("Communication hook: bucket annotation should be dist.GradBucket.")
        if given not in (inspect.Signature.empty, torch.futures.Future[Tensor]):
            raise ValueError(
                "Communication hook: return annotation should be torch.futures.Future[torch.Tensor]."
            )

    def _register_builtin_comm_hook(self, comm_hook_type: Any) -> None:
        """Register one of the hooks that `torch.distributed.BuiltinCommHookType` names."""
        self.register_comm_hook(self.process_group, comm_hook_type.hook)

    def _set_static_graph(self) -> None:
        """Have all steps use the same parameters, as with ``static_graph=True``."""
        if self.static_graph:
            warn_user(
                "You've set static_graph to be True, no need to set it again.",
            )
            return
        self.static_graph = True
        self.reducer.fix()
        if self.find_unused_parameters:
            warn_user(
                "You passed find_unused_parameters=true to DistributedDataParallel, `_set_static_graph` "
                "will detect unused parameters automatically, so you do not need to set "
                "find_unused_parameters=true, just be sure these unused parameters will not change during "
                "training loop while calling `_set_static_graph`.",
            )

    def _get_ddp_logging_data(self) -> dict[str, Any]:
        """How it was made, as Lightning asks for it."""
        return {
            "static_graph": self.static_graph,
            "find_unused_parameters": self.find_unused_parameters,
            "gradient_as_bucket_view": self.gradient_as_bucket_view,
            "broadcast_buffers": self.forward_sync_buffers,
            "world_size": torch.distributed.get_world_size(self.process_group),
            "rank": torch.distributed.get_rank(self.process_group),
            "module_name": type(self.module).__name__,
            "bucket_cap_bytes": self.bucket_bytes_cap,
        }

    # ---- training --------------------------------------------------------------------------------

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A block in which backward adds to this process's gradients alone; the next one sums all."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module makes of its arguments; backward through it sums gradients."""
        self._begin()
        call = self._narrowed or self.module
        return self._end(call(*inputs, **kwargs))

    def _begin(self) -> None:
        """What is done before the module's forward."""
        training = torch.is_grad_enabled() and self.require_backward_grad_sync
        self._count(Join.notify_join_context(self))
        self._share_buffers(makes_step=True)
        if self._join_config.enable:
            self._any_trains(training)
        if torch.is_grad_enabled() and not training:
            self.reducer.active = False

    def _end(self, outputs: Any) -> Any:
        """What is done after it; returns what it gave."""
        training = torch.is_grad_enabled() and self.require_backward_grad_sync
        self.require_forward_param_sync = training
        if training:
            finds = self.find_unused_parameters or self.static_graph
            found = [*_find_tensors(outputs)] if finds else []
            self.reducer.begin(found, captured=self._is_captured())
        return outputs

    def _is_captured(self) -> bool:
        """Whether a captured function calls this, and guards its attributes: collectives are ops then."""
        pipe = torch.current_pipeline()
        return pipe is not None and pipe.captures and self._is_called

    # ---- uneven inputs ---------------------------------------------------------------------------

    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Join:
        """A block in which processes may make different numbers of steps.

        Those that have ended take part in the others' sums with zeros. At its end all have the parameters
        of one that made the most steps.

        Args:
            divide_by_initial_world_size: whether means are over all processes, in place of those that
                still make steps.
            enable: whether the block does anything.
            throw_on_early_termination: whether all raise as soon as one has ended.

        Raises:
            RuntimeError: at the end of the block, on all ranks, where that was asked for.
        """
        return Join(
            [self],
            enable,
            throw_on_early_termination,
            divide_by_initial_world_size=divide_by_initial_world_size,
        )

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What a process does that has made its steps, for `torch.distributed.algorithms.join.Join`.

        Args:
            **kwargs: options of the block, of which ``divide_by_initial_world_size`` is meant.
        """
        self._divide_by_initial_world_size = kwargs.get("divide_by_initial_world_size", True)
        return _Shadow(self)

    @property
    def join_device(self) -> torch.device:
        """Of the parameters."""
        return self.reducer.parameters[0].device

    @property
    def join_process_group(self) -> Any:
        """The processes."""
        return self.process_group

    def _count(self, steps: Any) -> None:
        """Take this process's share in means from the work that counts who makes this step."""
        size = self.process_group.size()
        if steps is not None and not self._divide_by_initial_world_size:
            steps.wait()
            size = steps.result()[0].item()
        self.reducer.share = 1 / size

    def _share_buffers(self, *, makes_step: bool) -> None:
        """Have the buffers of one rank: of rank 0, or in a block of one that makes this step."""
        if not (self.require_forward_param_sync and self.forward_sync_buffers):
            return
        if not any(module._buffers for module in self._all_inside):
            return
        if buffers := self._shared_buffers():
            self._share(buffers, self._agreed(makes_step) if self._join_config.enable else 0)

    def _agreed(self, candidate: bool) -> int:
        """The last position whose process is a candidate."""
        dist = torch.distributed
        position = dist.get_rank(self.process_group) if candidate else -1
        told = torch.tensor([position], device=self.join_device)
        dist.all_reduce(told, dist.ReduceOp.MAX, group=self.process_group)
        return int(told.item())

    def _any_trains(self, training: bool) -> bool:
        """Whether a process sums gradients after this forward."""
        told = torch.tensor([float(training)], device=self.join_device)
        torch.distributed.all_reduce(told, group=self.process_group)
        return bool(told.item())


class _Shadow(JoinHook):
    """The part in others' steps of a process that has made its own."""

    def __init__(self, ddp: DistributedDataParallel) -> None:
        self._ddp = ddp

    def main_hook(self) -> None:
        """Take part in forward and backward, with gradients of zero."""
        ddp = self._ddp
        ddp._share_buffers(makes_step=False)
        ddp.require_forward_param_sync = ddp._any_trains(False)
        if ddp.require_forward_param_sync:
            ddp.reducer.shadow()

    def post_hook(self, is_last_joiner: bool) -> None:
        """Take the parameters and buffers of a process that made the most steps."""
        ddp = self._ddp
        buffers = ddp._shared_buffers() if ddp.forward_sync_buffers else []
        ddp._share([*ddp._shared_parameters(), *buffers], ddp._agreed(is_last_joiner))


def _with_sparse_gradients(module: Module, parameters: Sequence[Tensor]) -> set[int]:
    """Numbers of the parameters of embeddings that say so."""
    kinds = (Embedding, EmbeddingBag)
    told = {id(m.weight) for m in module.modules() if isinstance(m, kinds) and m.sparse}
    return {n for n, p in enumerate(parameters) if id(p) in told}


def _dump_DDP_relevant_env_vars() -> None:
    """Print the variables of the environment that processes find each other by."""
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_PORT", "MASTER_ADDR")
    print("".join(f"env:{name}={os.environ.get(name, 'N/A')}\n" for name in names))
