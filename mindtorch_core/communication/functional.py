"""Collective operations as ops, with the schemas of PyTorch's ``_c10d_functional``.

They return new tensors, have Meta kernels that need no group, and gradients. As nothing else is known of
them than their schemas, a pipeline neither drops nor reorders them: ranks that did so differently would
wait for each other forever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..deferred.telling import TELLING
from ..library.gradients import register_autograd
from ..library.registration import Library
from ..tensors.tensor import Tensor
from . import collectives, exchanges
from .coalescing import all_reduce_coalesced
from .groups import group_named
from .reductions import reduce_op_named

__all__ = ["LIBRARIES"]

_PLAIN: Final = Library("_c10d_functional", "DEF")
_RECORDED: Final = Library("_c10d_functional_autograd", "DEF")
LIBRARIES: Final = (_PLAIN, _RECORDED)


def _define(schema: str, kernel: Callable[..., Any], meta: Callable[..., Any]) -> None:
    for library in LIBRARIES:
        name = library.define(schema)
        TELLING.add(f"{library.ns}::{name}")
        library.impl(name, kernel, "CompositeExplicitAutograd")
        library.impl(name, meta, "Meta")


def _gradient(name: str, backward: Callable[..., Any], setup: Callable[..., Any]) -> None:
    for library in LIBRARIES:
        register_autograd(f"{library.ns}::{name}", backward, setup_context=setup, lib=library)


# ---- all_reduce ------------------------------------------------------------------------------------


def _all_reduce(input: Tensor, reduce_op: str, group_name: str) -> Tensor:
    result = input.detach().clone()
    collectives.all_reduce(result, reduce_op_named(reduce_op), group_named(group_name))
    return result


def _all_reduce_in_place(input: Tensor, reduce_op: str, group_name: str) -> Tensor:
    collectives.all_reduce(input, reduce_op_named(reduce_op), group_named(group_name))
    return input


def _all_reduce_coalesced(
    inputs: Sequence[Tensor], reduce_op: str, group_name: str
) -> list[Tensor]:
    results = [each.detach().clone() for each in inputs]
    all_reduce_coalesced(results, reduce_op_named(reduce_op), group_named(group_name))
    return results


def _all_reduce_coalesced_in_place(
    inputs: Sequence[Tensor], reduce_op: str, group_name: str
) -> list[Tensor]:
    all_reduce_coalesced(inputs, reduce_op_named(reduce_op), group_named(group_name))
    return list(inputs)


def _like(input: Tensor, *_: Any) -> Tensor:
    return input.new_empty(input.shape)


def _itself(input: Any, *_: Any) -> Any:
    return input


def _all_like(inputs: Sequence[Tensor], *_: Any) -> list[Tensor]:
    return [each.new_empty(each.shape) for each in inputs]


_define("all_reduce(Tensor input, str reduce_op, str group_name) -> Tensor", _all_reduce, _like)
_define(
    "all_reduce_(Tensor(a!) input, str reduce_op, str group_name) -> Tensor(a!)",
    _all_reduce_in_place,
    _itself,
)
_define(
    "all_reduce_coalesced(Tensor[] inputs, str reduce_op, str group_name) -> Tensor[]",
    _all_reduce_coalesced,
    _all_like,
)
_define(
    "all_reduce_coalesced_(Tensor(a!)[] inputs, str reduce_op, str group_name) -> Tensor(a!)[]",
    _all_reduce_coalesced_in_place,
    lambda inputs, *_: list(inputs),
)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.arguments = inputs[1:]


def _check_linear(name: str, reduce_op: str) -> None:
    if reduce_op.lower() not in ("sum", "avg"):
        raise RuntimeError(f"{name} has a gradient for 'sum' and 'avg', not for {reduce_op!r}")


def _all_reduce_backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    reduce_op, group_name = ctx.arguments
    _check_linear("all_reduce", reduce_op)
    return _ops().all_reduce(grad.contiguous(), reduce_op, group_name), None, None


def _ops() -> Any:
    from ..opdefs.torch_ops import ops

    return ops._c10d_functional


def _all_reduce_coalesced_backward(ctx: Any, grads: Sequence[Tensor]) -> tuple[Any, ...]:
    reduce_op, group_name = ctx.arguments
    _check_linear("all_reduce_coalesced", reduce_op)
    found = _ops().all_reduce_coalesced([g.contiguous() for g in grads], reduce_op, group_name)
    return found, None, None


_gradient("all_reduce", _all_reduce_backward, _keep)
_gradient("all_reduce_coalesced", _all_reduce_coalesced_backward, _keep)


# ---- all_gather and reduce_scatter -----------------------------------------------------------------


def _all_gather(input: Tensor, group_size: int, group_name: str) -> Tensor:
    result = _gathered(input, group_size)
    collectives.all_gather_into_tensor(result, input, group_named(group_name))
    return result


def _all_gather_out(input: Tensor, group_size: int, group_name: str, *, out: Tensor) -> Tensor:
    collectives.all_gather_into_tensor(out, input, group_named(group_name))
    return out


def _gathered(input: Tensor, group_size: int, *_: Any) -> Tensor:
    shape = input.shape if input.ndim else (1,)
    return input.new_empty([shape[0] * group_size, *shape[1:]])


def _all_gather_coalesced(
    inputs: Sequence[Tensor], group_size: int, group_name: str
) -> list[Tensor]:
    with group_named(group_name).as_list(inputs):
        return [_all_gather(each, group_size, group_name) for each in inputs]


def _reduce_scatter(input: Tensor, reduce_op: str, group_size: int, group_name: str) -> Tensor:
    result = _scattered(input, reduce_op, group_size)
    op = reduce_op_named(reduce_op)
    collectives.reduce_scatter_tensor(result, input, op, group_named(group_name))
    return result


def _scattered(input: Tensor, reduce_op: str, group_size: int, *_: Any) -> Tensor:
    if not input.ndim or input.shape[0] % group_size:
        raise RuntimeError(
            f"reduce_scatter_tensor: the first dimension of {list(input.shape)} is not divisible by the "
            f"group's size {group_size}"
        )
    return input.new_empty([input.shape[0] // group_size, *input.shape[1:]])


def _reduce_scatter_coalesced(
    inputs: Sequence[Tensor], reduce_op: str, group_size: int, group_name: str
) -> list[Tensor]:
    with group_named(group_name).as_list(inputs):
        return [_reduce_scatter(each, reduce_op, group_size, group_name) for each in inputs]


_define(
    "all_gather_into_tensor(Tensor input, int group_size, str group_name) -> Tensor",
    _all_gather,
    _gathered,
)
_define(
    "all_gather_into_tensor_out(Tensor input, int group_size, str group_name, *, Tensor(a!) out) "
    "-> Tensor(a!)",
    _all_gather_out,
    lambda *_, out: out,
)
_define(
    "all_gather_into_tensor_coalesced(Tensor[] inputs, int group_size, str group_name) -> Tensor[]",
    _all_gather_coalesced,
    lambda inputs, group_size, _: [_gathered(each, group_size) for each in inputs],
)
_define(
    "reduce_scatter_tensor(Tensor input, str reduce_op, int group_size, str group_name) -> Tensor",
    _reduce_scatter,
    _scattered,
)
_define(
    "reduce_scatter_tensor_coalesced(Tensor[] inputs, str reduce_op, int group_size, str group_name) "
    "-> Tensor[]",
    _reduce_scatter_coalesced,
    lambda inputs, reduce_op, size, _: [_scattered(each, reduce_op, size) for each in inputs],
)


def _all_gather_backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    group_size, group_name = ctx.arguments
    found = _ops().reduce_scatter_tensor(grad.contiguous(), "sum", group_size, group_name)
    return found.reshape(ctx.shape), None, None


def _keep_shape(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.arguments, ctx.shape = inputs[1:], inputs[0].shape


def _reduce_scatter_backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    reduce_op, group_size, group_name = ctx.arguments
    _check_linear("reduce_scatter_tensor", reduce_op)
    found = _ops().all_gather_into_tensor(grad.contiguous(), group_size, group_name)
    return found if reduce_op.lower() == "sum" else found / group_size, None, None, None


def _all_gather_coalesced_backward(ctx: Any, grads: Sequence[Tensor]) -> tuple[Any, ...]:
    group_size, group_name = ctx.arguments
    found = _ops().reduce_scatter_tensor_coalesced(
        [g.contiguous() for g in grads], "sum", group_size, group_name
    )
    return [g.reshape(shape) for g, shape in zip(found, ctx.shapes, strict=True)], None, None


def _keep_shapes(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.arguments, ctx.shapes = inputs[1:], [each.shape for each in inputs[0]]


def _reduce_scatter_coalesced_backward(ctx: Any, grads: Sequence[Tensor]) -> tuple[Any, ...]:
    reduce_op, group_size, group_name = ctx.arguments
    _check_linear("reduce_scatter_tensor_coalesced", reduce_op)
    found = _ops().all_gather_into_tensor_coalesced(
        [g.contiguous() for g in grads], group_size, group_name
    )
    share = 1 if reduce_op.lower() == "sum" else group_size
    return [g / share for g in found], None, None, None


_gradient("all_gather_into_tensor", _all_gather_backward, _keep_shape)
_gradient("all_gather_into_tensor_coalesced", _all_gather_coalesced_backward, _keep_shapes)
_gradient("reduce_scatter_tensor", _reduce_scatter_backward, _keep)
_gradient("reduce_scatter_tensor_coalesced", _reduce_scatter_coalesced_backward, _keep)


# ---- all_to_all, broadcast, wait ---------------------------------------------------------------------


def _all_to_all(
    input: Tensor, output_split_sizes: list[int], input_split_sizes: list[int], group_name: str
) -> Tensor:
    result = _exchanged(input, output_split_sizes)
    exchanges.all_to_all_single(
        result, input, output_split_sizes, input_split_sizes, group_named(group_name)
    )
    return result


def _exchanged(input: Tensor, output_split_sizes: list[int], *_: Any) -> Tensor:
    return input.new_empty([sum(output_split_sizes), *input.shape[1:]])


def _broadcast(input: Tensor, src: int, group_name: str) -> Tensor:
    result = input.detach().clone()
    collectives.broadcast(result, group=group_named(group_name), group_src=src)
    return result


def _broadcast_in_place(input: Tensor, src: int, group_name: str) -> Tensor:
    collectives.broadcast(input, group=group_named(group_name), group_src=src)
    return input


_define(
    "all_to_all_single(Tensor input, SymInt[] output_split_sizes, SymInt[] input_split_sizes, "
    "str group_name) -> Tensor",
    _all_to_all,
    _exchanged,
)
_define("broadcast(Tensor input, int src, str group_name) -> Tensor", _broadcast, _like)
_define(
    "broadcast_(Tensor(a!) input, int src, str group_name) -> Tensor(a!)",
    _broadcast_in_place,
    _itself,
)
# The other ops have waited already. Its result is a tensor of its own, as the schema says.
_define("wait_tensor(Tensor tensor) -> Tensor", lambda tensor: tensor.detach().clone(), _like)


def _all_to_all_backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    received, sent, group_name = ctx.arguments
    found = _ops().all_to_all_single(grad.contiguous(), sent, received, group_name)
    return found, None, None, None


def _broadcast_backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    src, group_name = ctx.arguments
    total = _ops().all_reduce(grad.contiguous(), "sum", group_name)
    if group_named(group_name).position != src:
        total = total.new_zeros(total.shape)
    return total, None, None


_gradient("all_to_all_single", _all_to_all_backward, _keep)
_gradient("broadcast", _broadcast_backward, _keep)
_gradient("wait_tensor", lambda ctx, grad: grad, lambda ctx, inputs, output: None)
