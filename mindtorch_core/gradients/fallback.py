"""The Autograd keys for ops that have a schema, but no gradient: third parties' ops without one."""

from __future__ import annotations

from typing import Any

from ..dispatch.adapters import tensors_in
from ..dispatch.entry import Kernel, OpEntry
from ..dispatch.keys import AUTOGRAD, is_recording
from ..tensors.autograd_state import AutogradMeta
from ..tensors.tensor import Tensor
from ..values.devices import TABLE
from ..values.dtypes import INTEGER
from ..values.user_warnings import warn_user
from .handles import add
from .hooks import tensor_hooks
from .node import Node

__all__ = ["warning_kernel"]


class WarnNotImplemented(Node):
    """Node of an op that nobody gave a gradient: backward warns and goes no further."""

    __slots__ = ("op",)

    def __init__(self, edges: tuple[AutogradMeta | None, ...], op: str, outputs: int) -> None:
        super().__init__(edges, (), None, outputs)
        self.op = op

    def apply(self, *grads: Tensor | None) -> Any:
        """Warn, and give no gradient."""
        warn(self.op)
        return (None,) * len(self.edges)


def warn(op: str) -> None:
    """Say that backward came to an op without a gradient."""
    warn_user(
        f"{op}: an autograd kernel was not registered to the Autograd key(s) but we are trying to "
        f"backprop through it. This may lead to silently incorrect behavior. Register one at "
        f"DispatchKey.Autograd (torch.library.register_autograd does), or a fallthrough there if the "
        f"op has no gradient."
    )


def warning_kernel(entry: OpEntry, below: Kernel) -> Kernel:
    """What the Autograd keys run for such an op.

    The op runs with recording left on, so that ops it calls are recorded. Backward warns when it
    comes to a result, and ends there if nothing was recorded.
    """
    schema = entry.schema
    returns = () if schema is None else schema.returns
    written = [r.alias is not None and r.alias.is_write for r in returns]

    def kernel(*args: Any, **kwargs: Any) -> Any:
        given = list(tensors_in((*args, *kwargs.values())))
        edges = tuple(t._autograd if t._keys & AUTOGRAD else None for t in given)
        result = below(*args, **kwargs)
        if is_recording() and any(e is not None for e in edges):
            several = len(returns) > 1 and isinstance(result, tuple | list)
            parts = result if several else (result,)
            outs = [
                (t, is_written)
                for part, is_written in zip(parts, written, strict=False)
                for t in tensors_in((part,))
                if t._dtype.category > INTEGER
            ]
            _attach(entry.name, edges, outs)
        return result

    return kernel


def _attach(
    op: str, edges: tuple[AutogradMeta | None, ...], outs: list[tuple[Tensor, bool]]
) -> None:
    """Make backward warn when it comes to one of the outputs.

    Args:
        op: the op's name.
        edges: places of its tensor arguments in the graph.
        outs: its differentiable outputs, and whether each is an argument that it wrote.
    """
    node = WarnNotImplemented(edges, op, len(outs))
    for i, (t, is_written) in enumerate(outs):
        if t._keys & AUTOGRAD and t._autograd is not None:
            add(tensor_hooks(t._autograd), lambda _: warn(op))
        elif not is_written:
            t._autograd = AutogradMeta(node, i)
            t._keys |= TABLE[t._device.type].autograd_key
