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
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple
from weakref import WeakKeyDictionary, ref

from ..tensors.autograd_state import AutogradMeta
from .handles import Hooks, RemovableHandle, add

if TYPE_CHECKING:
    from ..tensors.storage import Storage
    from ..tensors.tensor import Tensor

__all__ = [
    "HOOKED_LEAVES",
    "SHOWN",
    "WATCHERS",
    "AccumulateGrad",
    "Error",
    "Field",
    "GradientEdge",
    "Node",
    "accumulator",
    "announce",
    "freed_error",
    "short_name",
]

next_number: Final = itertools.count(1).__next__

Edge = AutogradMeta | None

_METADATA: Final[WeakKeyDictionary[Node, dict[str, Any]]] = WeakKeyDictionary()


class _Shown:
    """Whether users may have got hold of gradients on their way: by a hook or a Function of theirs.

    The first one sets it for good. Until then a walk may hand the same tensors to nodes as others do.
    """

    gradients = False


SHOWN: Final = _Shown()

# Called with every node that is made, in any thread, while anomaly mode or somebody's hooks on saved
# tensors look at nodes. What is in it several times is called once.
WATCHERS: Final[list[Callable[[Node], None]]] = []

# The places of leaves that have hooks: while there are any, a leaf's gradient is delivered as soon
# as it is complete instead of at the end.
HOOKED_LEAVES: Final[set[ref[AutogradMeta]]] = set()


class Field(NamedTuple):
    """What a node saved under a name.

    Attributes:
        name: the parameter of a formula that it serves, such as ``self`` or ``result``.
        at: where in ``saved`` it begins.
        kind: "input", "inputs", "output", or "value" for what is no tensor.
        number: which of the outputs.
    """

    name: str
    at: int
    kind: str
    number: int = 0


def announce(node: Node) -> None:
    """Tell the watchers of a new node."""
    for watcher in dict.fromkeys(WATCHERS):
        watcher(node)


class Node:
    """One recorded op.

    Attributes:
        edges: per differentiable input its place in the graph, None if it needs no gradient.
        saved: values the formulas need; None once they were freed.
        conform: per input the (shape, dtype) its gradient is brought to, or None.
        number: position in the order of recording.
        outputs: number of outputs.
        hooks: what backward calls here besides the formulas.
        storages: per output, the storage its tensor got after the op was recorded.
        custom: whether a user's Function computes its gradient.
        splits: whether its outputs are several parts of its input, as those of ``split``.
        fields: what is in ``saved``.
        held: where tensors are there, and of which kind each is.
    """

    custom: ClassVar[bool] = False
    splits: ClassVar[bool] = False
    fields: ClassVar[tuple[Field, ...]] = ()
    held: ClassVar[tuple[tuple[int, str], ...]] = ()

    __slots__ = ("__weakref__", "conform", "edges", "hooks", "number", "outputs", "saved",
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
        self.hooks: Hooks | None = None
        self.storages: dict[int, Storage] | None = None
        if WATCHERS:
            announce(self)

    def apply(self, *grads: Tensor | None) -> Any:
        """Gradients of the inputs, one per edge, from those of the outputs."""
        raise NotImplementedError(f"derivative for {self.name()} is not implemented")

    def __call__(self, *grads: Tensor | None) -> Any:
        """Gradients of the inputs outside of a walk: one by itself, several in a tuple; nothing is freed.

        Raises:
            TypeError: if there are more or fewer gradients than outputs.
        """
        if len(grads) != self.outputs:
            raise TypeError(f"expected {self.outputs} arguments, got {len(grads)} instead")
        results = self.apply(*grads)
        return results[0] if len(results) == 1 else tuple(results)

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

    def register_hook(self, fn: Callable[[Any, Any], Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after the node's gradient was computed.

        Both are tuples. A tuple that ``fn`` returns replaces ``grad_inputs``.
        """
        return add(self.own_hooks().post, fn)

    def register_prehook(self, fn: Callable[[Any], Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the node's gradient is computed.

        A tuple that it returns replaces the gradients of the node's outputs.
        """
        return add(self.own_hooks().pre, fn)

    def own_hooks(self) -> Hooks:
        """The hooks of the node, made now if it had none."""
        if self.hooks is None:
            self.hooks = Hooks()
            SHOWN.gradients = True
        return self.hooks

    def _sequence_nr(self) -> int:
        """Position in the order of recording."""
        return self.number

    def release(self) -> None:
        """Free what the formulas needed."""
        self.saved = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


class AccumulateGrad(Node):
    """End of the graph at a leaf. Leaves get one only when somebody asks for it (a hook, say)."""

    __slots__ = ("meta",)

    def __init__(self, meta: AutogradMeta) -> None:
        super().__init__((), (), None)
        self.meta = meta

    def name(self) -> str:
        """Name of the node, as PyTorch gives it."""
        return "torch::autograd::AccumulateGrad"

    def own_hooks(self) -> Hooks:
        """The hooks of the leaf, made now if it had none."""
        if self.hooks is None:
            HOOKED_LEAVES.add(ref(self.meta, HOOKED_LEAVES.discard))
        return super().own_hooks()

    @property
    def variable(self) -> Tensor | None:
        """The leaf, None if it is gone."""
        return self.meta.tensor()


class Error(Node):
    """A node that only says why there is no gradient."""

    __slots__ = ("why",)

    def __init__(self, why: str, outputs: int = 1) -> None:
        super().__init__((), (), None, outputs)
        self.why = why

    def apply(self, *grads: Tensor | None) -> Any:
        """Refuse."""
        raise RuntimeError(self.why)


class GradientEdge(NamedTuple):
    """A place in the graph, standing for the tensor there in calls of ``grad`` and ``backward``.

    Attributes:
        node: the node that computes the tensor, or the one that ends the graph at a leaf.
        output_nr: which of the node's outputs the tensor is.
        ownership_token: what keeps the graph alive; not needed here, as a node keeps its inputs.
    """

    node: Node
    output_nr: int
    ownership_token: Node | None = None


def accumulator(meta: AutogradMeta) -> AccumulateGrad:
    """The node at the end of a leaf's edge."""
    if not isinstance(meta.node, AccumulateGrad):
        meta.node = AccumulateGrad(meta)
    return meta.node


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
