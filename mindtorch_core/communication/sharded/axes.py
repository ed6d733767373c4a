"""Ops whose operands share axes: along which of them parts are computed by each rank for itself.

An op says, for each dimension of its operands and results, which axis it is. From that follows what can be
done with parts: the same axis is cut in all of them, or an axis that the results lack is cut and they are
partial, or nothing is cut. Along each dimension of the mesh what moves the fewest elements is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from ...tensors.tensor import Tensor
from ...values.shapes import contiguous_strides
from .dtensor import DTensor
from .layouts import DTensorSpec, TensorMeta, laid_out, part_of
from .placements import Partial, Placement, Replicate, Shard

__all__ = ["Axes", "computed", "moved"]

_LOCAL: Final = 1e-3  # what a rank does alone, beside an element that is sent


@dataclass(frozen=True)
class Axes:
    """Which dimensions of an op's operands and results are the same axis.

    Attributes:
        operands: for each tensor among the arguments, an axis for each dimension; None for one that every
            rank has to have whole.
        results: the same for each result; for lists of results, of each in the list.
        reduced: how results lie that lack an axis which is cut; axes that are not named here are cut only
            if all results have them.
        added: positions of operands that are added to such a result.
        linear: whether a partial operand gives a partial result.
        even: whether only parts of the same size will do along axes that are reduced.
        shape: of the whole result, and the position of the argument that says it.
        sizes: positions of arguments that say how much of an axis there is.
        written: positions of operands that the op writes into.
    """

    operands: Sequence[Sequence[Any]]
    results: Sequence[Sequence[Any]]
    reduced: Mapping[Any, Placement] = field(default_factory=dict)
    added: Sequence[int] = ()
    linear: bool = False
    even: bool = False
    shape: tuple[tuple[int, ...], int] | None = None
    sizes: Mapping[int, Any] = field(default_factory=dict)
    written: Sequence[int] = ()


_Way: TypeAlias = tuple[list[Placement], list[Placement]]  # placements of operands, and of results


def computed(func: Any, args: Any, kwargs: Any, tensors: Sequence[DTensor], axes: Axes) -> Any:
    """What an op makes of the parts of its operands that meet in this rank. All ranks call it together.

    Args:
        func: the op.
        args: its arguments.
        kwargs: those given by name.
        tensors: the DTensors among them, in their order.
        axes: those of the op.
    """
    mesh = tensors[0].device_mesh
    chosen = [_cheapest(axes, tensors, i) for i in range(mesh.ndim)]
    laid = [
        laid_out(t._local_tensor, t._spec, [ins[k] for ins, _ in chosen])
        for k, t in enumerate(tensors)
    ]
    parts = iter(laid)
    placed = [[outs[k] for _, outs in chosen] for k in range(len(axes.results))]
    own = list(_replaced(args, parts))
    named = {k: _replaced(v, parts) for k, v in kwargs.items()}
    if axes.shape is not None:
        whole, at = axes.shape
        own[at] = part_of(whole, mesh, placed[0])[0]
    for at, axis in axes.sizes.items():
        own[at] = _sizes(axes, laid)[axis]
    found = func(*own, **named)
    for k in axes.written:
        if laid[k] is not tensors[k]._local_tensor:
            spec = tensors[k]._spec.placed([ins[k] for ins, _ in chosen])
            tensors[k]._local_tensor.copy_(laid_out(laid[k], spec, tensors[k].placements))
    sizes = _sizes(axes, tensors)
    if isinstance(found, Tensor):
        return _result(found, axes, 0, sizes, mesh, placed)
    single = len(axes.results) == 1
    return type(found)(
        [_result(t, axes, 0 if single else k, sizes, mesh, placed) for k, t in enumerate(found)]
    )


def _replaced(value: Any, parts: Iterator[Tensor]) -> Any:
    if isinstance(value, DTensor):
        return next(parts)
    if isinstance(value, list | tuple):
        return type(value)([_replaced(each, parts) for each in value])
    return value


def _sizes(axes: Axes, tensors: Sequence[Tensor]) -> dict[Any, int]:
    return {
        axis: size
        for t, names in zip(tensors, axes.operands, strict=True)
        for axis, size in zip(names, t.shape, strict=True)
        if axis is not None
    }


# ---- what is done along a dimension of the mesh ------------------------------------------------------


def _cheapest(axes: Axes, tensors: Sequence[DTensor], i: int) -> _Way:
    now = [t.placements[i] for t in tensors]

    def cost(way: _Way) -> float:
        each = zip(tensors, now, way[0], strict=True)
        return sum(moved(old, new) * t.numel() for t, old, new in each)

    return min(_ways(axes, tensors, now, i), key=cost)


def moved(old: Placement, new: Placement) -> float:
    """How much of a tensor is sent to lay it out in another way along a dimension of a mesh.

    Args:
        old: how it lies.
        new: how it is to lie.
    """
    if old == new:
        return 0
    if isinstance(old, Replicate):
        return _LOCAL
    return 2 if isinstance(old, Partial) and not isinstance(new, Shard) else 1


def _ways(
    axes: Axes, tensors: Sequence[DTensor], now: Sequence[Placement], i: int
) -> Iterator[_Way]:
    """The ways to compute with parts along one dimension of a mesh."""
    yield [Replicate()] * len(tensors), [Replicate()] * len(axes.results)
    if axes.linear and isinstance(now[0], Partial) and now[0].reduce_op in ("sum", "avg"):
        yield [now[0]] * len(tensors), [now[0]] * len(axes.results)
    mesh = tensors[0].device_mesh
    for axis, size in _sizes(axes, tensors).items():
        operands: list[Placement] = []
        for k, names in enumerate(axes.operands):
            if axis in names:
                operands.append(Shard(list(names).index(axis)))
            else:
                adds = k in axes.added and axis in axes.reduced
                operands.append(axes.reduced[axis] if adds else Replicate())
        results = [
            Shard(list(names).index(axis)) if axis in names else axes.reduced.get(axis)
            for names in axes.results
        ]
        cut = all(
            old == new for old, new in zip(now, operands, strict=True) if isinstance(new, Shard)
        )
        uneven = cut and not (axes.even and axis in axes.reduced)
        if None not in results and (uneven or size % mesh.size() == 0):
            yield operands, results  # type: ignore[misc]


# ---- results -----------------------------------------------------------------------------------------


def _result(
    t: Any, axes: Axes, k: int, sizes: Mapping[Any, int], mesh: Any, placed: Sequence[Any]
) -> Any:
    """A part of a result as the DTensor."""
    if not isinstance(t, Tensor):
        return t
    shape = list(t.shape)
    for each in placed[k]:
        if isinstance(each, Shard):
            shape[each.dim] = sizes[axes.results[k][each.dim]]
    if axes.shape is not None:
        shape = list(axes.shape[0])
    meta = TensorMeta(tuple(shape), _strides(t, shape), t.dtype)
    return DTensor(t, DTensorSpec(mesh, tuple(placed[k]), meta), requires_grad=False)


def _strides(local: Tensor, shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of the whole, its dimensions in memory in the order of the part's, if that has elements."""
    if not local.numel():
        return contiguous_strides(tuple(shape))
    found, step = [0] * len(shape), 1
    order = sorted(range(len(shape)), key=lambda d: (-local.stride(d), local.shape[d] == 1, d))
    for d in reversed(order):
        if local.stride(d) or shape[d] <= 1:
            found[d] = step
            step *= max(shape[d], 1)
    return tuple(found)
