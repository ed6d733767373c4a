"""``torch.distributed``: processes that work together, where a communicator plugin is installed.

Its functions lie in the room `communication`, and are loaded when they are asked for. `is_available` says
whether there is a plugin. Names that exist for the sake of imports are rows of `absent_distributed`.
"""

from __future__ import annotations

import importlib
import os
from functools import partial
from types import FunctionType
from typing import Any, Final

from ...dispatch.asked_wrongly import guarded
from ...dispatch.registry import registry
from ...frontend.companion import module_at
from ..absent import names_of

__all__ = [
    "get_rank",
    "get_world_size",
    "is_available",
    "is_backend_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
]

_ROOM: Final = "mindtorch_core.communication"
# Names, by the module of the room that has them.
_MODULES: Final = {
    "backend_names": "Backend BackendConfig DebugLevel get_debug_level get_default_backend_for_device "
    "set_debug_level set_debug_level_from_env",
    "beginning": "destroy_process_group init_process_group new_group",
    "call_options": "AllToAllOptions AllgatherOptions AllreduceCoalescedOptions AllreduceOptions "
    "BarrierOptions BroadcastOptions GatherOptions ReduceOptions ReduceScatterOptions ScatterOptions",
    "coalescing": "_coalescing_manager all_gather_coalesced all_gather_into_tensor all_gather_single "
    "all_reduce all_reduce_coalesced reduce_scatter_single reduce_scatter_tensor",
    "collectives": "all_gather broadcast gather reduce reduce_scatter scatter",
    "exchanges": "all_to_all all_to_all_single barrier",
    "errors": "DistBackendError DistError DistNetworkError DistStoreError DistributedError "
    "QueueEmptyError",
    "hooks": "BuiltinCommHookType GradBucket",
    "gloo": "ProcessGroupGloo",
    "groups": "GroupMember group",
    "membership": "get_backend get_backend_config get_global_rank get_group_rank get_node_local_rank "
    "get_pg_count get_process_group_ranks new_subgroups new_subgroups_by_enumeration "
    "split_group",
    "mesh": "DeviceMesh init_device_mesh",
    "messages": "P2POp batch_isend_irecv irecv isend recv send",
    "monitored": "monitored_barrier",
    "objects": "all_gather_object broadcast_object_list gather_object recv_object_list "
    "scatter_object_list send_object_list",
    "process_group": "ProcessGroup",
    "reductions": "ReduceOp",
    "rendezvous": "register_rendezvous_handler rendezvous",
    "shrinking": "SHRINK_ABORT SHRINK_DEFAULT shrink_group",
    "stores": "FileStore HashStore PrefixStore Store",
    "tcp_store": "TCPStore",
    "work": "Work",
}
_HOMES: Final = {name: module for module, names in _MODULES.items() for name in names.split()}
# Names whose homes call them otherwise; those of mindtorch-nn stand below.
_RENAMED: Final = {
    "_DEFAULT_FIRST_BUCKET_BYTES": ("coalesced_copies", "FIRST_BYTES"),
    "_CoalescingManager": ("coalescing", "Coalescing"),
    "_IllegalWork": ("coalescing", "NoWork"),
    "_Work": ("work", "Work"),
    "_broadcast_coalesced": ("coalesced_copies", "broadcast_coalesced"),
    "_compute_bucket_assignment_by_size": ("coalesced_copies", "assigned_by_size"),
    "_verify_params_across_processes": ("coalesced_copies", "verify_across_processes"),
    "_make_nccl_premul_sum": ("reductions", "Premultiplied"),
    "default_pg_timeout": ("beginning", "DEFAULT_PG_TIMEOUT"),
}
_OF_NN: Final = {
    "Logger": "Logger",
    "Reducer": "Reducer",
    "_register_builtin_comm_hook": "register_builtin_comm_hook",
    "_register_comm_hook": "register_comm_hook",
}
_OF_BREAKPOINTS: Final = ("_breakpoint_cache", "_make_distributed_pdb", "breakpoint", "log")
_OTHER_NAMES: Final = {
    "_all_gather_base": "all_gather_into_tensor",
    "_reduce_scatter_base": "reduce_scatter_tensor",
}
_OF_C10D: Final = ("_get_process_group_name", "_rank_not_in_group", "supports_complex")
_BELOW: Final = (
    "_functional_collectives",
    "algorithms",
    "constants",
    "device_mesh",
    "distributed_c10d",
    "elastic",
    "launcher",
    "nn",
    "run",
)
__all__ += [name for name in _HOMES if name[0] != "_"]

