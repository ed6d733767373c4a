"""Structures of trees: their containers without the leaves."""

from __future__ import annotations

from collections import defaultdict, namedtuple
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ._pytree_nodes import NAMED_TUPLE, SUPPORTED_NODES, node_of

__all__ = [
    "LEAF",
    "LeafSpec",
    "TreeSpec",
    "kind_of",
    "treespec_dict",
    "treespec_leaf",
    "treespec_tuple",
]

Context = Any


class TreeSpec:
    """The structure of a tree: its containers without the leaves.

    Attributes:
        type: class of the container; None for a leaf.
        context: what it is made of besides its children.
        num_leaves, num_nodes, num_children: how many there are.
    """

    __slots__ = ("_children", "context", "num_leaves", "num_nodes", "type")

    def __init__(
        self, type: Any = None, context: Context = None, children_specs: Iterable[TreeSpec] = ()
    ) -> None:
        self.type = type
        self.context = context
        self._children = tuple(children_specs)
        leaf = type is None
        self.num_leaves: int = 1 if leaf else sum(c.num_leaves for c in self._children)
        self.num_nodes: int = 1 + sum(c.num_nodes for c in self._children)

    @property
    def num_children(self) -> int:
        """Number of children."""
        return len(self._children)

    @property
    def children_specs(self) -> list[TreeSpec]:
        """The structures of the children."""
        return list(self._children)

    def children(self) -> list[TreeSpec]:
        """The structures of the children."""
        return list(self._children)

    def child(self, index: int) -> TreeSpec:
        """The structure of one child."""
        return self._children[index]

    def is_leaf(self) -> bool:
        """Whether it is that of a leaf."""
        return self.type is None

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """A tree of this structure.

        Raises:
            ValueError: if it has another number of leaves.
        """
        given = list(leaves)
        if len(given) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(given)} but the spec refers to "
                f"a pytree that holds {self.num_leaves} items ({self})."
            )
        return self._made(iter(given))

    def _made(self, leaves: Iterator[Any]) -> Any:
        if self.type is None:
            return next(leaves)
        node = SUPPORTED_NODES.get(self.type, NAMED_TUPLE)
        return node.unflatten_fn([c._made(leaves) for c in self._children], self.context)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The parts of a tree that stand where this structure has leaves.

        Raises:
            ValueError: if it has other containers above them.
        """
        if self.type is None:
            return [tree]
        node = node_of(tree)
        if node is None or kind_of(tree) is not self.type:
            raise ValueError(f"Node type mismatch; expected {self.type}, but got {type(tree)}.")
        children, context = node.flatten_fn(tree)
        if isinstance(tree, dict) and set(tree) == set(_keys(self)):
            children = [tree[key] for key in _keys(self)]
        elif context != self.context or len(children) != len(self._children):
            raise ValueError(
                f"Node context mismatch for {self.type}; expected {self.context!r} and "
                f"{len(self._children)} children, got {context!r} and {len(children)}."
            )
        pairs = zip(self._children, children, strict=True)
        return [leaf for spec, child in pairs for leaf in spec.flatten_up_to(child)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (self.type, self.context, self._children) == (
            other.type, other.context, other._children,
        )  # fmt: skip

    def __hash__(self) -> int:
        return hash((self.type, self._children))

    def __repr__(self) -> str:
        if self.type is None:
            return "*"
        inner = ",\n".join(map(repr, self._children)).replace("\n", "\n  ")
        return f"TreeSpec({self.type.__name__}, {self.context}, [{inner}])"


LEAF: Final = TreeSpec()


def LeafSpec() -> TreeSpec:
    """The structure of a leaf."""
    return LEAF


treespec_leaf = LeafSpec  # as PyTorch calls it as well


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The structure of a tuple of parts with these structures.

    Raises:
        ValueError: if one is no structure.
    """
    children = list(iterable)
    if not all(isinstance(child, TreeSpec) for child in children):
        raise ValueError(f"Expected a tuple of TreeSpec values, got: {children!r}.")
    return TreeSpec(tuple, None, children)


def treespec_dict(
    mapping: Mapping[Any, TreeSpec] | Iterable[tuple[Any, TreeSpec]] = (), /, **kwargs: TreeSpec
) -> TreeSpec:
    """The structure of a dict of parts with these structures.

    Raises:
        ValueError: if one is no structure.
    """
    children = dict(mapping, **kwargs)
    if not all(isinstance(child, TreeSpec) for child in children.values()):
        raise ValueError(f"Expected a dictionary of TreeSpec values, got: {children!r}.")
    return TreeSpec(dict, list(children), children.values())


def _keys(spec: TreeSpec) -> list[Any]:
    found: list[Any] = spec.context[1] if spec.type is defaultdict else spec.context
    return found


def kind_of(tree: Any) -> Any:
    """The class under which a container was registered; `namedtuple` for named tuples."""
    return namedtuple if node_of(tree) is NAMED_TUPLE else type(tree)
