"""Collective operations as the ops of ``c10d_functional``: older forms of those of ``_c10d_functional``.

They name a group by its ranks. Programs count and choose calls by these names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..library.registration import Library
from ..opdefs.torch_ops import ops
from .groups import WORLD

__all__ = ["LIBRARY"]

LIBRARY: Final = Library("c10d_functional", "DEF")


def _named(ranks: Sequence[int], group_size: int) -> str:
    """Name of a group of these ranks.

    Raises:
        ValueError: if this process is in none.
    """
    for group in WORLD.groups.values():
        if list(group.ranks) == list(ranks) and len(group.ranks) == group_size:
            return group.group_name
    raise ValueError(
        f"this process is in no group of the ranks {list(ranks)}: make one by new_group"
    )


def _reducing(name: str) -> Callable[..., Any]:
    sized = name.startswith("reduce_scatter")

    def kernel(self: Any, reduce_op: str, tag: str, ranks: list[int], group_size: int) -> Any:
        own = _named(ranks, group_size)
        op = getattr(ops._c10d_functional, name)
        return op(self, reduce_op.lower(), *((group_size,) if sized else ()), own)

    return kernel


def _gathering(name: str) -> Callable[..., Any]:
    def kernel(self: Any, tag: str, ranks: list[int], group_size: int) -> Any:
        return getattr(ops._c10d_functional, name)(self, group_size, _named(ranks, group_size))

    return kernel


def _broadcast(self: Any, src: int, tag: str, ranks: list[int], group_size: int) -> Any:
    return ops._c10d_functional.broadcast(self, src, _named(ranks, group_size))


def _all_to_all(
    input: Any,
    output_split_sizes: list[int] | None,
    input_split_sizes: list[int] | None,
    tag: str,
    ranks: list[int],
    group_size: int,
) -> Any:
    equal = [input.shape[0] // group_size] * group_size
    return ops._c10d_functional.all_to_all_single(
        input, output_split_sizes or equal, input_split_sizes or equal, _named(ranks, group_size)
    )


_GROUP: Final = "str tag, int[] ranks, int group_size"
_KERNELS: Final[dict[str, Callable[..., Any]]] = {
    f"all_gather_into_tensor(Tensor shard, {_GROUP}) -> Tensor": _gathering(
        "all_gather_into_tensor"
    ),
    f"all_gather_into_tensor_coalesced(Tensor[] input, {_GROUP}) -> Tensor[]": _gathering(
        "all_gather_into_tensor_coalesced"
    ),
    f"all_reduce(Tensor self, str reduceOp, {_GROUP}) -> Tensor": _reducing("all_reduce"),
    f"all_reduce_coalesced(Tensor[] self, str reduceOp, {_GROUP}) -> Tensor[]": _reducing(
        "all_reduce_coalesced"
    ),
    "all_to_all_single(Tensor input, SymInt[]? output_split_sizes, SymInt[]? input_split_sizes, "
    f"{_GROUP}) -> Tensor": _all_to_all,
    f"broadcast(Tensor self, int src, {_GROUP}) -> Tensor": _broadcast,
    f"reduce_scatter_tensor(Tensor input, str reduceOp, {_GROUP}) -> Tensor": _reducing(
        "reduce_scatter_tensor"
    ),
    f"reduce_scatter_tensor_coalesced(Tensor[] inputs, str reduceOp, {_GROUP}) -> Tensor[]": _reducing(
        "reduce_scatter_tensor_coalesced"
    ),
}
for _schema, _kernel in _KERNELS.items():
    LIBRARY.impl(LIBRARY.define(_schema), _kernel, "CompositeImplicitAutograd")
