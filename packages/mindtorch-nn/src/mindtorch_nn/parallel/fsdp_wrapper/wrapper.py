"""`FullyShardedDataParallel`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn

import mindtorch_core as torch
from mindtorch_core import Tensor

from ...modules.module import Module
from ..inner_names import SHARDED
from ..mixed_precision import cast
from ..sharding import CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy, fully_shard
from .options import (
    BackwardPrefetch,
    CPUOffload,
    MixedPrecision,
    OptimStateDictConfig,
    ShardingStrategy,
    StateDictConfig,
    StateDictSettings,
    StateDictType,
)
from .states import States, keep_states
from .wrapping import wrapped_below

__all__ = ["FullyShardedDataParallel"]

_HYBRID = (ShardingStrategy.HYBRID_SHARD, ShardingStrategy._HYBRID_SHARD_ZERO2)
_WHOLE = (ShardingStrategy.SHARD_GRAD_OP, ShardingStrategy._HYBRID_SHARD_ZERO2)
_INSIDE = SHARDED.removesuffix(".")


class FullyShardedDataParallel(States, Module):
    """A module whose parameters, gradients and optimizer states lie in parts in several processes.

    It is `fully_shard` in a wrapper: parameters are DTensors with names of their own, and there is no
    memory that several share, whatever ``use_orig_params`` says. States have the names of the module.

    Args:
        module: whose parts are cut, in place.
        process_group: the ranks; of hybrid strategies a pair: those that have parts, those that repeat.
        sharding_strategy: where parameters lie; ``FULL_SHARD`` by default.
        cpu_offload: whether parts lie in host memory.
        auto_wrap_policy: which modules below are wrapped first.
        backward_prefetch: accepted.
        mixed_precision: the dtypes.
        ignored_modules: modules whose parameters stay whole and are not summed.
        param_init_fn: gives values to modules that were made on ``meta``.
        device_id: where the module is moved before.
        sync_module_states: whether all begin with rank 0's parameters and buffers.
        forward_prefetch: accepted: the group that followed last time is begun ahead in any case.
        limit_all_gathers: accepted.
        use_orig_params: accepted: parameters always have names of their own.
        ignored_states: parameters or modules that stay whole, in place of ``ignored_modules``.
        device_mesh: the ranks, in place of ``process_group``.

    Raises:
        ValueError: for contradictory arguments.
        NotImplementedError: for gradients in low precision.
    """

    def __init__(
        self,
        module: Module,
        process_group: Any = None,
        sharding_strategy: ShardingStrategy | None = None,
        cpu_offload: CPUOffload | None = None,
        auto_wrap_policy: Any = None,
        backward_prefetch: BackwardPrefetch | None = BackwardPrefetch.BACKWARD_PRE,
        mixed_precision: MixedPrecision | None = None,
        ignored_modules: Iterable[Module] | None = None,
        param_init_fn: Callable[[Module], None] | None = None,
        device_id: Any = None,
        sync_module_states: bool = False,
        forward_prefetch: bool = False,
        limit_all_gathers: bool = True,
        use_orig_params: bool = False,
        ignored_states: Iterable[Any] | None = None,
        device_mesh: Any = None,
    ) -> None:
        super().__init__()
        if process_group is not None and device_mesh is not None:
            raise ValueError(
                "Cannot pass both process_group and device_mesh at the same time. Please just pass only "
                "one of them."
            )
        if ignored_modules is not None and ignored_states is not None:
            raise ValueError(
                "Cannot pass both ignored_modules and ignored_states at the same time."
            )
        precision = mixed_precision or MixedPrecision()
        strategy = sharding_strategy or ShardingStrategy.FULL_SHARD
        ignored = _ignored(ignored_modules, ignored_states)
        _give_values(module, param_init_fn, device_id)
        if sync_module_states:
            _from_first(module, process_group, device_mesh)
        parameters = [each for each in ignored.values() if isinstance(each, Tensor)]
        if auto_wrap_policy is not None:
            given = {"process_group": process_group, "sharding_strategy": sharding_strategy,
                     "cpu_offload": cpu_offload, "mixed_precision": mixed_precision,
                     "ignored_states": parameters, "device_mesh": device_mesh}  # fmt: skip
            wrapped_below(
                module, auto_wrap_policy, {*ignored}, lambda m, own: _wrapped(m, {**given, **own})
            )
        mesh = device_mesh if device_mesh is not None else _mesh(module, strategy, process_group)
        self.sharding_strategy = strategy
        self.mixed_precision = precision
        self._own_buffers = _buffers_of(module)
        fully_shard(
            module,
            mesh=mesh,
            reshard_after_forward=strategy not in (*_WHOLE, ShardingStrategy.NO_SHARD),
            mp_policy=_policy(precision),
            offload_policy=_offload(cpu_offload),
            ignored_params={*parameters},
        )
        setattr(self, _INSIDE, module)
        keep_states(self)

    # ---- the module ------------------------------------------------------------------------------

    @property
    def module(self) -> Any:
        """The module."""
        return self._modules[_INSIDE]

    @property
    def _has_params(self) -> bool:
        return any(True for _ in self.parameters())

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == _INSIDE:
                raise
            return getattr(self._modules[_INSIDE], name)

    def __getitem__(self, key: Any) -> Any:
        return self.module.__getitem__(key)

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Any]]:
        """Parameters with their names; those of the module itself within `summon_full_params`."""
        whole = self.module._sharding_state.group.wholes is not None
        for name, p in super().named_parameters(*args, **kwargs):
            yield (name.replace(SHARDED, "") if whole else name), p

    def check_is_root(self) -> bool:
        """Whether no other wrapper is around it; known after the first forward."""
        state = self.module._sharding_state
        state.settle()
        return bool(state.is_root)

    @staticmethod
    def fsdp_modules(module: Module, root_only: bool = False) -> list[FullyShardedDataParallel]:
        """The wrappers in a module, itself included; ``root_only`` leaves out those within others."""
        found = [each for each in module.modules() if isinstance(each, FullyShardedDataParallel)]
        if root_only:
            inner = {id(m) for each in found for m in each.module.modules()}
            found = [each for each in found if id(each) not in inner]
        return found

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's forward with its parameters put together."""
        state, precision = self.module._sharding_state, self.mixed_precision
        state.settle()
        if precision.buffer_dtype is not None:
            for owner, name, _ in self._own_buffers:
                owner._buffers[name] = owner._buffers[name].to(precision.buffer_dtype)
        wanted = precision.param_dtype
        if wanted is not None and state.is_root and precision.cast_root_forward_inputs:
            args, kwargs = cast(args, wanted), cast(kwargs, wanted)
        return self.module(*args, **kwargs)

    def apply(self, fn: Callable[[Module], None]) -> FullyShardedDataParallel:
        """Apply a function to all modules below, with whole parameters."""
        with self.summon_full_params(self):
            super().apply(fn)
        return self

    # ---- gradients -------------------------------------------------------------------------------

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A block whose backward passes keep gradients for the next one outside, which sums them all."""
        groups = [
            each.module._sharding_state.group
            for each in FullyShardedDataParallel.fsdp_modules(self)
        ]
        before = [group.syncs for group in groups]
        for group in groups:
            group.syncs = False
        try:
            yield
        finally:
            for group, synced in zip(groups, before, strict=True):
                group.syncs = synced

    def clip_grad_norm_(self, max_norm: float, norm_type: float = 2.0) -> Tensor:
        """Scale all gradients so that their norm, over all ranks, is ``max_norm`` at most.

        Returns:
            The norm before.
        """
        grads = [p.grad for p in self.parameters() if p.grad is not None]
        with torch.no_grad():
            norms = [_plain(torch.linalg.vector_norm(g, float(norm_type))) for g in grads]
            if not norms:
                return torch.tensor(0.0)
            total: Tensor = torch.linalg.vector_norm(torch.stack(norms), float(norm_type))
            scale = torch.clamp(float(max_norm) / (total + 1e-6), max=1.0)
            for grad in grads:
                grad.mul_(scale.to(grad.device, grad.dtype))
        return total

    def register_comm_hook(self, state: Any, hook: Any) -> NoReturn:
        """Refused."""
        raise NotImplementedError(
            "use module.set_all_reduce_hook: it sees each message of summed gradients"
        )

    # ---- whole parameters ------------------------------------------------------------------------

    @staticmethod
    @contextmanager
    def summon_full_params(
        module: Module,
        recurse: bool = True,
        writeback: bool = True,
        rank0_only: bool = False,
        offload_to_cpu: bool = False,
        with_grads: bool = False,
    ) -> Iterator[None]:
        """A block in which modules have whole parameters, on all ranks.

        Args:
            module: has wrappers in it, or is one. All ranks come here together.
            recurse: whether those within others are meant too.
            writeback: whether changes are kept, which all ranks make alike.
            rank0_only: accepted: all ranks have them.
            offload_to_cpu: accepted.
            with_grads: refused.

        Raises:
            NotImplementedError: for ``with_grads``, and writing on rank 0 alone.
        """
        if with_grads:
            raise NotImplementedError(
                "with_grads: parts have gradients, as DTensors; ask p.grad.full_tensor()"
            )
        if writeback and rank0_only:
            raise NotImplementedError(
                "writeback=True and rank0_only=True is not supported, as ranks differ then"
            )
        found = FullyShardedDataParallel.fsdp_modules(module, root_only=not recurse)
        with ExitStack() as stack:
            for each in found:
                stack.enter_context(_whole(each.module._sharding_state, keep=writeback))
            yield

    # ---- states ----------------------------------------------------------------------------------

    @staticmethod
    def set_state_dict_type(
        module: Module,
        state_dict_type: StateDictType,
        state_dict_config: StateDictConfig | None = None,
        optim_state_dict_config: OptimStateDictConfig | None = None,
    ) -> StateDictSettings:
        """How ``state_dict()`` of the wrappers in a module gives parameters; returns how it was."""
        return States._set(module, state_dict_type, state_dict_config, optim_state_dict_config)

    @staticmethod
    @contextmanager
    def state_dict_type(
        module: Module,
        state_dict_type: StateDictType,
        state_dict_config: StateDictConfig | None = None,
        optim_state_dict_config: OptimStateDictConfig | None = None,
    ) -> Iterator[None]:
        """`set_state_dict_type` for a block."""
        before = States._set(module, state_dict_type, state_dict_config, optim_state_dict_config)
        try:
            yield
        finally:
            States._set(
                module,
                before.state_dict_type,
                before.state_dict_config,
                before.optim_state_dict_config,
            )


# ---- arguments -------------------------------------------------------------------------------------


def _wrapped(module: Module, given: dict[str, Any]) -> Module:
    """A module below, wrapped by a policy; those that keep their dtype take and give the caller's."""
    precision = given["mixed_precision"]
    if precision is not None and isinstance(module, tuple(precision._module_classes_to_ignore)):
        return _InOwnDtype(module, **{**given, "mixed_precision": None})
    return FullyShardedDataParallel(module, **given)


