"""`CommDebugMode`: which collective operations a block makes, and which module makes them."""

from __future__ import annotations

import json
import re
import threading
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Self

from .....communication.group_ops import NAMES
from .....communication.listening import LISTENERS
from .....communication.sharded.dtensor import DTensor
from .....frontend.dispatch_modes import DispatchMode
from .....opdefs.torch_ops import ops
from .comm_report import Noise, as_json, as_table
from .module_calls import ModuleCalls

__all__ = ["CommDebugMode"]

_FUNCTIONAL: Final = ("_c10d_functional", "_c10d_functional_autograd")


class CommDebugMode(DispatchMode):
    """Counts, in a block, collective operations by op and by module.

    Those of DTensors and of ``torch.distributed._functional_collectives`` are counted as
    ``torch.ops.c10d_functional.all_reduce`` and its like, those of the functions of ``torch.distributed`` as
    ``torch.ops.c10d.allreduce_`` and its like, as PyTorch does.

    Attributes:
        comm_counts: by op how often it was called.
        comm_module_counts: the same by module, ``forward`` and ``backward``.
        comm_module_operation_counts: by module a list of all ops, in order.
        advanced_module_tracker: what is known of the modules.

    Example:
        >>> mode = CommDebugMode()
        >>> with mode:
        ...     model(batch).sum().backward()
        >>> mode.get_comm_counts()
    """

    def __init__(self) -> None:
        self.comm_counts: dict[Any, int] = defaultdict(int)
        self.comm_module_counts: dict[str, dict[str, dict[Any, int]]] = {}
        self.comm_module_operation_counts: dict[str, dict[str, list[dict[str, Any]]]] = {}
        self.advanced_module_tracker = ModuleCalls()
        self._within = False  # an op that this mode has counted already
        self._thread = 0

    def __enter__(self) -> Self:
        self.comm_counts.clear()
        self.comm_module_counts.clear()
        self._of_module("Global")
        self.comm_module_operation_counts.clear()
        self._thread = threading.get_ident()
        super().__enter__()
        self.advanced_module_tracker.__enter__()
        LISTENERS.append(self._heard)
        return self

    def __exit__(self, *exc_info: Any) -> None:
        LISTENERS.remove(self._heard)
        self.advanced_module_tracker.__exit__(*exc_info)
        super().__exit__(*exc_info)

    # ---- what was counted ------------------------------------------------------------------------

    def get_total_counts(self) -> int:
        """How many collective operations there were."""
        return sum(self.comm_counts.values())

    def get_comm_counts(self) -> dict[Any, int]:
        """How often each was called, by op."""
        return self.comm_counts

    def get_parameter_info(self) -> dict[str, dict[str, Any]]:
        """The parameters of the modules that were called, by the names of both."""
        return self.advanced_module_tracker.module_parameters_dict

    def get_sharding_info(self) -> dict[str, Any]:
        """The placements of parameters that are DTensors, by their names."""
        return self.advanced_module_tracker.sharding_dict

    def generate_comm_debug_tracing_table(self, noise_level: int = 3) -> str:
        """What the modules did, as text with colours.

        Args:
            noise_level: 0 for collective operations alone; 1 for ops on DTensors as well; 2 for those on
                other tensors; 3 for what computes nothing, such as views.
        """
        return as_table(
            self.advanced_module_tracker,
            self.comm_module_counts,
            self._operations(),
            Noise.of(noise_level),
        )

    def log_comm_debug_tracing_table_to_file(
        self, file_name: str = "comm_mode_log.txt", noise_level: int = 3
    ) -> None:
        """Write the table into a file, without colours."""
        table = self.generate_comm_debug_tracing_table(noise_level)
        Path(file_name).write_text(re.sub(r"\x1b\[[0-9;]*m", "", table))

    def generate_json_dump(
        self, file_name: str = "comm_mode_log.json", noise_level: int = 3
    ) -> None:
        """Write what the modules did into a file of JSON, as a tree of modules."""
        tree = as_json(
            self.advanced_module_tracker,
            self.comm_module_counts,
            self._operations(),
            Noise.of(noise_level),
        )
        Path(file_name).write_text(json.dumps(tree, indent=4))

    def _operations(self) -> dict[str, list[dict[str, Any]]]:
        return {
            name: row["operations_list"] for name, row in self.comm_module_operation_counts.items()
        }

    # ---- counting --------------------------------------------------------------------------------

    def __torch_dispatch__(
        self,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if any(issubclass(t, DTensor) for t in types):  # which says by ops what it sends
            self._note(func, [each for each in args if isinstance(each, DTensor)])
            return NotImplemented
        before, self._within = self._within, True
        try:
            found = func(*args, **(kwargs or {}))
        finally:
            self._within = before
        packet = func.overloadpacket
        if func.namespace in _FUNCTIONAL and packet.__name__ in dir(ops.c10d_functional):
            self._count(getattr(ops.c10d_functional, packet.__name__))
        self._note(func)
        return found

    def _heard(self, op: str) -> None:
        """A function of ``torch.distributed`` was called."""
        if self._within or threading.get_ident() != self._thread:
            return
        packet = getattr(ops.c10d, NAMES[op])
        self._count(packet)
        self._note(packet.default)

    def _count(self, packet: Any) -> None:
        self.comm_counts[packet] += 1
        seen = self.advanced_module_tracker
        way = "backward" if seen.is_bw else "forward"
        for name in {seen.name, *seen.module_parents_dict[seen.name]}:
            self._of_module(name)[way][packet] += 1

    def _of_module(self, name: str) -> dict[str, dict[Any, int]]:
        return self.comm_module_counts.setdefault(
            name, {"forward": defaultdict(int), "backward": defaultdict(int)}
        )

    def _note(self, func: Any, tensors: Sequence[DTensor] = ()) -> None:
        seen = self.advanced_module_tracker
        row = self.comm_module_operation_counts.setdefault(seen.name, {"operations_list": []})
        row["operations_list"].append(
            {
                "name": func,
                "input_shape": [t.shape for t in tensors],
                "input_sharding": [t.placements for t in tensors],
                "device_mesh": str(tensors[-1].device_mesh) if tensors else "",
                "is_bw": seen.is_bw,
                "is_activation_checkpointing": seen.activation_checkpointing,
            }
        )

    def __repr__(self) -> str:
        return f"CommDebugMode(get_total_counts()={self.get_total_counts()})"