_absent = names_of(__name__)
with (
    registry.apart()
):  # what is being undone about it, such as a plugin's loading, has no part in them
    for _defines_ops in ("functional", "older_functional", "group_ops"):
        importlib.import_module(f"{_ROOM}.{_defines_ops}")


def __getattr__(name: str) -> Any:
    own = _OTHER_NAMES.get(name, name)
    if own in _HOMES:
        found = getattr(importlib.import_module(f"{_ROOM}.{_HOMES[own]}"), own)
        if isinstance(found, FunctionType):
            guarded(found, checks=True)
        old = importlib.import_module(f"{__name__}.deprecated")
        if name in old.OLD:
            found = old.warning(found, old.OLD[name])
    elif name == "reduce_op":
        found = importlib.import_module(f"{__name__}.deprecated").REDUCE_OP
    elif name in _RENAMED:
        module, own = _RENAMED[name]
        found = getattr(importlib.import_module(f"{_ROOM}.{module}"), own)
    elif name in _OF_NN:
        found = getattr(module_at("mindtorch_core.nn.parallel.c10d"), _OF_NN[name])
    elif name in _OF_BREAKPOINTS:
        found = getattr(importlib.import_module(f"{__name__}.breakpoints"), name)
    elif name in _BELOW:
        found = importlib.import_module(f"{__name__}.{name}")
    elif name in _OF_C10D:
        found = getattr(importlib.import_module(f"{__name__}.distributed_c10d"), name)
    else:
        return _absent(name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _engines() -> Any:
    return importlib.import_module(f"{_ROOM}.engines")


def is_available() -> bool:
    """Whether a communicator plugin is installed, such as mindtorch-mpi. Loads none."""
    return bool(_engines().installed())


def is_initialized() -> bool:
    """Whether `init_process_group` has been called."""
    found: bool = importlib.import_module(f"{_ROOM}.membership").is_initialized()
    return found


def is_backend_available(backend: str) -> bool:
    """Whether the communicator plugin of that name is installed."""
    return backend.lower() in _engines().installed()


def is_mpi_available() -> bool:
    """Whether mindtorch-mpi is installed."""
    return is_backend_available("mpi")


def is_gloo_available() -> bool:
    """Whether ``backend="gloo"`` is understood: it means the communicator of the CPU's tensors."""
    return is_available()


def is_nccl_available() -> bool:
    """False: NCCL is NVIDIA's."""
    return False


is_ucc_available = is_xccl_available = is_nccl_available


def is_torchelastic_launched() -> bool:
    """Whether a launcher of PyTorch's has started this process."""
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


@partial(guarded, checks=True)
def get_rank(group: Any = None) -> int:
    """This process's position in a group; 0 where no plugin is installed and it stands alone.

    Raises:
        ValueError: if there is no group yet.
    """
    if not (is_initialized() or is_available()):
        return 0
    found: int = importlib.import_module(f"{_ROOM}.membership").get_rank(group)
    return found


@partial(guarded, checks=True)
def get_world_size(group: Any = None) -> int:
    """How many processes a group has; 1 where no plugin is installed.

    Raises:
        ValueError: if there is no group yet.
    """
    if not (is_initialized() or is_available()):
        return 1
    found: int = importlib.import_module(f"{_ROOM}.membership").get_world_size(group)
    return found