class _InOwnDtype(FullyShardedDataParallel):
    """Computes in float32 whatever it is given, and gives its results in that dtype."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's forward."""
        found = super().forward(*cast(args, torch.float32), **cast(kwargs, torch.float32))
        given = next(
            (t.dtype for t in args if isinstance(t, Tensor) and t.is_floating_point()), None
        )
        return found if given is None else cast(found, given)


def _ignored(modules: Any, states: Any) -> dict[int, Any]:
    """Modules and parameters that stay as they are, by identity."""
    found: dict[int, Any] = {}
    for each in [*(modules or ()), *(states or ())]:
        below = [*each.modules(), *each.parameters()] if isinstance(each, Module) else [each]
        found |= {id(one): one for one in below}
    return found


def _policy(wanted: MixedPrecision) -> MixedPrecisionPolicy:
    if wanted.keep_low_precision_grads:
        raise NotImplementedError("keep_low_precision_grads: parts keep their dtype, as grads do")
    kinds = wanted.param_dtype, wanted.reduce_dtype
    return MixedPrecisionPolicy(*kinds, cast_forward_inputs=wanted.cast_forward_inputs)


def _offload(wanted: CPUOffload | None) -> OffloadPolicy:
    return CPUOffloadPolicy() if wanted is not None and wanted.offload_params else OffloadPolicy()


