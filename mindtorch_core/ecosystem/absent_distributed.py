"""Rows of `absent_names` for what works with several processes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, NoReturn

from .absent_row import Absent

__all__ = ["DISTRIBUTED"]

_LATER: Final = (
    "of several processes it has groups, collective operations and DistributedDataParallel so far"
)


def _no(*args: Any) -> bool:
    """False: there is no such thing here."""
    return False


def _require_initialized(func: Callable[..., Any]) -> Callable[..., NoReturn]:
    """Decorator of functions that want ``init_rpc`` before: modules use it as they are imported."""

    @wraps(func)
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        name = getattr(func, "__name__", func)
        raise NotImplementedError(
            f"{name} wants torch.distributed.rpc, which is not part of mindtorch: {_LATER}"
        )

    return refuse


DISTRIBUTED: Final[dict[str, Absent]] = {
    "distributed._functional_collectives": Absent(
        "collective operations have waited when they return", classes="AsyncCollectiveTensor"
    ),
    "distributed.tensor": Absent(_LATER),
    "distributed.tensor._utils": Absent(),
    "distributed.tensor.placement_types": Absent(),
    "distributed.tensor.experimental": Absent(_LATER, functions="context_parallel"),
    "distributed.tensor.experimental._attention": Absent(
        _LATER, functions="context_parallel set_rotate_method"
    ),
    "distributed.fsdp": Absent(),
    "distributed.fsdp.sharded_grad_scaler": Absent(),
    "distributed._composable": Absent(),
    "distributed.algorithms": Absent(),
    "distributed.algorithms._checkpoint": Absent(),
    "distributed.algorithms._checkpoint.checkpoint_wrapper": Absent(),
    "distributed.algorithms.ddp_comm_hooks": Absent(),
    "distributed.algorithms.ddp_comm_hooks.ddp_zero_hook": Absent(
        "let ZeroRedundancyOptimizer step after backward, or steps be made in backward by "
        "torch.distributed.optim._apply_optimizer_in_backward",
        functions="hook_with_zero_step hook_with_zero_step_interleaved",
    ),
    "distributed.algorithms.ddp_comm_hooks.optimizer_overlap_hooks": Absent(
        "use torch.distributed.optim._apply_optimizer_in_backward",
        classes="_OptimInBackwardHookState _OptimizerHookState",
        functions="_apply_optim_in_backward_hook _hook_then_optimizer",
    ),
    "distributed.algorithms.ddp_comm_hooks.post_localSGD_hook": Absent(),
    "distributed.algorithms.join": Absent(),
    "distributed.algorithms.model_averaging": Absent(),
    "distributed.algorithms.model_averaging.averagers": Absent(),
    "distributed.algorithms.model_averaging.hierarchical_model_averager": Absent(),
    "distributed.algorithms.model_averaging.utils": Absent(),
    "distributed.checkpoint": Absent(),
    "distributed.checkpoint.hf_storage": Absent(),
    "distributed.checkpoint.optimizer": Absent(),
    "distributed.checkpoint.state_dict": Absent(),
    "distributed.checkpoint.stateful": Absent(),
    "distributed.elastic": Absent(),
    "distributed.elastic.multiprocessing": Absent(),
    "distributed.optim": Absent(_LATER, classes="DistributedOptimizer"),
    "distributed.pipelining": Absent(
        _LATER,
        classes="PipelineStage Schedule1F1B ScheduleGPipe",
        functions="pipe_split pipeline",
        enums={"SplitPoint": "BEGINNING END"},
    ),
    "distributed.autograd": Absent(_LATER, classes="context", values={"is_available": _no}),
    "distributed.rpc": Absent(
        _LATER,
        classes="BackendType PyRRef RRef RpcBackendOptions TensorPipeRpcBackendOptions WorkerInfo",
        functions="get_worker_info init_rpc remote rpc_async rpc_sync shutdown",
        values={"is_available": _no},
    ),
    "distributed.rpc.api": Absent(
        _LATER,
        functions="_all_gather _barrier",
        values={"UNSET_RPC_TIMEOUT": -1.0, "_require_initialized": _require_initialized},
    ),
    "distributed.utils": Absent(_LATER, functions="_sync_module_states"),
    "distributed._shard": Absent(),
    "distributed._shard.sharded_tensor": Absent(_LATER, classes="ShardedTensor"),
    "distributed._shard.sharded_tensor.api": Absent(_LATER, classes="ShardedTensor"),
    "distributed._state_dict_utils": Absent(_LATER, functions="_copy_state_dict"),
}
