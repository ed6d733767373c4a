"""What ops do with tensors of which each process holds a part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ...dispatch.functions import fn
from ...gradients.grad_mode import no_grad
from ...opdefs.tags import Tag
from ...tensors.tensor import Tensor
from ...values.user_warnings import warn_user_once
from ..collectives import all_reduce
from ..reductions import ReduceOp
from .axes import Axes, computed
from .axis_rules import AXES, aligned, joined, reduction
from .dtensor import ANSWER, DTensor
from .implied import implied, replicas
from .layouts import DTensorSpec, laid_out, part_of
from .losses import parallel_rule
from .made_alike import alike, drawn
from .operands import (
    MIXED,
    arguments_of,
    complete,
    distributed,
    mapped,
    mixed,
    refuse,
    refuse_mixed,
    replicated,
    wrapped,
)
from .own_rules import OWN, ruled
from .placements import Partial, PartialNorm, Placement, Replicate, Shard
from .sample_rules import SAMPLES
from .wholes import outside, refuse_shapes

__all__ = ["RULES", "answer"]


def answer(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What an op makes of arguments of which some are DTensors.

    Raises:
        NotImplementedError: if there is no rule for the op, or for such placements.
        RuntimeError: if plain tensors stand among the arguments.
    """
    leading = distributed(args, kwargs)[0]
    if mixed(args, kwargs) and implied():
        args, kwargs = replicas(args, leading._spec), replicas(kwargs, leading._spec)
    with no_grad():
        if leading.device_mesh.get_coordinate() is None and func.overloadpacket.__name__ != "equal":
            return outside(func, args, kwargs, leading)
        try:
            return _answered(func, args, kwargs)
        except (IndexError, RuntimeError) as error:
            if not isinstance(error, NotImplementedError):
                refuse_shapes(func, args, kwargs)
            raise


def _answered(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = func.overloadpacket.__name__
    if func in OWN:
        return ruled(func, args, kwargs)
    rule = parallel_rule(name) or RULES.get(name)
    if rule is not None:
        return rule(func, args, kwargs)
    rule = AXES.get(name) or SAMPLES.get(name)
    if rule is not None:
        return _by_axes(func, args, kwargs, rule(arguments_of(func, args, kwargs)))
    if name.startswith(("_foreach_", "_fused_")):
        return _by_lists(func, args, kwargs)
    tags = func.tags
    if Tag.nondeterministic_seeded in tags:
        return drawn(func, args, kwargs)
    if Tag.pointwise in tags:
        return _pointwise(func, args, kwargs)
    if all(replicated(t) for t in distributed(args, kwargs)):
        return _replicas(func, args, kwargs)
    return _gathered(func, args, kwargs)


def _by_axes(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], axes: Axes) -> Any:
    """An op on parts along the axes that its operands share.

    Raises:
        NotImplementedError: for operands on several meshes.
        RuntimeError: for a plain tensor of several elements.
    """
    tensors = distributed(args, kwargs)
    if any(t.device_mesh != tensors[0].device_mesh for t in tensors):
        raise refuse(func, "its operands lie on different meshes")
    refuse_mixed(func, args, kwargs)
    return computed(func, args, kwargs, tensors, axes)