def _give_values(module: Module, init: Any, device_id: Any) -> None:
    if init is not None:
        for each in module.modules():
            if any(p.is_meta for p in each.parameters(recurse=False)):
                init(each)
    if device_id is not None:
        device = torch.device(device_id) if not isinstance(device_id, int) else None
        if device is None:
            kind = torch.accelerator.current_accelerator()
            device = None if kind is None else torch.device(kind.type, device_id)
        if device is not None and not any(p.is_meta for p in module.parameters()):
            module.to(device)


def _from_first(module: Module, group: Any, mesh: Any) -> None:
    """Have the first rank's parameters and buffers."""
    ranks = group[0] if isinstance(group, tuple) else group
    if mesh is not None and mesh.ndim == 1:
        ranks = mesh.get_group()
    with torch.no_grad():
        for each in [*module.parameters(), *module.buffers()]:
            if not hasattr(each, "_local_tensor"):
                torch.distributed.broadcast(each.detach(), group=ranks, group_src=0)


def _buffers_of(module: Module) -> list[tuple[Any, str, torch.dtype]]:
    """Floating point buffers with their owners and dtypes, but for those of wrappers below."""
    inner = {
        id(m) for each in FullyShardedDataParallel.fsdp_modules(module) for m in each.modules()
    }
    return [
        (owner, name, buffer.dtype)
        for owner in module.modules()
        if id(owner) not in inner
        for name, buffer in owner._buffers.items()
        if buffer is not None and buffer.is_floating_point()
    ]


