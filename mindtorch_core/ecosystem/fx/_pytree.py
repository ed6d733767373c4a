"""Containers as generated code takes them apart: along a structure that is known."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any, Final

from ...utils._pytree import TreeSpec, tree_flatten

__all__ = ["SUPPORTED_NODES", "register_pytree_flatten_spec", "tree_flatten_spec"]

SUPPORTED_NODES: Final[dict[Any, Callable[[Any, TreeSpec], list[Any]]]] = {}


def register_pytree_flatten_spec(
    cls: Any,
    flatten_fn_spec: Callable[[Any, TreeSpec], list[Any]],
    flatten_fn_exact_match_spec: Callable[[Any, TreeSpec], bool] | None = None,
) -> None:
    """Say how containers of a class are taken apart.

    Args:
        cls: the class.
        flatten_fn_spec: gives the parts of one that the structure has.
        flatten_fn_exact_match_spec: not asked; PyTorch has this argument.
    """
    SUPPORTED_NODES[cls] = flatten_fn_spec


def tree_flatten_spec(pytree: Any, spec: TreeSpec) -> list[Any]:
    """The leaves of a container.

    Args:
        pytree: the container.
        spec: its structure.

    Raises:
        RuntimeError: if it has another.
    """
    if spec.is_leaf():
        return [pytree]
    if spec.type in SUPPORTED_NODES:
        parts = SUPPORTED_NODES[spec.type](pytree, spec)
        pairs = zip(parts, spec.children(), strict=False)
        return [leaf for part, inner in pairs for leaf in tree_flatten_spec(part, inner)]
    leaves, found = tree_flatten(pytree)
    if found != spec:
        raise RuntimeError(
            f"Real spec {found} of object {pytree} is different from expected spec {spec}."
        )
    return leaves


def _by_position(parts: Any, spec: TreeSpec) -> list[Any]:
    return [parts[at] for at in range(spec.num_children)]


def _by_key(parts: Any, spec: TreeSpec) -> list[Any]:
    return [parts[key] for key in spec.context]


register_pytree_flatten_spec(dict, _by_key)
for _kind in (list, tuple, namedtuple):
    register_pytree_flatten_spec(_kind, _by_position)
