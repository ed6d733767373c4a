"""Rules for what makes a DTensor like another one: filled, empty, or of random numbers."""

from __future__ import annotations

from typing import Any

from ...values.shapes import contiguous_strides
from .dtensor import DTensor
from .implied import in_formula
from .layouts import laid_out, part_of
from .operands import arguments_of, complete, distributed, refuse, wrapped
from .placements import Partial, Replicate, Shard

__all__ = ["alike", "drawn"]


def alike(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A tensor made like another: one of its shape lies as that one, of another shape each rank has all.

    What the formula of a gradient makes is cut as the gradient is, where both are of one size.
    """
    source, named = args[0], arguments_of(func, args, kwargs)
    shape = tuple(named.get("size", source.shape))
    other = shape != tuple(source.shape)
    if other and in_formula() and len(shape) == source.ndim:
        cut = [p.dim for p in source.placements if isinstance(p, Shard)]
        other = any(shape[d] != source.shape[d] for d in cut)
    placed = [Replicate() if other or isinstance(p, Partial) else p for p in source.placements]
    spec = source._spec.placed(placed).like(shape, source.dtype)
    part = part_of(shape, source.device_mesh, placed)[0]
    if "size" in named:
        named["size"] = part
    if "stride" in named:
        named["stride"] = contiguous_strides(part)
    named["self"] = source._local_tensor
    return wrapped(func(**named), spec)


def drawn(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Random numbers: each rank draws the whole and keeps its part, so that they are one process's.

    Raises:
        NotImplementedError: for an op that draws from several tensors, or in another shape than theirs.
    """
    target, name = args[0], func.overloadpacket.__name__
    if not isinstance(target, DTensor) or len(distributed(args, kwargs)) > 1:
        raise refuse(func, "it draws random numbers from several tensors")
    fills = name.endswith(("_", "_like"))
    if name != "bernoulli" and (
        not fills or any(isinstance(p, Partial) for p in target.placements)
    ):
        raise refuse(func, "it draws random numbers from values")
    target = target if fills else complete(target)
    local = target._local_tensor
    spec = target._spec.placed([Replicate()] * target.device_mesh.ndim)
    whole = (
        local.new_empty(tuple(target.shape))
        if fills
        else laid_out(local, target._spec, spec.placements)
    )
    values = func(whole, *args[1:], **kwargs)
    part = laid_out(values, spec, target.placements)
    if name.endswith("_"):
        local.copy_(part)
        return target
    return wrapped(part, target._spec)
