"""Rules of programs for ops on DTensors, and functions on parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any, Final

from ...tensors.tensor import Tensor
from ...utils._pytree import tree_flatten, tree_map, tree_unflatten
from ..mesh import DeviceMesh
from .axes import moved
from .dtensor import DTensor
from .layouts import DTensorSpec, TensorMeta, laid_out
from .placements import Placement, Replicate
from .wholes import on_shapes

__all__ = ["OWN", "local_map", "register_sharding", "ruled"]

# What programs say of ops: by op, a function that gives the ways to lay out results and arguments.
OWN: Final[dict[Any, Callable[..., Sequence[tuple[Sequence[Any], Sequence[Any]]]]]] = {}


def register_sharding(op: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Say how an op works on parts of DTensors, instead of its rule or where it has none.

    The decorated function is called with the op's arguments, DTensors as what is known of them (``shape``,
    ``placements``, ``mesh``). It returns pairs: placements of the results, and of the arguments, with
    None for what is no tensor. Each is a way to compute along one dimension of a mesh; that which sends
    the fewest elements is taken, and where none cuts evenly, every rank has all.

    Args:
        op: an overload, such as ``torch.ops.aten.tanh.default``, or a list of them.

    Example:
        >>> from mindtorch_core.distributed.tensor import Shard
        >>> from mindtorch_core.distributed.tensor.experimental import register_sharding
        >>> @register_sharding(torch.ops.aten.diag_embed.default)
        ... def rows(x, *options):
        ...     return [([Shard(0)], [Shard(0), *(None for _ in options)])]
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for each in op if isinstance(op, list | tuple) else [op]:
            OWN[each] = function
        return function

    return register


def ruled(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What an op of `OWN` makes of arguments of which some are DTensors.

    Args:
        func: the op.
        args: its arguments.
        kwargs: those by name.

    Raises:
        ValueError: if the ways do not have as many placements as there are arguments and results.
    """
    named = list(kwargs)
    flat = [*args, *kwargs.values()]
    at = [i for i, value in enumerate(flat) if isinstance(value, DTensor)]
    tensors: list[DTensor] = [flat[i] for i in at]
    told = [value._spec if isinstance(value, DTensor) else value for value in flat]
    ways = OWN[func](*told[: len(args)], **dict(zip(named, told[len(args) :], strict=True)))
    whole = on_shapes(func, args, kwargs)
    shapes, form = tree_flatten(whole)
    mesh = tensors[0].device_mesh
    everywhere = ([Replicate()] * len(shapes), [Replicate()] * len(flat))
    chosen = []
    for i in range(mesh.ndim):
        possible = [
            way
            for way in ways
            if _fits(func, way, len(flat), len(shapes)) and _even(way[1], flat, at, mesh.size(i))
        ]
        costs = [_cost(tensors, at, way[1], i) for way in possible]
        chosen.append(possible[costs.index(min(costs))] if possible else everywhere)
    for k, t in zip(at, tensors, strict=True):
        flat[k] = laid_out(t._local_tensor, t._spec, [ins[k] for _, ins in chosen])
    found = func(*flat[: len(args)], **dict(zip(named, flat[len(args) :], strict=True)))
    results = [
        _result(local, shape, mesh, tuple(outs[k] for outs, _ in chosen))
        for k, (local, shape) in enumerate(zip(tree_flatten(found)[0], shapes, strict=True))
    ]
    return tree_unflatten(results, form)


def _fits(func: Any, way: Any, arguments: int, results: int) -> bool:
    outs, ins = way
    if len(ins) < arguments or len(outs) != results:
        raise ValueError(
            f"register_sharding of {func}: a way to lay out {arguments} arguments and {results} results has "
            f"{len(ins)} and {len(outs)} placements"
        )
    return True


def _even(ins: Sequence[Any], flat: Sequence[Any], at: Sequence[int], pieces: int) -> bool:
    """Whether all parts have the same size."""
    cut = [(flat[k], ins[k]) for k in at if ins[k].is_shard()]
    return all(t.ndim > p.dim and t.shape[p.dim] % pieces == 0 for t, p in cut)


