"""``torch.distributed.Reducer`` and ``Logger``: parts of `DistributedDataParallel`, for other programs.

A program divides its parameters by `_compute_bucket_assignment_by_size`, makes a `Reducer`, and calls
``prepare_for_forward()`` and ``prepare_for_backward(outputs)`` around each step's forward.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import mindtorch_core as torch
from mindtorch_core import Tensor

from .buckets import Bucket, SparseBucket
from .reducer import Reducer as Sums

__all__ = ["Logger", "Reducer", "register_builtin_comm_hook", "register_comm_hook"]

_CAP: Final = 25 << 20
_NAMES: Final = {"float32": "float", "float64": "double", "float16": "c10::Half"}


class Reducer(Sums):
    """Puts the mean of all processes' gradients into parameters while backward computes them.

    Args:
        params: those that require grad, alike in all processes.
        bucket_indices: numbers of the parameters that are summed at once, in the order of the sums.
        per_bucket_size_limits: accepted; buckets stay as they are.
        process_group: the processes.
        expect_sparse_gradients: which parameters' gradients are sparse; each has a bucket of its own.
        bucket_bytes_cap: what `Logger` tells.
        find_unused_parameters: whether outputs may depend on fewer parameters than there are.
        gradient_as_bucket_view: whether gradients of less than 256 KiB stay in the same memory from one step
            to the next; larger ones are summed where backward puts them.
        param_to_name_mapping: accepted; without effect.
        first_bucket_bytes_cap: accepted; without effect.
        skip_all_reduce_unused_params: accepted; without effect.
        use_python_reducer: accepted; without effect.
        bucket_bytes_cap_list: accepted; without effect.
        batched_grad_copy: accepted; without effect.
    """

    def __init__(
        self,
        params: Sequence[Tensor],
        bucket_indices: Sequence[Sequence[int]],
        per_bucket_size_limits: Sequence[int],
        process_group: Any,
        expect_sparse_gradients: Sequence[bool] = (),
        bucket_bytes_cap: int = _CAP,
        find_unused_parameters: bool = False,
        gradient_as_bucket_view: bool = False,
        param_to_name_mapping: Mapping[int, str] | None = None,
        first_bucket_bytes_cap: int = 1 << 20,
        skip_all_reduce_unused_params: bool = False,
        use_python_reducer: bool = False,
        bucket_bytes_cap_list: Sequence[int] = (),
        batched_grad_copy: bool = False,
    ) -> None:
        if sorted(n for row in bucket_indices for n in row) != [*range(len(params))]:
            raise ValueError(
                f"bucket_indices must name each of {len(params)} parameters once, got {bucket_indices}"
            )
        buckets = []
        for numbers in bucket_indices:
            sparse = bool(expect_sparse_gradients) and expect_sparse_gradients[numbers[0]]
            kind = SparseBucket if sparse else Bucket
            buckets.append(kind([params[n] for n in numbers], numbers))
        super().__init__(
            params,
            process_group,
            buckets,
            keeps_memory=gradient_as_bucket_view,
            finds_unused=find_unused_parameters,
        )
        self.bucket_bytes_cap = bucket_bytes_cap
        self.steps = 0

    def prepare_for_forward(self) -> None:
        """Count a step."""
        self.steps += 1

    def prepare_for_backward(self, output: Tensor | Sequence[Tensor]) -> None:
        """Expect a backward pass from outputs; none stand for all that parameters have."""
        self.begin([output] if isinstance(output, Tensor) else list(output))

    def set_logger(self, logger: Any) -> None:
        """Have a `Logger`, which asks by itself."""

    def _rebuild_buckets(self) -> bool:
        return False

    def _set_static_graph(self) -> None:
        self.fix()


@dataclass
class _Data:
    """What a `Logger` tells: texts, and numbers."""

    strs_map: dict[str, str] = field(default_factory=dict)
    ints_map: dict[str, int] = field(default_factory=dict)


class Logger:
    """What is known of a reducer and of the model whose gradients it sums.

    Args:
        reducer: one of `DistributedDataParallel`, or of a program's own.
    """

    def __init__(self, reducer: Sums) -> None:
        self._reducer = reducer
        self._data = _Data()

    def set_construction_data_and_log(
        self,
        module_name: str,
        device_ids: Sequence[int],
        output_device: int,
        broadcast_buffers: bool,
        has_sync_bn: bool,
        static_graph: bool,
    ) -> None:
        """Note how the model was wrapped."""
        dist, sums, env = torch.distributed, self._reducer, os.environ
        trained = sums.parameters
        kinds = dict.fromkeys(str(p.dtype).removeprefix("torch.") for p in trained)
        sizes = [sum(p.nbytes for p in b.parameters) for b in sums.buckets]
        self._data.strs_map |= {
            "module_name": module_name,
            "device_ids": ", ".join(map(str, device_ids)),
            "backend_name": sums.group.backend,
            "bucket_sizes": ", ".join(map(str, sizes)),
            "dtypes": ", ".join(_NAMES.get(kind, kind) for kind in kinds),
            "master_addr": env.get("MASTER_ADDR", "N/A"),
            "master_port": env.get("MASTER_PORT", "N/A"),
            "torch_distributed_debug": env.get("TORCH_DISTRIBUTED_DEBUG", "N/A"),
        }
        self._data.ints_map |= {
            "world_size": dist.get_world_size(sums.group),
            "rank": dist.get_rank(sums.group),
            "iteration": 0,
            "num_parameter_tensors": len(trained),
            "total_parameter_size_bytes": sum(p.nbytes for p in trained),
            "bucket_cap_bytes": getattr(sums, "bucket_bytes_cap", _CAP),
            "find_unused_parameters": int(sums.finds_unused),
            "gradient_as_bucket_view": int(sums.keeps_memory),
            "broadcast_buffers": int(broadcast_buffers),
            "has_sync_bn": int(has_sync_bn),
            "is_multi_device_module": int(len({p.device for p in trained}) > 1),
            "output_device": output_device,
        }
        if static_graph:
            self._set_static_graph()

    def set_runtime_stats_and_log(self) -> None:
        """Note how many steps there were."""
        self._data.ints_map["iteration"] = getattr(self._reducer, "steps", 0)

    def set_error_and_log(self, error: str) -> None:
        """Note an error."""
        self._data.strs_map["error"] = error

    def _set_comm_hook_name(self, comm_hook: str) -> None:
        self._data.strs_map["comm_hook"] = comm_hook

    def _set_static_graph(self) -> None:
        self._data.ints_map["static_graph"] = 1

    def _set_uneven_input_join(self) -> None:
        self._data.ints_map["join_uneven_inputs"] = 1

    def _get_ddp_logging_data(self) -> _Data:
        return self._data


def register_comm_hook(reducer: Sums, state: Any, comm_hook: Any) -> None:
    """Have a function sum each bucket: it is given the state and a `GradBucket`."""
    reducer.use(partial(comm_hook, state))


def register_builtin_comm_hook(reducer: Sums, comm_hook_type: Any) -> None:
    """Have one of the hooks that `torch.distributed.BuiltinCommHookType` names sum each bucket."""
    reducer.use(partial(comm_hook_type.hook, reducer.group))
