"""Values a node keeps for its gradient formulas, and how they are checked when they are used.

Inputs are kept as they are, with their version. Outputs are kept by their parts, not as tensors:
an output refers to its node, and a node that referred back would keep a graph that nobody walks
alive until the garbage collector finds the cycle.
"""

from __future__ import annotations

from typing import Any

from ..autograd_state import AutogradMeta
from ..devices import TABLE
from ..shapes import contiguous_strides
from ..tensor import Tensor, make_tensor
from .node import Node, changed_error

__all__ = ["output_parts", "saved_input", "saved_list", "saved_output", "versions_of"]


def output_parts(t: Tensor) -> tuple[Any, ...]:
    """The parts of an output that `saved_output` rebuilds it from."""
    s = t._storage
    version = 0 if s is None else s.version
    return (t._data, t._shape, t._dtype, t._device, t._keys, s, t._layout, version)


def saved_output(node: Node, output_nr: int, parts: tuple[Any, ...]) -> Tensor:
    """Rebuild an output with its place in the graph.

    Raises:
        RuntimeError: if it was changed in place since.
    """
    data, shape, dtype, device, keys, storage, layout, version = parts
    row = TABLE[device.type]
    if storage is None and node.storages is not None:
        storage = node.storages.get(output_nr)
    if data is None and storage is not None and storage.pending is None:
        # It was pending when it was saved, and has a value now.
        strides, offset = layout or (contiguous_strides(shape), 0)
        data = row.runtime.payload(storage, shape, strides, offset, dtype)
    t = make_tensor(data, shape, dtype, device, keys | row.autograd_key, storage, layout)
    t._autograd = AutogradMeta(node, output_nr)
    if storage is not None and storage.version != version:
        raise changed_error(t, version, storage.version)
    return t


def saved_input(t: Any, version: int) -> Any:
    """Check that an input is what it was.

    Raises:
        RuntimeError: if it was changed in place since.
    """
    s = t._storage
    if s is not None and s.version != version:
        raise changed_error(t, version, s.version)
    return t


def saved_list(values: Any, versions: list[int]) -> Any:
    """Check a list of inputs, some of which may be None."""
    for t, version in zip(values, versions, strict=True):
        if t is not None:
            saved_input(t, version)
    return values


def versions_of(values: Any) -> list[int]:
    """Versions of a list of inputs."""
    return [0 if t is None or (s := t._storage) is None else s.version for t in values]