def _gathered(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An op without a rule, on the whole of its operands.

    Raises:
        NotImplementedError: if it would write into what is gathered.
        RuntimeError: for a plain tensor of several elements.
    """
    if any(a.alias_info is not None and a.alias_info.is_write for a in func._schema.arguments):
        raise refuse(func, "it writes into parts that would have to know of each other")
    refuse_mixed(func, args, kwargs)
    warn_user_once(
        f"{func} has no rule for parts of DTensors: every rank gathers its operands and computes the "
        f"whole. to_local() is this rank's part"
    )

    def gathered(t: Any) -> Any:
        if not isinstance(t, DTensor):
            return t
        return t.redistribute(placements=[Replicate()] * t.device_mesh.ndim)

    return _replicas(
        func, mapped(args, gathered), {k: mapped(v, gathered) for k, v in kwargs.items()}
    )


# ---- element by element ----------------------------------------------------------------------------


def _write_back(target: Any, whole: Any) -> None:
    """Give a partial DTensor the value that an op has written into what all ranks have of it."""
    if target is not whole:
        target._local_tensor.copy_(laid_out(whole._local_tensor, whole._spec, target.placements))


def _pointwise(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An op on each element for itself."""
    writes = func.overloadpacket.__name__.endswith("_")
    if not writes and func.overloadpacket.__name__ in ("detach", "alias", "clone", "contiguous"):
        result = func(args[0]._local_tensor, *args[1:], **kwargs)  # also of what is partial
        return wrapped(result, args[0]._spec)
    written = args[0]
    if func.overloadpacket.__name__ == "fill_" and isinstance(
        written, DTensor
    ):  # each part, as PyTorch
        func(written._local_tensor, *args[1:], **kwargs)
        return written
    args, kwargs = mapped(args, complete), {k: mapped(v, complete) for k, v in kwargs.items()}
    tensors = distributed(args, kwargs)
    several = len({t.shape for t in tensors if t.ndim}) > 1
    if several and not writes and not all(map(replicated, tensors)):
        operands, result = aligned([t.shape for t in tensors])
        return _by_axes(func, args, kwargs, Axes(operands, [result]))
    spec = _leading(func, tensors, args[0] if writes else None)

    def local(value: Any) -> Any:
        return _local(func, value, spec)

    result = func(*mapped(args, local), **{k: mapped(v, local) for k, v in kwargs.items()})
    if writes:
        _write_back(written, args[0])
        return written
    return wrapped(result, spec)


def _leading(func: Any, tensors: Sequence[DTensor], written: Any) -> DTensorSpec:
    """The layout of an op's result.

    Raises:
        NotImplementedError: for operands on several meshes, or of shapes that must be expanded.
    """
    if any(t.device_mesh != tensors[0].device_mesh for t in tensors):
        raise refuse(func, "its operands lie on different meshes")
    if isinstance(written, DTensor):
        return written._spec
    largest = max(tensors, key=lambda t: (t.ndim, t.numel(), not replicated(t)))
    if replicated(largest):
        shapes = {tuple(t.shape) for t in tensors if t.ndim}
        if len(shapes) > 1 and any(not replicated(t) for t in tensors):
            raise refuse(func, "a part would have to be expanded")
        if len(shapes) > 1:
            found = fn.broadcast_tensors(*[t._local_tensor for t in tensors])[0]
            return largest._spec.like(found.shape, largest.dtype)
    return largest._spec


def _local(func: Any, value: Any, spec: DTensorSpec) -> Any:
    """An operand as the part that meets the others' parts.

    Raises:
        NotImplementedError: for shapes that would have to be expanded.
        RuntimeError: for a plain tensor of several elements.
    """
    if not isinstance(value, DTensor):
        if isinstance(value, Tensor) and value.ndim:
            raise RuntimeError(MIXED.format(op=func))
        return value
    if value.ndim == 0 or value.placements == spec.placements:
        if value.ndim and value.shape != spec.shape and not replicated(value):
            raise refuse(func, "a part would have to be expanded")
        return value._local_tensor
    if tuple(value.shape) != tuple(spec.shape):
        raise refuse(func, "a part would have to be expanded")
    return laid_out(value._local_tensor, value._spec, spec.placements)


def _by_lists(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An op on lists of tensors, each with those at its place in the other lists."""
    name, written = func.overloadpacket.__name__, args[0]
    args, kwargs = mapped(args, complete), {k: mapped(v, complete) for k, v in kwargs.items()}
    specs = [t._spec if isinstance(t, DTensor) else None for t in args[0]]

    def parts(value: Any) -> Any:
        if isinstance(value, list | tuple) and len(value) == len(specs):
            return [
                each if spec is None else _local(func, each, spec)
                for each, spec in zip(value, specs, strict=True)
            ]
        if isinstance(value, DTensor):
            if value.ndim:
                raise refuse(func, "its operand lies in parts")
            return value._local_tensor
        return value

    first = [t._local_tensor if isinstance(t, DTensor) else t for t in args[0]]
    result = func(first, *map(parts, args[1:]), **{k: parts(v) for k, v in kwargs.items()})
    if name.endswith("_"):
        for target, whole in zip(written, args[0], strict=True):
            _write_back(target, whole)
        return result
    if name == "_foreach_norm":
        order = float(args[1]) if len(args) > 1 else float(kwargs.get("ord", 2))
        return [
            r if s is None else _norm_of(r, s, order) for r, s in zip(result, specs, strict=True)
        ]
    return [r if s is None else wrapped(r, s) for r, s in zip(result, specs, strict=True)]


# ---- the same on all ranks -------------------------------------------------------------------------


def _replicas(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An op on tensors of which all ranks have all."""
    spec = distributed(args, kwargs)[0]._spec

    def local(value: Any) -> Any:
        return _local(func, value, value._spec if isinstance(value, DTensor) else spec)

    result = func(*mapped(args, local), **{k: mapped(v, local) for k, v in kwargs.items()})
    if func.overloadpacket.__name__.endswith("_"):
        return args[0]
    return mapped(
        result, lambda t: wrapped(t, spec.like(t.shape, t.dtype)) if isinstance(t, Tensor) else t
    )


# ---- reductions ------------------------------------------------------------------------------------


def _partial(t: DTensor, placement: Partial) -> tuple[Placement, ...]:
    """Placements of what is reduced part by part."""
    return tuple(Replicate() if isinstance(p, Replicate) else placement for p in t.placements)


def _norm_of(local: Tensor, spec: DTensorSpec, order: float) -> DTensor:
    held = [p if isinstance(p, Replicate) else PartialNorm("norm", order) for p in spec.placements]
    return DTensor(local, spec.placed(held).like((), local.dtype), requires_grad=False)


def _vector_norm(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    t: DTensor = args[0]
    given = dict(zip(("ord", "dim", "keepdim"), args[1:], strict=False)) | kwargs
    given = {("ord" if k == "p" else k): v for k, v in given.items()}
    dims = given.get("dim")
    order = 2.0 if given.get("ord") is None else given["ord"]
    if type(order) is str:
        return _gathered(func, args, kwargs)
    if not _over_all(dims, t.ndim) or given.get("keepdim"):
        axes = reduction({"self": t} | given, PartialNorm("norm", float(order)))
        return _by_axes(func, args, kwargs, axes)
    if any(type(p) is PartialNorm and p.norm_type == order for p in t.placements):
        norm = fn.linalg_vector_norm(t._local_tensor, order)
        return complete(DTensor(norm, t._spec.like((), norm.dtype), requires_grad=False))
    t = complete(t)
    local = t._local_tensor
    if not local.numel() and order < 0:
        local = fn.full_like(local.new_empty(1), float("inf"))
    elif not local.numel():
        local = local.new_zeros(1)
    norm = fn.linalg_vector_norm(local, order, dtype=given.get("dtype"))
    return _norm_of(norm, t._spec, float(order))


def _over_all(dims: Any, ndim: int) -> bool:
    """Whether dimensions that are reduced are all that there are."""
    if dims is None or dims in ([], ()):
        return True
    named = (dims,) if isinstance(dims, int) else dims
    return {d % ndim for d in named} == set(range(ndim)) if ndim else True


def _reducing(reduce_op: str) -> Callable[..., Any]:
    """The rule of a reduction of all elements."""

    def rule(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        t: DTensor = complete(args[0])
        if len(args) > 1 or kwargs.get("dim") not in (None, [], ()) or kwargs.get("keepdim"):
            if replicated(t):
                return _replicas(func, (t, *args[1:]), kwargs)
            return _along_dims(func, args, kwargs, reduce_op)
        local, name = t._local_tensor, func.overloadpacket.__name__
        if name == "mean":
            count = t.numel()
            dtype = kwargs.get("dtype")
            found = local.sum(dtype=dtype) / count
        elif not local.numel() and name in ("amax", "max", "amin", "min"):
            found = local.new_full((), _neutral(local.dtype, largest=name.endswith("min")))
        else:
            found = func(local, **kwargs)
        spec = t._spec.placed(_partial(t, Partial(reduce_op))).like((), found.dtype)
        return DTensor(found, spec, requires_grad=False)

    return rule


def _along_dims(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], reduce_op: str) -> Any:
    """A reduction along dimensions; those that give positions as well need theirs whole."""
    name = func.overloadpacket.__name__
    g = arguments_of(func, args, kwargs)
    axes = reduction(g, Partial("avg" if name == "mean" else reduce_op))
    if name in ("max", "min"):
        axes = Axes(axes.operands, [*axes.results, *axes.results])
    return _by_axes(func, args, kwargs, axes)


def _embedding(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Rows of a table; of one cut into rows a rank gives those that it has, and zeros."""
    table, indices = args[:2]
    if not (isinstance(table, DTensor) and isinstance(indices, DTensor)):
        raise RuntimeError(MIXED.format(op=func))
    now = zip(complete(table).placements, complete(indices).placements, strict=True)
    ways = [
        (Replicate(), Partial() if rows.is_shard(0) else Shard(indices.ndim))
        if rows.is_shard()
        else (at, at)
        for rows, at in now
    ]
    table, indices = complete(table), complete(indices)
    at = laid_out(indices._local_tensor, indices._spec, [way[0] for way in ways])
    rows = table._local_tensor
    if any(p.is_shard(0) for p in table.placements):
        (count, _), (first, _) = part_of(table.shape, table.device_mesh, table.placements)
        here = fn.logical_and(at >= first, at < first + count)
        rows = rows if count else rows.new_zeros((1, rows.shape[1]))
        result = func(rows, fn.where(here, at - first, 0)) * here.unsqueeze(-1).to(rows.dtype)
    else:
        result = func(rows, at, *args[2:], **kwargs)
    spec = table._spec.placed([way[1] for way in ways])
    shape = (*indices.shape, table.shape[1])
    return DTensor(result, spec.like(shape, result.dtype), requires_grad=False)


def _neutral(dtype: Any, *, largest: bool) -> Any:
    if dtype.is_floating_point:
        return float("inf") if largest else float("-inf")
    bits = dtype.itemsize * 8 - (1 if dtype.is_signed else 0)
    if largest:
        return 2**bits - 1
    return -(2**bits) if dtype.is_signed else 0


def _equal(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b = complete(args[0]), complete(args[1])
    if not (isinstance(a, DTensor) and isinstance(b, DTensor)):
        raise RuntimeError(MIXED.format(op=func))
    if a.shape != b.shape:
        return False
    same = func(a._local_tensor, laid_out(b._local_tensor, b._spec, a.placements))
    told = fn.ones([], dtype=fn.zeros([]).dtype) * int(same)
    for dim in range(a.device_mesh.ndim):
        all_reduce(told, ReduceOp.MIN, a.device_mesh.get_group(dim))
    return bool(told)


def _stack(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Values side by side; those that are partial in one way stay so."""
    tensors = list(args[0])
    first = next(t for t in tensors if isinstance(t, DTensor))
    kinds = {getattr(t, "placements", None) for t in tensors}
    meshes = {t.device_mesh for t in tensors if isinstance(t, DTensor)}
    if len(kinds) == 1 and len(meshes) == 1 and not any(p.is_shard() for p in first.placements):
        result = func([t._local_tensor for t in tensors], *args[1:], **kwargs)
        return DTensor(result, first._spec.like(result.shape, result.dtype), requires_grad=False)
    found = [complete(t) for t in tensors]
    if all(replicated(t) for t in found if isinstance(t, DTensor)):
        if len(meshes) > 1:  # such as norms of parameters that lie on several meshes
            locals_ = [t._local_tensor if isinstance(t, DTensor) else t for t in found]
            result = func(locals_, *args[1:], **kwargs)
            return DTensor(
                result, found[0]._spec.like(result.shape, result.dtype), requires_grad=False
            )
        return _replicas(func, (found, *args[1:]), kwargs)
    if len({t.ndim for t in tensors}) > 1:
        return _gathered(func, args, kwargs)
    return _by_axes(
        func, args, kwargs, joined(arguments_of(func, args, kwargs), func.overloadpacket.__name__)
    )


def _unsqueeze(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A value of no dimensions as one of one; what is partial stays so."""
    t: DTensor = args[0]
    if t.ndim:
        return _by_axes(func, args, kwargs, AXES["unsqueeze"](arguments_of(func, args, kwargs)))
    local = func(t._local_tensor, *args[1:], **kwargs)
    return DTensor(local, t._spec.like(local.shape, local.dtype), requires_grad=False)


# By the name of an op; one that is not here is served by its tags, see `answer`.
def _by_parts(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An op as what it is made of, where a backend's kernel for it would not know of the whole."""
    return func._entry.definition.decomposition(*args, **kwargs)


RULES: Final[dict[str, Callable[..., Any]]] = {
    **dict.fromkeys(
        (
            "mse_loss_backward", "smooth_l1_loss_backward", "huber_loss_backward", "_cdist_backward",
            "grid_sampler", "grid_sampler_2d", "isin",
        ),
        _by_parts,
    ),
    "linalg_vector_norm": _vector_norm,
    "norm": _vector_norm,
    "sum": _reducing("sum"),
    "mean": _reducing("sum"),
    "prod": _reducing("product"),
    "amax": _reducing("max"),
    "max": _reducing("max"),
    "amin": _reducing("min"),
    "min": _reducing("min"),
    "all": _reducing("min"),
    "any": _reducing("max"),
    "equal": _equal,
    "stack": _stack,
    "unsqueeze": _unsqueeze,
    "embedding": _embedding,
    "cat": _stack,
    # Not tagged as pointwise, and done to each part for itself.
    **dict.fromkeys(
        (
            "detach", "alias", "clone", "_to_copy", "fill_", "zero_", "copy_", "view_as", "contiguous",
            "detach_",
        ),
        _pointwise,
    ),
    **dict.fromkeys(
        (
            "zeros_like", "ones_like", "empty_like", "full_like",
            "new_zeros", "new_ones", "new_empty", "new_full", "new_empty_strided",
        ),
        alike,
    ),
}  # fmt: skip

ANSWER.append(answer)
