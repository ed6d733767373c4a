"""DTensors of plain tensors, of modules and of numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ...dispatch.functions import fn
from ...gradients.grad_mode import no_grad
from ...tensors.tensor import Tensor
from ...values.shapes import contiguous_strides
from ...values.user_warnings import warn_user
from ..collectives import broadcast, scatter
from ..mesh import DeviceMesh
from .dtensor import DTensor, default_mesh
from .layouts import DTensorSpec, TensorMeta, checked, in_turn, laid_out, padded, part_of
from .placements import Partial, Placement, Replicate, Shard, StridedShard, chunk_of

__all__ = [
    "distribute_module",
    "distribute_tensor",
    "empty",
    "full",
    "ones",
    "rand",
    "randn",
    "zeros",
]


def distribute_tensor(
    tensor: Tensor,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> DTensor:
    """A tensor of which each process of a mesh keeps its part. All ranks of the mesh call it together.

    Args:
        tensor: the whole, a leaf.
        device_mesh: the ranks.
        placements: one for each dimension of the mesh; all replicated by default. Of a partial one the
            reduction gives the tensor: of a sum the first rank along the dimension has it, others zeros.
        src_data_rank: whose values count, as a position along each dimension of the mesh; None for each
            rank's own, without a message.

    Raises:
        RuntimeError: if it is no leaf, or the result of an op.
        ValueError: for a DTensor that lies otherwise.
    """
    mesh = default_mesh(device_mesh)
    if not tensor.is_leaf:
        raise RuntimeError(
            "`distribute_tensor` should be used to distribute leaf tensors! but found non-leaf tensor!"
        )
    placed = checked(placements, mesh, tensor.ndim)
    if isinstance(tensor, DTensor):
        if tensor.device_mesh != mesh or tensor.placements != placed:
            raise ValueError(
                f"Cannot distribute a DTensor with placements {tensor.placements} to a different placements "
                f"{[*placed]}. do you want to call `redistribute` instead?"
            )
        return tensor
    whole = tensor.detach()
    if mesh.get_coordinate() is None:
        whole = whole.new_empty(0)
    meta = TensorMeta(tuple(tensor.shape), contiguous_strides(tuple(tensor.shape)), tensor.dtype)
    spec = DTensorSpec(mesh, (Replicate(),) * mesh.ndim, meta)
    with no_grad():
        if src_data_rank is None or whole.is_meta or mesh.get_coordinate() is None:
            local = laid_out(whole, spec, placed)
        else:
            plain = tuple(Replicate() if isinstance(p, Partial) else p for p in placed)
            local = _sent(whole, mesh, plain, src_data_rank)
            local = laid_out(local, spec.placed(plain), placed)
    made: Any = DTensor(local, spec.placed(placed), requires_grad=tensor.requires_grad)
    if getattr(tensor, "_is_param", False) or type(tensor).__name__ == "Parameter":
        made._is_param = True
    return made  # type: ignore[no-any-return]


def _sent(whole: Tensor, mesh: DeviceMesh, placements: Sequence[Placement], source: int) -> Tensor:
    """This rank's part of what the rank at a position along each dimension of the mesh has."""
    local = whole.clone().contiguous()
    for i in in_turn(placements):
        each, group = placements[i], mesh.get_group(i)
        if not isinstance(each, Shard | StridedShard):
            broadcast(local, group=group, group_src=source)
            continue
        rows, pieces = fn.movedim(local, each.dim, 0), mesh.size(i)
        size, step = rows.shape[0], chunk_of(rows.shape[0], pieces, 0)[1]
        rows = padded(rows, step * pieces)
        sent = list(rows.split(step)) if step else [rows] * pieces
        place = group.position
        part = sent[place].clone()
        scatter(part, sent if place == source else None, group=group, group_src=source)
        length = chunk_of(size, pieces, place)[1]
        local = fn.movedim(part.narrow(0, 0, length), 0, each.dim).contiguous()
    return local


