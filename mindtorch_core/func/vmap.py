"""``torch.vmap``: a function of one sample as a function of many."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from ..dispatch.functions import fn
from ..dispatch.keys import MASKS, DispatchKey, with_masks
from ..tensors.tensor import Tensor
from ..utils._pytree import TreeSpec, _broadcast_to_and_flatten, tree_flatten, tree_unflatten
from ..values.own_frames import refusing
from ..values.shapes import wrap_dim
from . import batching as _batching  # noqa: F401  (serves the keys)
from . import layer_rules as _layers  # noqa: F401  (registers them, and those it imports)
from .batched import LEVELS, Level, batched, held
from .custom_functions import apply
from .levels import DEPTH

__all__ = ["vmap"]


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that calls ``func`` for all samples at once.

    Inside, tensors have the shape of one sample, and ops on them compute all. Ops without a way to do
    that are called once for each sample, with a warning.

    Args:
        func: of one sample; it returns tensors.
        in_dims: along which dimension of each argument the samples lie; None for one that is the same
            for all. An int, or a tree as that of the arguments.
        out_dims: where they lie in the results.
        randomness: what random ops do: ``error``, ``different`` for each sample, or ``same``.
        chunk_size: how many samples are computed at once; None for all.

    Raises:
        ValueError: if ``in_dims``, ``out_dims`` or ``chunk_size`` do not fit.
        RuntimeError: for another ``randomness``, and inside for what depends on values.

    Example:
        >>> rows = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.vmap(torch.dot)(rows, rows)
        tensor([ 5., 25.])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @refusing
    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, spec, dims, size = _inputs(func, in_dims, args)
        if chunk_size is None or chunk_size >= size:
            return _run(func, leaves, spec, dims, size, out_dims, randomness, kwargs)
        return _in_chunks(func, leaves, spec, dims, size, out_dims, randomness, kwargs, chunk_size)

    return mapped


def _name(func: Callable[..., Any]) -> str:
    return getattr(func, "__name__", repr(func))


def _inputs(
    func: Callable[..., Any], in_dims: Any, args: tuple[Any, ...]
) -> tuple[list[Any], TreeSpec, list[Any], int]:
    """The arguments' leaves, their structure, the dimension of the samples in each, how many there are."""
    name = _name(func)
    here = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, int | tuple):
        raise ValueError(
            f"{here}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of "
            f"inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
            f"vmap over a function with no inputs. The latter is unsupported."
        )
    leaves, spec = tree_flatten(args, is_leaf=_maps_itself)
    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{here}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    for i, (leaf, dim) in enumerate(zip(leaves, dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(
                f"{here}Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
            )
        if not isinstance(leaf, Tensor) and not _maps_itself(leaf):
            raise ValueError(
                f"{here}Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap "
                f"over non-Tensor arguments, please use None as the respective in_dim"
            )
        rank = len(leaf.shape)
        if not -rank <= dim < rank:
            raise ValueError(
                f"{here}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {rank} "
                f"so expected in_dim to satisfy -{rank} <= in_dim < {rank}."
            )
        dims[i] = dim % rank
    sizes = {leaf.shape[d] for leaf, d in zip(leaves, dims, strict=True) if d is not None}
    if not sizes:
        raise ValueError(
            f"{here}at least one input should be mapped over: in_dims has None for all of them"
        )
    if len(sizes) > 1:
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sorted(sizes)} for the mapped dimension"
        )
    return leaves, spec, dims, sizes.pop()


