"""Shapes and dtypes of all values of a graph, by running it once."""

from __future__ import annotations

import traceback
from typing import Any, NamedTuple

import mindtorch_core as torch

from ..interpreter import Interpreter
from ..node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What is known of a tensor.

    Attributes:
        shape: of it.
        dtype: of it.
        requires_grad: whether it does.
        stride: of it.
        memory_format: the first of those in which it lies, or None.
        is_quantized: False.
        qparams: empty.
    """

    shape: Any
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Any, include_contiguity: bool = True) -> TensorMetadata:
    """What is known of a tensor."""
    strided = result.layout is torch.strided
    order = (torch.contiguous_format, torch.channels_last, torch.channels_last_3d)
    formats = (
        each
        for each, rank in zip(order, (None, 4, 5), strict=True)
        if rank in (None, result.dim()) and result.is_contiguous(memory_format=each)
    )
    return TensorMetadata(
        result.shape,
        result.dtype,
        result.requires_grad,
        result.stride() if strided else (),
        next(formats, None) if include_contiguity and strided else None,
        False,
        {},
    )


class ShapeProp(Interpreter):
    """Runs a graph and keeps for each node what is known of its value, in ``meta["tensor_meta"]``.

    Args:
        gm: the module.
        fake_mode: not used; PyTorch has this argument.

    Example:
        >>> from torch.fx.passes.shape_prop import ShapeProp
        >>> traced = torch.fx.symbolic_trace(torch.nn.Linear(2, 3))
        >>> _ = ShapeProp(traced).propagate(torch.ones(4, 2))
        >>> traced.graph.output_node().meta["tensor_meta"].shape
        torch.Size([4, 3])
    """

    def __init__(self, gm: Any, fake_mode: Any = None) -> None:
        super().__init__(gm)
        self.fake_mode = fake_mode
        self.fake_module = None
        self.real_module = gm

    def run_node(self, n: Node) -> Any:
        """Run one step and keep what is known of its value.

        Raises:
            RuntimeError: if it fails.
        """
        try:
            result = super().run_node(n)
        except Exception as error:
            traceback.print_exc()
            raise RuntimeError(
                f"ShapeProp error for: node={n.format_node()} with meta={n.meta}"
            ) from error
        found: list[Any] = []

        def known(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            found.append(value)
            return _extract_tensor_metadata(value)

        meta = map_aggregate(result, known)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph with examples of its arguments; gives the result."""
        return self.run(*args)
