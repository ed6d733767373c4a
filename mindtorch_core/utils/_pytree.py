"""Nested containers as trees: what programs take from ``torch.utils._pytree``.

A tree is a leaf, or a container of trees: dicts, lists, tuples, named tuples, ordered and default
dicts, deques, and classes that were registered.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..values.circles import held_by_itself
from ._pytree_json import treespec_dumps, treespec_loads
from ._pytree_nodes import (
    NAMED_TUPLE,
    SUPPORTED_NODES,
    GetAttrKey,
    MappingKey,
    NodeDef,
    SequenceKey,
    _deregister_pytree_node,
    _list_flatten,
    _list_flatten_with_keys,
    _list_unflatten,
    _register_namedtuple,
    _register_pytree_node,
    _tuple_flatten,
    _tuple_flatten_with_keys,
    _tuple_unflatten,
    is_namedtuple,
    is_namedtuple_class,
    is_namedtuple_instance,
    is_structseq,
    is_structseq_class,
    is_structseq_instance,
    key_get,
    keystr,
    node_of,
    register_constant,
    register_dataclass,
    register_pytree_node,
)
from ._pytree_specs import (
    LEAF,
    LeafSpec,
    TreeSpec,
    kind_of,
    treespec_dict,
    treespec_leaf,
    treespec_tuple,
)

__all__ = [
    "SUPPORTED_NODES",
    "GetAttrKey",
    "LeafSpec",
    "MappingKey",
    "NodeDef",
    "PyTree",
    "SequenceKey",
    "TreeSpec",
    "_deregister_pytree_node",
    "_list_flatten",
    "_list_flatten_with_keys",
    "_list_unflatten",
    "_register_namedtuple",
    "_register_pytree_node",
    "_tuple_flatten",
    "_tuple_flatten_with_keys",
    "_tuple_unflatten",
    "arg_tree_leaves",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "is_structseq",
    "is_structseq_class",
    "is_structseq_instance",
    "key_get",
    "keystr",
    "register_constant",
    "register_dataclass",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
    "treespec_dict",
    "treespec_dumps",
    "treespec_leaf",
    "treespec_loads",
    "treespec_pprint",
    "treespec_tuple",
]

PyTree = Any
PyTreeSpec = TreeSpec
Context = Any
IsLeaf = Callable[[Any], bool] | None


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a tree is a leaf: no container, or said to be one."""
    return (is_leaf is not None and is_leaf(tree)) or node_of(tree) is None


_is_leaf = tree_is_leaf
_get_node_type = kind_of

# How dicts and named tuples are taken apart and made: for classes that are registered like them.
_dict_flatten = SUPPORTED_NODES[dict].flatten_fn
_dict_unflatten = SUPPORTED_NODES[dict].unflatten_fn
_namedtuple_flatten = NAMED_TUPLE.flatten_fn
_namedtuple_unflatten = NAMED_TUPLE.unflatten_fn


def _dict_flatten_with_keys(d: dict[Any, Any]) -> tuple[list[tuple[MappingKey, Any]], Context]:
    """Pairs of keys and values, and the keys."""
    return [(MappingKey(key), value) for key, value in d.items()], list(d)


# ---- trees --------------------------------------------------------------------------------------


def _flatten(tree: Any, leaves: list[Any], is_leaf: IsLeaf) -> TreeSpec:
    node = None if is_leaf is not None and is_leaf(tree) else node_of(tree)
    if node is None:
        leaves.append(tree)
        return LEAF
    children, context = node.flatten_fn(tree)
    return TreeSpec(kind_of(tree), context, [_flatten(c, leaves, is_leaf) for c in children])


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree, and its structure.

    Args:
        tree: the tree.
        is_leaf: says of a container whether it counts as a leaf.

    Raises:
        RecursionError: if a container holds itself, or is too deep.
    """
    leaves: list[Any] = []
    try:
        spec = _flatten(tree, leaves, is_leaf)
    except RecursionError:
        kind = held_by_itself(tree, functools.partial(_contents, is_leaf))
        if kind is None:
            raise
        raise RecursionError(f"a {kind.__name__} that holds itself is no tree") from None
    return leaves, spec


def _contents(is_leaf: IsLeaf, tree: PyTree) -> Iterable[Any] | None:
    node = None if is_leaf is not None and is_leaf(tree) else node_of(tree)
    return None if node is None else node.flatten_fn(tree)[0]


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """A tree of a structure with other leaves.

    Raises:
        TypeError: if ``treespec`` is no structure.
        ValueError: if it has another number of leaves.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"tree_unflatten expects a TreeSpec, got {type(treespec)}")
    return treespec.unflatten(leaves)


