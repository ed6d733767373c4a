"""Collective operations as the ops of ``c10d``, which write into tensors and take the group itself.

PyTorch's functions of groups call these; programs count calls by their names.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, Final

from ..library.registration import Library
from ..opdefs.torch_ops import ops
from . import coalescing, collectives, exchanges
from .engine import Finished
from .work import Work

__all__ = ["LIBRARY", "NAMES"]

LIBRARY: Final = Library("c10d", "DEF")
# Names of these ops, by those of the functions.
NAMES: Final = {
    "all_gather": "allgather_",
    "all_gather_coalesced": "allgather_coalesced_",
    "all_gather_into_tensor": "_allgather_base_",
    "all_reduce": "allreduce_",
    "all_reduce_coalesced": "allreduce_coalesced_",
    "all_to_all": "alltoall_",
    "all_to_all_single": "alltoall_base_",
    "broadcast": "broadcast_",
    "gather": "gather_",
    "reduce": "reduce_",
    "reduce_scatter": "reduce_scatter_",
    "reduce_scatter_tensor": "_reduce_scatter_base_",
    "scatter": "scatter_",
}
_CLASSES: Final = "__torch__.torch.classes.c10d."
_PG: Final = f"{_CLASSES}ProcessGroup process_group"
_OP: Final = f"{_CLASSES}ReduceOp reduce_op"
_LAST: Final = "bool async_op=True, int timeout=-1"


def _define(
    arguments: str,
    result: str,
    begin: Callable[[Any], Work | None],
    gives: str = "",
    last: str = _LAST,
) -> None:
    """Define an op.

    Args:
        arguments: its name and arguments, as a schema has them, but for the last ones.
        result: the type of what it gives beside its `Work`; empty for none.
        begin: begins the call that its arguments, by their names, are for.
        gives: the argument that it gives.
        last: the last arguments.
    """
    work = f"{_CLASSES}Work"
    given = f"({result}, {work})" if result else work
    name = LIBRARY.define(f"{arguments}, {last}) -> {given}")
    names = [each.name for each in getattr(ops.c10d, name).default._schema.arguments]

    def kernel(*args: Any, **kwargs: Any) -> Any:
        own = SimpleNamespace(async_op=True, timeout=-1)
        own.__dict__.update(dict(zip(names, args, strict=False)), **kwargs)
        if own.timeout > 0:
            with own.process_group.limited(timedelta(milliseconds=own.timeout)):
                begun = begin(own)
        else:
            begun = begin(own)
        begun = begun or Work(Finished(), [])
        return (getattr(own, gives), begun) if gives else begun

    LIBRARY.impl(name, kernel, "CompositeExplicitAutograd")


_define(
    f"allreduce_(Tensor[] tensors, {_PG}, {_OP}, Tensor? sparse_indices",
    "Tensor[]",
    lambda a: collectives.all_reduce(a.tensors[0], a.reduce_op, a.process_group, a.async_op),
    "tensors",
)
_define(
    f"allreduce_coalesced_(Tensor[] tensors, {_PG}, {_OP}",
    "",
    lambda a: coalescing.all_reduce_coalesced(a.tensors, a.reduce_op, a.process_group, a.async_op),
)
_define(
    f"broadcast_(Tensor[] tensors, {_PG}, int root_rank, int root_tensor",
    "Tensor[]",
    lambda a: collectives.broadcast(
        a.tensors[a.root_tensor], None, a.process_group, a.async_op, a.root_rank
    ),
    "tensors",
)
_define(
    f"reduce_(Tensor[] tensors, {_PG}, {_OP}, int root_rank, int root_tensor",
    "",
    lambda a: collectives.reduce(
        a.tensors[a.root_tensor], None, a.reduce_op, a.process_group, a.async_op, a.root_rank
    ),
)
_define(
    f"_allgather_base_(Tensor output_tensor, Tensor input_tensor, {_PG}",
    "Tensor",
    lambda a: collectives.all_gather_into_tensor(
        a.output_tensor, a.input_tensor, a.process_group, a.async_op
    ),
    "output_tensor",
)
_define(
    f"allgather_(Tensor[][] output_tensors, Tensor[] input_tensors, {_PG}",
    "Tensor[][]",
    lambda a: collectives.all_gather(
        a.output_tensors[0], a.input_tensors[0], a.process_group, a.async_op
    ),
    "output_tensors",
)
_define(
    f"allgather_coalesced_(Tensor[][] output_lists, Tensor[] input_list, {_PG}",
    "",
    lambda a: coalescing.all_gather_coalesced(
        a.output_lists, a.input_list, a.process_group, a.async_op
    ),
    last="bool async_op=True",
)
_define(
    f"_reduce_scatter_base_(Tensor output_tensor, Tensor input_tensor, {_PG}, {_OP}",
    "Tensor",
    lambda a: collectives.reduce_scatter_tensor(
        a.output_tensor, a.input_tensor, a.reduce_op, a.process_group, a.async_op
    ),
    "output_tensor",
)
_define(
    f"reduce_scatter_(Tensor[] output_tensors, Tensor[][] input_tensors, {_PG}, {_OP}",
    "Tensor[]",
    lambda a: collectives.reduce_scatter(
        a.output_tensors[0], a.input_tensors[0], a.reduce_op, a.process_group, a.async_op
    ),
    "output_tensors",
)
_define(
    f"gather_(Tensor[][] output_tensors, Tensor[] input_tensors, {_PG}, int root_rank",
    "",
    lambda a: collectives.gather(
        a.input_tensors[0],
        a.output_tensors[0] if a.output_tensors else None,
        None,
        a.process_group,
        a.async_op,
        a.root_rank,
    ),
)
_define(
    f"scatter_(Tensor[] output_tensors, Tensor[][] input_tensors, {_PG}, int root_rank",
    "Tensor[]",
    lambda a: collectives.scatter(
        a.output_tensors[0],
        a.input_tensors[0] if a.input_tensors else None,
        None,
        a.process_group,
        a.async_op,
        a.root_rank,
    ),
    "output_tensors",
)
_define(
    f"alltoall_(Tensor[] output_tensors, Tensor[] input_tensors, {_PG}",
    "Tensor[]",
    lambda a: exchanges.all_to_all(a.output_tensors, a.input_tensors, a.process_group, a.async_op),
    "output_tensors",
)
_define(
    f"alltoall_base_(Tensor output, Tensor input, {_PG}, int[] output_split_sizes, "
    "int[] input_split_sizes",
    "",
    lambda a: exchanges.all_to_all_single(
        a.output, a.input, a.output_split_sizes, a.input_split_sizes, a.process_group, a.async_op
    ),
)
