"""Nodes of the graph that backward walks.

A node belongs to one recorded op. It holds the edges to its inputs' nodes, what its gradient
formulas need, and computes the inputs' gradients from those of its outputs. Nodes are numbered as
they are made; an op's inputs exist before it does, so walking by falling number visits every node
after all that consume its outputs.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final
from weakref import WeakKeyDictionary

from ..autograd_state import AutogradMeta

if TYPE_CHECKING:
    from ..storage import Storage
    from ..tensor import Tensor

__all__ = ["AccumulateGrad", "Error", "Node", "freed_error", "hooks_at", "short_name"]

next_number: Final = itertools.count(1).__next__

Edge = AutogradMeta | None

_METADATA: Final[WeakKeyDictionary[Node, dict[str, Any]]] = WeakKeyDictionary()


class Node:
    """One recorded op.

    Attributes:
        edges: per differentiable input its place in the graph, None if it needs no gradient.
        saved: values the formulas need; None once they were freed.
        conform: per input the (shape, dtype) its gradient is brought to, or None.
        number: position in the order of recording.
        outputs: number of outputs.
        pre_hooks: per output, functions applied to its gradient before the formulas.
        storages: per output, the storage its tensor got after the op was recorded.
        custom: whether a user's Function computes its gradient.
        splits: whether its outputs are several parts of its input, as those of ``split``.
    """

    custom: ClassVar[bool] = False
    splits: ClassVar[bool] = False

    __slots__ = ("__weakref__", "conform", "edges", "number", "outputs", "pre_hooks", "saved",
                 "storages")  # fmt: skip

    def __init__(
        self,
        edges: tuple[Edge, ...],
        saved: tuple[Any, ...],
        conform: tuple[Any, ...] | None,
        outputs: int = 1,
    ) -> None:
        self.edges = edges
        self.saved: tuple[Any, ...] | None = saved
        self.conform = conform
        self.number = next_number()
        self.outputs = outputs
        self.pre_hooks: dict[int, list[Callable[[Any], Any]]] | None = None
        self.storages: dict[int, Storage] | None = None

    def apply(self, *grads: Tensor | None) -> Any:
        """Gradients of the inputs, one per edge, from those of the outputs."""
        raise NotImplementedError(f"derivative for {self.name()} is not implemented")

    def name(self) -> str:
        """Name of the node, such as ``MulBackward0``."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """Nodes of the inputs and which of their outputs was used."""
        out: list[tuple[Node | None, int]] = []
        for e in self.edges:
            if e is None:
                out.append((None, 0))
            elif e.is_leaf:
                out.append((accumulator(e), 0))
            else:
                out.append((e.node, e.output_nr))
        return tuple(out)

    @property
    def metadata(self) -> dict[str, Any]:
        """Notes about the node; anomaly mode keeps the forward call's traceback here."""
        return _METADATA.setdefault(self, {})

    def release(self) -> None:
        """Free what the formulas needed."""
        self.saved = None

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"


class AccumulateGrad(Node):
    """End of the graph at a leaf. Leaves get one only when somebody asks for it (a hook, say)."""

    __slots__ = ("meta",)

    def __init__(self, meta: AutogradMeta) -> None:
        super().__init__((), (), None)
        self.meta = meta


class Error(Node):
    """A node that only says why there is no gradient."""

    __slots__ = ("why",)

    def __init__(self, why: str, outputs: int = 1) -> None:
        super().__init__((), (), None, outputs)
        self.why = why

    def apply(self, *grads: Tensor | None) -> Any:
        """Refuse."""
        raise RuntimeError(self.why)


def accumulator(meta: AutogradMeta) -> AccumulateGrad:
    """The node at the end of a leaf's edge."""
    if not isinstance(meta.node, AccumulateGrad):
        meta.node = AccumulateGrad(meta)
    return meta.node


def hooks_at(meta: AutogradMeta) -> list[Callable[[Any], Any]]:
    """The functions applied to the gradient that arrives at a place in the graph."""
    node = accumulator(meta) if meta.is_leaf or meta.node is None else meta.node
    if node.pre_hooks is None:
        node.pre_hooks = {}
    return node.pre_hooks.setdefault(0 if meta.is_leaf else meta.output_nr, [])


def freed_error() -> RuntimeError:
    """The error for walking a graph whose saved values are gone."""
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after "
        "they have already been freed). Saved intermediate values of the graph are freed when you "
        "call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
        "through the graph a second time or if you need to access saved tensors after calling "
        "backward."
    )


def short_name(node: Node | None) -> str:
    """A node's name as errors give it: ``MulBackward0`` is ``Mul`` there."""
    return "" if node is None else re.sub(r"Backward\d*$", "", node.name())


def changed_error(t: Any, version: int, found: int) -> RuntimeError:
    """The error for a saved tensor that an in-place op changed since."""
    from .anomaly_mode import hint

    shape = ", ".join(map(str, t._shape))
    origin = (
        "" if t.grad_fn is None else f", which is output {t.output_nr} of {short_name(t.grad_fn)},"
    )
    return RuntimeError(
        f"one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [torch.{t._dtype.label}Tensor [{shape}]]{origin} is at version {found}; expected "
        f"version {version} instead. Hint: {hint()}"
    )
