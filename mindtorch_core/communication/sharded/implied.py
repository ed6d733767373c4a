"""Plain tensors beside DTensors: where they are taken for what every rank has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local
from typing import Any

from ...gradients.within import current_node
from ...tensors.tensor import Tensor
from ...utils._pytree import tree_map
from .dtensor import DTensor
from .layouts import DTensorSpec, TensorMeta
from .placements import Replicate

__all__ = ["implicit_replication", "implied", "in_formula", "replicas"]


class _Mode(local):
    on = False


_MODE = _Mode()


@contextmanager
def implicit_replication() -> Iterator[None]:
    """In this block plain tensors beside DTensors are taken for what every rank of the mesh has.

    Elsewhere they are refused. Whether the ranks have the same is not looked at.

    Example:
        >>> from mindtorch_core.distributed.tensor.experimental import implicit_replication
        >>> with implicit_replication():
        ...     pass
    """
    before, _MODE.on = _MODE.on, True
    try:
        yield
    finally:
        _MODE.on = before


def implied() -> bool:
    """Whether plain tensors are taken so: asked for, or made by the formula of an op's gradient."""
    return _MODE.on or in_formula()


def in_formula() -> bool:
    """Whether the formula of an op's gradient is being computed."""
    node = current_node()
    return node is not None and not node.custom


def replicas(value: Any, spec: DTensorSpec) -> Any:
    """Arguments with plain tensors of several elements as DTensors, which share their memory.

    Args:
        value: the arguments.
        spec: of a DTensor among them, on whose mesh they are.
    """

    def replica(t: Any) -> Any:
        if not isinstance(t, Tensor) or isinstance(t, DTensor) or not t.ndim:
            return t
        meta = TensorMeta(tuple(t.shape), t.stride(), t.dtype)
        placed = (Replicate(),) * spec.mesh.ndim
        return DTensor(t, DTensorSpec(spec.mesh, placed, meta), requires_grad=False)

    return tree_map(replica, value)