def _mesh(module: Module, strategy: ShardingStrategy, group: Any) -> Any:
    """The ranks, as a strategy has them."""
    dist = torch.distributed
    kinds = [p.device.type for p in module.parameters() if not p.is_meta]
    kind = kinds[0] if kinds else "cpu"
    if strategy in _HYBRID:
        names = ("copies", "parts")
        if isinstance(group, tuple):
            parts, copies = group
            rows: list[Any] = [None] * copies.size()
            dist.all_gather_object(rows, dist.get_process_group_ranks(parts), group=copies)
            return dist.DeviceMesh.from_group([copies, parts], kind, rows, mesh_dim_names=names)
        size = dist.get_world_size()
        each = int(os.environ.get("LOCAL_WORLD_SIZE", size))
        return dist.init_device_mesh(kind, (size // each, each), mesh_dim_names=names)
    if group is None:
        size = dist.get_world_size()
        if strategy is ShardingStrategy.NO_SHARD:
            return dist.init_device_mesh(kind, (size, 1), mesh_dim_names=("copies", "parts"))
        return dist.init_device_mesh(kind, (size,))
    if strategy is ShardingStrategy.NO_SHARD:
        alone = dist.new_group([dist.get_rank()], use_local_synchronization=True)
        ranks = [[rank] for rank in dist.get_process_group_ranks(group)]
        return dist.DeviceMesh.from_group(
            [group, alone], kind, ranks, mesh_dim_names=("copies", "parts")
        )
    return dist.DeviceMesh.from_group(group, kind)


def _plain(value: Any) -> Tensor:
    found: Tensor = value.full_tensor() if hasattr(value, "full_tensor") else value
    return found


@contextmanager
def _whole(state: Any, *, keep: bool) -> Iterator[None]:
    """A block in which a group's modules have whole parameters."""
    group = state.group
    with torch.no_grad():
        group.expose()
    try:
        yield
        if keep:
            with torch.no_grad():
                for p, whole in zip(group.parameters, group.wholes or (), strict=True):
                    rows = p.gradient_rows(whole, p.dtype)
                    own = rows[group.mesh.get_local_rank(group.mesh.ndim - 1)]
                    own = own.reshape((p.step, *p.rest)).narrow(0, 0, p.local.shape[p.dim])
                    p.local.copy_(own.movedim(0, p.dim))
    finally:
        group.reshard()