def _run(
    func: Callable[..., Any],
    leaves: list[Any],
    spec: TreeSpec,
    dims: list[Any],
    size: int,
    out_dims: Any,
    randomness: str,
    kwargs: dict[str, Any],
) -> Any:
    """Call the function with samples, at a level of its own."""
    stack = LEVELS.stack
    level = Level(len(stack) + 1, size, randomness, DEPTH.value, apply)
    given = [
        leaf if d is None else _given(leaf, d, level.number)
        for leaf, d in zip(leaves, dims, strict=True)
    ]
    args = tree_unflatten(given, spec)
    stack.append(level)
    try:
        include = MASKS.include | DispatchKey.FuncTorchVmapMode
        result = with_masks(include, MASKS.keep, func, *args, **kwargs)
        return _outputs(_name(func), result, out_dims, level)
    finally:
        del stack[level.number - 1 :]


def _maps_itself(value: Any) -> bool:
    """Whether it is a container that takes its samples' dimension away by itself, as tensordict's do."""
    return hasattr(type(value), "_add_batch_dim")


def _given(leaf: Any, dim: int, level: int) -> Any:
    """What a function of one sample gets for all of them."""
    if isinstance(leaf, Tensor):
        return batched(leaf, dim, level)
    return leaf._add_batch_dim(in_dim=dim, vmap_level=level)


def _outputs(name: str, result: Any, out_dims: Any, level: Level) -> Any:
    leaves, spec = tree_flatten(result, is_leaf=_maps_itself)
    here = f"vmap({name}, ..., out_dims={out_dims})"
    for leaf in leaves:
        if not isinstance(leaf, Tensor) and not _maps_itself(leaf):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)}. Did "
                f"you mean to set out_dims= to None for output?"
            )
    dims = _broadcast_to_and_flatten(out_dims, spec)
    if dims is None and isinstance(out_dims, tuple) and len(out_dims) == 1 and spec.is_leaf():
        dims = list(out_dims)
    if dims is None:
        raise ValueError(
            f"{here}: out_dims is not compatible with the structure of `outputs`. out_dims has structure "
            f"{tree_flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    return tree_unflatten(
        [taken_out(leaf, d, level, here) for leaf, d in zip(leaves, dims, strict=True)], spec
    )


def taken_out(t: Any, dim: int | None, level: Level, here: str) -> Any:
    """A result with the samples along a dimension.

    Args:
        t: a tensor, or a container that does it by itself.
        dim: where the samples lie; None for what is the same for all.
        level: of the function that gave it.
        here: the call, for errors.

    Raises:
        ValueError: if ``dim`` is None for what differs.
    """
    if not isinstance(t, Tensor):
        return t._maybe_remove_batch_dim(
            here, vmap_level=level.number, batch_size=level.size, out_dim=dim
        )
    inner, bdim = held(t, level.number)
    if dim is None:
        if bdim is not None:
            raise ValueError(
                f"{here}: `out_dims` can not be None for a result that differs from sample to sample"
            )
        return t
    if bdim is None:
        inner, bdim = t.expand((level.size, *t._shape)), 0
    at = wrap_dim(dim, len(inner._shape))
    return inner if at == bdim else fn.movedim(inner, bdim, at)


def _in_chunks(
    func: Callable[..., Any],
    leaves: list[Any],
    spec: TreeSpec,
    dims: list[Any],
    size: int,
    out_dims: Any,
    randomness: str,
    kwargs: dict[str, Any],
    chunk_size: int,
) -> Any:
    """As `_run`, for some samples after the others."""
    parts, made = [], None
    for start in range(0, size, chunk_size):
        stop = min(start + chunk_size, size)
        some = [
            leaf if d is None else leaf[(slice(None),) * d + (slice(start, stop),)]
            for leaf, d in zip(leaves, dims, strict=True)
        ]
        result = _run(func, some, spec, dims, stop - start, out_dims, randomness, kwargs)
        found, made = tree_flatten(result, is_leaf=_maps_itself)
        parts.append(found)
    assert made is not None
    where: Iterable[Any] = _broadcast_to_and_flatten(out_dims, made) or [0]
    joined = [
        fn.cat(list(each), d) for each, d in zip(zip(*parts, strict=True), where, strict=True)
    ]
    return tree_unflatten(joined, made)
