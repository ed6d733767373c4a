"""What ops make on ranks that a DTensor's mesh does not have: the shape of the whole, and no elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dispatch.functions import fn
from ...tensors.tensor import Tensor
from .dtensor import DTensor
from .layouts import DTensorSpec, TensorMeta
from .placements import Replicate

__all__ = ["outside"]


def outside(
    func: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    leading: DTensor,
    mapped: Callable[..., Any],
) -> Any:
    """An op on a rank outside of the mesh: nothing is computed, and no message sent.

    Args:
        func: the op.
        args: its arguments.
        kwargs: those by name.
        leading: a DTensor among them, whose mesh the results have.
        mapped: changes what containers hold.
    """
    written = [a.alias_info is not None and a.alias_info.is_write for a in func._schema.arguments]
    results = func(
        *mapped(args, _without_data), **{k: mapped(v, _without_data) for k, v in kwargs.items()}
    )
    if any(written):
        return args[0] if func.overloadpacket.__name__.endswith("_") else results
    mesh = leading.device_mesh

    def wrapped(t: Any) -> Any:
        if not isinstance(t, Tensor):
            return t
        meta = TensorMeta(tuple(t.shape), t.stride(), t.dtype)
        spec = DTensorSpec(mesh, (Replicate(),) * mesh.ndim, meta)
        local = fn.zeros([0] if t.ndim else [], dtype=t.dtype, device=leading._local_tensor.device)
        return DTensor(local, spec, requires_grad=False)

    return mapped(results, wrapped)


def _without_data(t: Any) -> Any:
    if not isinstance(t, Tensor):
        return t
    return fn.empty_strided(t.shape, t.stride(), dtype=t.dtype, device="meta")