def _cost(tensors: Sequence[DTensor], at: Sequence[int], ins: Sequence[Any], i: int) -> float:
    pairs = zip(tensors, at, strict=True)
    return sum(moved(t.placements[i], ins[k]) * t.numel() for t, k in pairs)


def _result(local: Any, whole: Any, mesh: DeviceMesh, placed: tuple[Placement, ...]) -> Any:
    if not isinstance(local, Tensor):
        return local
    meta = TensorMeta(tuple(whole.shape), whole.stride(), local.dtype)
    return DTensor(local, DTensorSpec(mesh, placed, meta), requires_grad=False)


def local_map(
    func: Callable[..., Any] | None = None,
    out_placements: Any = None,
    in_placements: Sequence[Any] | None = None,
    in_grad_placements: Sequence[Any] | None = None,
    device_mesh: DeviceMesh | None = None,
    *,
    redistribute_inputs: bool = False,
) -> Callable[..., Any]:
    """A function of plain tensors as one of DTensors: it is given this rank's parts.

    Args:
        func: the function; without it, a decorator is returned.
        out_placements: how what it returns lies: placements of one tensor, or a tuple with those of each,
            None for what is no tensor.
        in_placements: how each argument must lie, in the order of flattened positional arguments; None
            for what is no DTensor, or for any placements.
        in_grad_placements: how gradients of the parts lie; as the arguments by default.
        device_mesh: on which results lie; that of the first DTensor by default.
        redistribute_inputs: whether arguments that lie otherwise are laid out anew.

    Raises:
        ValueError: for arguments that lie otherwise.
        AssertionError: for another number of placements than of arguments or results.

    Example:
        >>> from mindtorch_core.distributed.tensor import Shard
        >>> from mindtorch_core.distributed.tensor.experimental import local_map
        >>> doubled = local_map(lambda x: x * 2, out_placements=[Shard(0)])
    """
    if func is None:
        return partial(
            local_map, out_placements=out_placements, in_placements=in_placements,
            in_grad_placements=in_grad_placements, device_mesh=device_mesh,
            redistribute_inputs=redistribute_inputs,
        )  # fmt: skip
    function = func

    @wraps(function)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        flat, form = tree_flatten(args)
        if in_placements is not None and len(in_placements) != len(flat):
            raise AssertionError(
                f"in_placements length {len(in_placements)} does not match the number of input args "
                f"{len(flat)}!"
            )
        mesh, parts = device_mesh, []
        for i, value in enumerate(flat):
            if isinstance(value, DTensor):
                mesh = value.device_mesh if mesh is None else mesh
                wanted = None if in_placements is None else in_placements[i]
                value = _lying(value, wanted, redistribute_inputs)
                backward = None if in_grad_placements is None else in_grad_placements[i]
                parts.append(value.to_local(grad_placements=backward))
            else:
                parts.append(value)
        named = tree_map(lambda t: t.to_local() if isinstance(t, DTensor) else t, kwargs)
        found = function(*tree_unflatten(parts, form), **named)
        return found if mesh is None else _together(found, out_placements, mesh)

    return mapped


def _lying(value: DTensor, wanted: Any, redistributes: bool) -> DTensor:
    if wanted is None or tuple(wanted) == value.placements:
        return value
    if not redistributes:
        raise ValueError(
            f"arg {value.placements} in local_map has a mismatched placements: it must be {tuple(wanted)}. "
            "If redistribute_inputs is wanted, set redistribute_inputs=True to local_map."
        )
    return value.redistribute(placements=wanted)


def _together(found: Any, placements: Any, mesh: DeviceMesh) -> Any:
    """Results as DTensors."""
    flat, form = tree_flatten(found)
    each = placements if isinstance(placements, tuple) else [placements] * len(flat)
    if isinstance(placements, tuple) and any(isinstance(p, Placement) for p in placements):
        each = [placements] * len(flat)
    if len(each) != len(flat):
        raise AssertionError(
            f"local_map requires one PlacementType be provided for each output value, received "
            f"{len(each)} out_placements but {len(flat)} is expected!"
        )
    made = [
        value if not isinstance(value, Tensor) or p is None else DTensor.from_local(value, mesh, p)
        for value, p in zip(flat, each, strict=True)
    ]
    return tree_unflatten(made, form)
