"""A scan with any associative function, in as many calls as its length has bits, twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...opdefs.torch_ops import ops
from ...tensors.tensor import Tensor
from ...values.containers import filled

__all__ = ["associative_scan"]


def associative_scan(
    combine_fn: Callable[[Any, Any], Any],
    xs: Any,
    dim: int,
    reverse: bool = False,
    combine_mode: str = "pointwise",
) -> Any:
    """All partial results of combining the slices of tensors along a dimension.

    Args:
        combine_fn: combines two slices, each nested as ``xs`` is; associative, and element by element.
        xs: a tensor, or tensors in lists, tuples and dicts, with equal sizes along ``dim``.
        dim: the dimension.
        reverse: begin at the end.
        combine_mode: ``pointwise`` or ``generic``, which are computed alike.

    Raises:
        ValueError: for another mode, a function that cannot be called, or no tensors.
    """
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(
            f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}"
        )
    leaves = _leaves(xs)
    if not leaves or not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise ValueError("Expected at least 1 xs leaf, and tensors only")
    if reverse:
        leaves = [leaf.flip([dim]) for leaf in leaves]

    def combined(a: list[Tensor], b: list[Tensor]) -> list[Tensor]:
        return _leaves(combine_fn(_like(xs, iter(a)), _like(xs, iter(b))))

    found = _scan(combined, leaves, dim)
    if reverse:
        found = [leaf.flip([dim]) for leaf in found]
    return _like(xs, iter(found))


def _scan(combined: Any, leaves: list[Tensor], dim: int) -> list[Tensor]:
    """Combine neighbours, scan the half that is left, and fill in what lies between."""
    size = leaves[0].shape[dim]
    if size < 2:
        return leaves

    def part(tensors: list[Tensor], start: int, stop: int) -> list[Tensor]:
        return [ops.aten.slice(t, dim, start, stop, 2) for t in tensors]

    odd = _scan(combined, combined(part(leaves, 0, size - 1), part(leaves, 1, size)), dim)
    length = (size - 1) // 2  # how many even places follow the first
    even = (
        combined([t.narrow(dim, 0, length) for t in odd], part(leaves, 2, size)) if length else []
    )
    made = []
    for i, leaf in enumerate(leaves):
        first = leaf.narrow(dim, 0, 1)
        evens = ops.aten.cat([first, even[i]], dim) if even else first
        pairs = [evens.narrow(dim, 0, odd[i].shape[dim]), odd[i]]
        joined = ops.aten.stack(pairs, dim % leaf.dim() + 1).flatten(
            dim % leaf.dim(), dim % leaf.dim() + 1
        )
        if size % 2:
            joined = ops.aten.cat([joined, evens.narrow(dim, evens.shape[dim] - 1, 1)], dim)
        made.append(joined)
    return made


def _leaves(tree: Any) -> list[Any]:
    """The tensors of nested lists, tuples and dicts."""
    if isinstance(tree, dict):
        return [leaf for value in tree.values() for leaf in _leaves(value)]
    if isinstance(tree, list | tuple):
        return [leaf for value in tree for leaf in _leaves(value)]
    return [tree]


def _like(tree: Any, leaves: Any) -> Any:
    """Tensors, nested as others are."""
    if isinstance(tree, dict):
        return {key: _like(value, leaves) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return filled(type(tree), [_like(value, leaves) for value in tree])
    return next(leaves)