def distribute_module(
    module: Any,
    device_mesh: DeviceMesh | None = None,
    partition_fn: Callable[[str, Any, DeviceMesh], None] | None = None,
    input_fn: Callable[..., Any] | None = None,
    output_fn: Callable[..., Any] | None = None,
) -> Any:
    """A module whose parameters and buffers are DTensors. All ranks of the mesh call it together.

    Args:
        module: changed in place, and returned.
        device_mesh: the ranks.
        partition_fn: called with the name of each submodule, it and the mesh; it replaces parameters by
            DTensors. Those that it leaves are replicated.
        input_fn: called with the module, its inputs and the mesh, before forward; gives the inputs.
        output_fn: called with the module, its output and the mesh, after forward; gives the output.

    Raises:
        RuntimeError: for a module that is distributed already.
    """
    mesh = default_mesh(device_mesh)
    if getattr(module, "_distribute_module_applied", False):
        raise RuntimeError(
            "distribute_module should only be called once on a module, but it has already been called on "
            "this module!"
        )
    for name, each in module.named_modules():
        if partition_fn is not None:
            partition_fn(name, each, mesh)
        for key, p in each._parameters.items():
            if p is not None and not isinstance(p, DTensor):
                each.register_parameter(
                    key, type(p)(distribute_tensor(p.detach(), mesh), requires_grad=p.requires_grad)
                )
        for key, t in each._buffers.items():
            if t is not None and not isinstance(t, DTensor):
                each._buffers[key] = distribute_tensor(t, mesh)
    if input_fn is not None:
        before = _of_three(input_fn, "input_fn")
        module.register_forward_pre_hook(lambda own, inputs: before(own, inputs, mesh))
    if output_fn is not None:
        after = _of_three(output_fn, "output_fn")
        module.register_forward_hook(lambda own, _, outputs: after(own, outputs, mesh))
    module._distribute_module_applied = True
    return module


def _of_three(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function that is given the module too, as those that PyTorch had first were not.

    Raises:
        ValueError: if it takes neither two arguments nor three.
    """
    count = len(inspect.signature(function).parameters)
    if count == 2:
        warn_user(
            f"Deprecating {name} that takes two arguments (inputs, device_mesh), please use {name} that "
            "takes in (module, inputs, device_mesh) instead!",
            FutureWarning,
        )
        return lambda _, values, mesh: function(values, mesh)
    if count != 3:
        raise ValueError(f"{name} should take in 3 arguments, but got {count} arguments!")
    return function


def _made(
    make: Callable[..., Tensor],
    size: Sequence[Any],
    dtype: Any,
    requires_grad: bool,
    device_mesh: DeviceMesh | None,
    placements: Sequence[Placement] | None,
    *,
    drawn: bool = False,
) -> DTensor:
    shape = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else tuple(size)
    mesh = default_mesh(device_mesh)
    placed = checked(placements, mesh, len(shape))
    local = make(
        shape if drawn else part_of(shape, mesh, placed)[0], dtype=dtype, device=mesh.device_type
    )
    meta = TensorMeta(shape, contiguous_strides(shape), local.dtype)
    spec = DTensorSpec(mesh, placed, meta)
    if drawn:  # the numbers of one process
        local = laid_out(local, spec.placed([Replicate()] * mesh.ndim), placed)
    return DTensor(local, spec, requires_grad=requires_grad)


def zeros(
    *size: Any,
    requires_grad: bool = False,
    dtype: Any = None,
    layout: Any = None,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor:
    """Zeros, of which each rank makes its part."""
    return _made(fn.zeros, size, dtype, requires_grad, device_mesh, placements)


def ones(
    *size: Any,
    dtype: Any = None,
    layout: Any = None,
    requires_grad: bool = False,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor:
    """Ones, of which each rank makes its part."""
    return _made(fn.ones, size, dtype, requires_grad, device_mesh, placements)


def empty(
    *size: Any,
    dtype: Any = None,
    layout: Any = None,
    requires_grad: bool = False,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor:
    """Whatever was in memory, of which each rank makes its part."""
    return _made(fn.empty, size, dtype, requires_grad, device_mesh, placements)


def full(
    size: Sequence[int],
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    requires_grad: bool = False,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor:
    """A number everywhere, of which each rank makes its part."""

    def make(shape: Any, **options: Any) -> Tensor:
        return fn.full(shape, fill_value, **options)

    return _made(make, [tuple(size)], dtype, requires_grad, device_mesh, placements)


def rand(
    *size: Any,
    requires_grad: bool = False,
    dtype: Any = None,
    layout: Any = None,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor:
    """Random numbers between 0 and 1: those of one process where all ranks have one seed."""
    return _made(fn.rand, size, dtype, requires_grad, device_mesh, placements, drawn=True)


def randn(
    *size: Any,
    requires_grad: bool = False,
    dtype: Any = None,
    layout: Any = None,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor:
    """Normally distributed numbers: those of one process where all ranks have one seed."""
    return _made(fn.randn, size, dtype, requires_grad, device_mesh, placements, drawn=True)
