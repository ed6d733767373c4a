"""``torch._C._distributed_c10d``: names of ``torch.distributed`` at the path of PyTorch's compiled part."""

from __future__ import annotations

from typing import Any, Final

from .. import distributed
from ..absent import names_of

_absent = names_of(__name__)
_NAMES: Final = (
    "AllToAllOptions AllgatherOptions AllreduceCoalescedOptions AllreduceOptions BarrierOptions "
    "BroadcastOptions BuiltinCommHookType DebugLevel FileStore GatherOptions GradBucket HashStore Logger "
    "PrefixStore ProcessGroup ProcessGroupGloo ReduceOp ReduceOptions ReduceScatterOptions Reducer "
    "ScatterOptions Store TCPStore Work _DEFAULT_FIRST_BUCKET_BYTES _broadcast_coalesced "
    "_compute_bucket_assignment_by_size _make_nccl_premul_sum _register_builtin_comm_hook "
    "_register_comm_hook _verify_params_across_processes get_debug_level set_debug_level "
    "set_debug_level_from_env"
)
_SHARED: Final = frozenset(_NAMES.split())


def _resolve_process_group(group_name: str) -> Any:
    """A group by its name."""
    return distributed.distributed_c10d._resolve_process_group(group_name)


def __getattr__(name: str) -> Any:
    return getattr(distributed, name) if name in _SHARED else _absent(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_SHARED})
