"""What ops on DTensors make of the shapes of the wholes: errors, and results outside of the mesh."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...tensors.tensor import Tensor
from ...utils._pytree import tree_leaves, tree_map_only
from .dtensor import DTensor
from .layouts import DTensorSpec, TensorMeta
from .placements import Replicate

__all__ = ["on_shapes", "outside", "refuse_shapes"]


def refuse_shapes(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise the error that an op raises for tensors of the shapes of the wholes, if it raises one.

    Where there are plain tensors among them, that is what is wrong.
    """
    if any(isinstance(t, Tensor) and type(t) is not DTensor for t in tree_leaves((args, kwargs))):
        return
    try:
        on_shapes(func, args, kwargs)
    except NotImplementedError:
        return  # without elements nobody knows
    except Exception as error:
        raise error from None


def outside(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], leading: DTensor) -> Any:
    """An op on a rank that the mesh does not have: the shape of the whole, no elements, and no message.

    Args:
        func: the op.
        args: its arguments.
        kwargs: those by name.
        leading: a DTensor among them, whose mesh the results have.
    """
    results = on_shapes(func, args, kwargs)
    if any(a.alias_info is not None and a.alias_info.is_write for a in func._schema.arguments):
        return args[0] if func.overloadpacket.__name__.endswith("_") else results
    mesh = leading.device_mesh

    def wrapped(t: Tensor) -> DTensor:
        meta = TensorMeta(tuple(t.shape), t.stride(), t.dtype)
        spec = DTensorSpec(mesh, (Replicate(),) * mesh.ndim, meta)
        local = fn.zeros([0] if t.ndim else [], dtype=t.dtype, device=leading._local_tensor.device)
        return DTensor(local, spec, requires_grad=False)

    return tree_map_only(Tensor, wrapped, results)


def on_shapes(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What an op makes of tensors without elements, of the shapes of the wholes.

    Args:
        func: the op.
        args: its arguments.
        kwargs: those by name.
    """

    def without_data(t: Tensor) -> Tensor:
        return fn.empty_strided(t.shape, t.stride(), dtype=t.dtype, device="meta")

    args, kwargs = tree_map_only(Tensor, without_data, (args, kwargs))
    return func(*args, **kwargs)
