"""What handlers of ops are shown where PyTorch's name or overload of a call is another one than ours.

Programs ask ``func is torch.ops.aten._to_copy.default``. What is shown can be called, with the arguments that
stand beside it, and does the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..opdefs.torch_ops import OpOverload, ops
from ..tensors.tensor import Tensor

__all__ = ["shown"]

Args = tuple[Any, ...]
Shown = tuple[str, Args, dict[str, Any]]  # name and overload, and the arguments


def shown(func: OpOverload, args: Args, kwargs: dict[str, Any]) -> tuple[OpOverload, Args, Any]:
    """A call as PyTorch would name it."""
    make = _SHOWN.get(func._entry.name)
    found = None if make is None else make(args, kwargs)
    if found is None:
        return func, args, kwargs
    base, _, own = found[0].partition(".")
    return getattr(getattr(ops.aten, base), own), *found[1:]


def _copied(option: str) -> Callable[[Args, dict[str, Any]], Shown]:
    def call(args: Args, kwargs: dict[str, Any]) -> Shown:
        values = dict(zip(("self", option), args, strict=False)) | kwargs
        return "_to_copy.default", (values.pop("self"),), values

    return call


def _named(name: str) -> Callable[[Args, dict[str, Any]], Shown]:
    return lambda args, kwargs: (name, args, kwargs)


def _of_number(name: str, operand: str = "other") -> Callable[[Args, dict[str, Any]], Shown | None]:
    """For an op of a tensor and a number, whose argument has that name."""

    def call(args: Args, kwargs: dict[str, Any]) -> Shown | None:
        second = args[1] if len(args) > 1 else kwargs.get(operand)
        return None if isinstance(second, Tensor) else (name, args, kwargs)

    return call


def _along(name: str, *, several: bool = False) -> Callable[[Args, dict[str, Any]], Shown | None]:
    """For a reduction along a dimension, or several: then a number is a list of one."""

    def call(args: Args, kwargs: dict[str, Any]) -> Shown | None:
        values = dict(zip(("self", "dim", "keepdim"), args, strict=False)) | kwargs
        dim = values.get("dim")
        if dim is None:
            return None
        values["dim"] = [dim] if several and isinstance(dim, int) else dim
        first = [values.pop(n) for n in ("self", "dim", "keepdim") if n in values]
        return name, tuple(first), values

    return call


def _product(args: Args, kwargs: dict[str, Any]) -> Shown | None:
    """For a product that PyTorch has an op of its own for, by the number of dimensions."""
    if len(args) != 2:
        return None
    ranks = len(args[0]._shape), len(args[1]._shape)
    name = {(2, 2): "mm.default", (2, 1): "mv.default", (1, 1): "dot.default"}.get(ranks)
    if ranks == (3, 3) and args[0]._shape[0] == args[1]._shape[0]:
        name = "bmm.default"
    return None if name is None else (name, args, kwargs)


# By the op's name; what is None is shown as it is.
_SHOWN: Final[dict[str, Callable[[Args, dict[str, Any]], Shown | None]]] = {
    "aten::_to_dtype": _copied("dtype"),
    "aten::_to_device": _copied("device"),
    "aten::_index_positions": _named("index.Tensor"),
    "aten::_index_put_positions": _named("index_put.default"),
    "aten::_index_put_positions_": _named("index_put_.default"),
    **{
        f"aten::{name}{end}": _of_number(f"{name}{end}.Scalar")
        for name in ("eq", "ne", "lt", "le", "gt", "ge", "remainder", "fmod")
        for end in ("", "_")
    },
    **{
        f"aten::bitwise_{name}{end}": _of_number(f"bitwise_{name}{end}.Scalar")
        for name in ("and", "or", "xor")
        for end in ("", "_")
    },
    "aten::matmul": _product,
    "aten::pow": _of_number("pow.Tensor_Scalar", "exponent"),
    "aten::pow_": _of_number("pow_.Scalar", "exponent"),
    "aten::sum": _along("sum.dim_IntList", several=True),
    "aten::mean": _along("mean.dim", several=True),
    "aten::prod": _along("prod.dim_int"),
    "aten::all": _along("all.dim"),
    "aten::any": _along("any.dim"),
}
