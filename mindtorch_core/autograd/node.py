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
from weakref import WeakKeyDictionary

from ..autograd_state import AutogradMeta

if TYPE_CHECKING:
    from ..storage import Storage
    from ..tensor import Tensor
    from .hooks import Hooks, RemovableHandle
    from .packing import SavedTensor

__all__ = [
    "SHOWN",
    "AccumulateGrad",
    "Error",
    "Field",
    "GradientEdge",
    "Node",
    "accumulator",
    "freed_error",
    "short_name",
    "watch_nodes",
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


class _Saved:
    """Attribute of a node: what a formula will be given, or as it is kept."""

    __slots__ = ("field", "raw")

    def __init__(self, field: Field, *, raw: bool) -> None:
        self.field = field
        self.raw = raw

    def __get__(self, node: Node | None, owner: type | None = None) -> Any:
        if node is None:
            return self
        from . import packing

        kept: SavedTensor = packing.SavedTensor(node, self.field)
        return kept if self.raw else kept.unpack()


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
    """

    custom: ClassVar[bool] = False
    splits: ClassVar[bool] = False
    fields: ClassVar[tuple[Field, ...]] = ()

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

    def register_hook(self, fn: Callable[[Any, Any], Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after the node's gradient was computed.

        Both are tuples. A tuple that ``fn`` returns replaces ``grad_inputs``.
        """
        from . import hooks

        return hooks.add(hooks.hooks_of(self).post, fn)

    def register_prehook(self, fn: Callable[[Any], Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the node's gradient is computed.

        A tuple that it returns replaces the gradients of the node's outputs.
        """
        from . import hooks

        return hooks.add(hooks.hooks_of(self).pre, fn)

    def _sequence_nr(self) -> int:
        """Position in the order of recording."""
        return self.number

    def release(self) -> None:
        """Free what the formulas needed."""
        self.saved = None

    def __init_subclass__(cls) -> None:
        """Show what a class saves as ``_saved_<name>`` and ``_raw_saved_<name>``.

        By descriptors: with a ``__getattr__``, CPython finds every attribute of a node more slowly.
        """
        for field in cls.fields:
            setattr(cls, f"_saved_{field.name}", _Saved(field, raw=False))
            setattr(cls, f"_raw_saved_{field.name}", _Saved(field, raw=True))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


_PLAIN_INIT: Final = Node.__init__
_WATCHERS: Final[list[Callable[[Node], None]]] = []


def _watched_init(
    self: Node,
    edges: tuple[Edge, ...],
    saved: tuple[Any, ...],
    conform: tuple[Any, ...] | None,
    outputs: int = 1,
) -> None:
    """`Node.__init__` while somebody watches nodes being made."""
    _PLAIN_INIT(self, edges, saved, conform, outputs)
    for watcher in _WATCHERS:
        watcher(self)


def watch_nodes(watcher: Callable[[Node], None], active: bool) -> None:
    """Call ``watcher(node)`` for every node that is made, in any thread; or stop doing so.

    `Node.__init__` is replaced while there is a watcher, so that nothing is paid without one.
    """
    if active:
        _WATCHERS.append(watcher)
    else:
        _WATCHERS.remove(watcher)
    Node.__init__ = _watched_init if _WATCHERS else _PLAIN_INIT  # type: ignore[method-assign]


class AccumulateGrad(Node):
    """End of the graph at a leaf. Leaves get one only when somebody asks for it (a hook, say)."""

    __slots__ = ("meta",)

    def __init__(self, meta: AutogradMeta) -> None:
        super().__init__((), (), None)
        self.meta = meta

    def name(self) -> str:
        """Name of the node, as PyTorch gives it."""
        return "torch::autograd::AccumulateGrad"

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