class _Asterisk(str):
    """A leaf that prints as PyTorch's: without quotes."""

    __repr__ = str.__str__


def treespec_pprint(treespec: TreeSpec) -> str:
    """A structure as the tree would be printed, with stars for leaves."""
    return repr(tree_unflatten([_Asterisk("*")] * treespec.num_leaves, treespec))


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """The leaves of a tree, one by one."""
    yield from tree_flatten(tree, is_leaf)[0]


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree."""
    return tree_flatten(tree, is_leaf)[0]


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of a call's arguments."""
    return tree_flatten((args, list(kwargs.values())))[0]


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The structure of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """A tree of the same structure with ``func`` of each leaf, and of what others have there."""
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *(spec.flatten_up_to(rest) for rest in rests)]
    return spec.unflatten(map(func, *columns))


def tree_map_(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Call ``func`` with each leaf; returns the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _only(kinds: Any, func: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that changes nothing but what is of some types, or what a predicate takes."""
    if isinstance(kinds, type | tuple) or hasattr(kinds, "__args__"):
        return lambda x: func(x) if isinstance(x, kinds) else x
    return lambda x: func(x) if kinds(x) else x


def tree_map_only(
    type_or_types_or_pred: Any,
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: IsLeaf = None,
) -> PyTree:
    """`tree_map` of the leaves of some types alone; others stay."""
    return tree_map(_only(type_or_types_or_pred, func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any,
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: IsLeaf = None,
) -> PyTree:
    """`tree_map_` of the leaves of some types alone."""
    return tree_map_(_only(type_or_types_or_pred, func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether ``pred`` is true of all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether ``pred`` is true of a leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(
    types: Any, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """Whether ``pred`` is true of all leaves of some types."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, types))


def tree_any_only(
    types: Any, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """Whether ``pred`` is true of a leaf of some types."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, types))


def _broadcast_to_and_flatten(
    tree: PyTree, treespec: TreeSpec, is_leaf: IsLeaf = None
) -> list[Any] | None:
    """Leaves of a tree repeated to fit a structure that goes on below them; None if it does not fit."""
    node = None if is_leaf is not None and is_leaf(tree) else node_of(tree)
    if node is None:
        return [tree] * treespec.num_leaves
    if treespec.type is not kind_of(tree):
        return None
    children, context = node.flatten_fn(tree)
    if context != treespec.context or len(children) != treespec.num_children:
        return None
    out: list[Any] = []
    for child, spec in zip(children, treespec.children(), strict=True):
        found = _broadcast_to_and_flatten(child, spec, is_leaf)
        if found is None:
            return None
        out += found
    return out


# ---- with paths ---------------------------------------------------------------------------------


def tree_leaves_with_path(
    tree: PyTree, is_leaf: IsLeaf = None
) -> list[tuple[tuple[Any, ...], Any]]:
    """The leaves of a tree with their paths."""
    node = None if is_leaf is not None and is_leaf(tree) else node_of(tree)
    if node is None:
        return [((), tree)]
    pairs = zip(node.keys(tree), node.flatten_fn(tree)[0], strict=True)
    return [
        ((key, *path), leaf)
        for key, child in pairs
        for path, leaf in tree_leaves_with_path(child, is_leaf)
    ]


def tree_flatten_with_path(
    tree: PyTree, is_leaf: IsLeaf = None
) -> tuple[list[tuple[tuple[Any, ...], Any]], TreeSpec]:
    """The leaves of a tree with their paths, and its structure."""
    spec = tree_structure(tree, is_leaf)
    return tree_leaves_with_path(tree, is_leaf), spec


def tree_map_with_path(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """`tree_map` with the leaf's path as first argument."""
    leaves, spec = tree_flatten(tree, is_leaf)
    paths = [path for path, _ in tree_leaves_with_path(tree, is_leaf)]
    return spec.unflatten(map(func, paths, leaves, *(spec.flatten_up_to(r) for r in rests)))
