"""What handlers of ops are shown where PyTorch's name or overload of a call is another one than ours.

Programs ask ``func is torch.ops.aten._to_copy.default``. What is shown can be called, with the arguments that
stand beside it, and does the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..opdefs.torch_ops import OpOverload, ops
from ..tensors.tensor import Tensor

__all__ = ["WHOLE", "shown"]

# Compositions that are shown whole where no gradient is recorded: masks are not positions yet.
WHOLE: Final = frozenset(
    f"aten::{name}"
    for name in ("index", "index_put", "index_put_", "masked_select", "_sparse_mm_reduce_impl")
)

Args = tuple[Any, ...]
Shown = tuple[str, Args, dict[str, Any]]  # name and overload, and the arguments


def shown(func: OpOverload, args: Args, kwargs: dict[str, Any]) -> tuple[OpOverload, Args, Any]:
    """A call as PyTorch would name it."""
    make = _SHOWN.get(func._entry.name)
    found = None if make is None else make(func, args, kwargs)
    if found is None:
        return func, args, kwargs
    base, _, own = found[0].partition(".")
    return getattr(getattr(ops.aten, base), own), *found[1:]


def _copied(option: str) -> Callable[[OpOverload, Args, dict[str, Any]], Shown]:
    def call(_: OpOverload, args: Args, kwargs: dict[str, Any]) -> Shown:
        values = dict(zip(("self", option), args, strict=False)) | kwargs
        return "_to_copy.default", (values.pop("self"),), values

    return call


def _named(name: str) -> Callable[[OpOverload, Args, dict[str, Any]], Shown]:
    return lambda _, args, kwargs: (name, args, kwargs)


def _of_number(func: OpOverload, args: Args, kwargs: dict[str, Any]) -> Shown | None:
    """For an op of a tensor and a number, which has an overload."""
    if any(isinstance(each, Tensor) for each in (*args[1:], *kwargs.values())):
        return None
    packet = func.overloadpacket
    own = "Tensor_Scalar" if "Tensor_Scalar" in packet.overloads() else "Scalar"
    return f"{packet.__name__}.{own}", args, kwargs


def _filled(func: OpOverload, args: Args, kwargs: dict[str, Any]) -> Shown | None:
    """For a number that is put where a mask holds."""
    value = kwargs["value"] if "value" in kwargs else args[-1]
    name = f"{func.overloadpacket.__name__}.Scalar"
    return None if isinstance(value, Tensor) else (name, args, kwargs)


def _along(func: OpOverload, args: Args, kwargs: dict[str, Any]) -> Shown | None:
    """For a reduction along dimensions; one alone is a list where the overload is for both."""
    values = dict(zip(("self", "dim", "keepdim"), args, strict=False)) | kwargs
    dim = values.get("dim")
    if dim is None:
        return None
    packet = func.overloadpacket
    _, own, *more = packet.overloads()
    if more and not isinstance(dim, int):
        own = more[0]
    elif not more and own != "dim_int" and isinstance(dim, int):
        values["dim"] = [dim]
    first = [values.pop(n) for n in ("self", "dim", "keepdim") if n in values]
    return f"{packet.__name__}.{own}", tuple(first), values


def _product(_: OpOverload, args: Args, kwargs: dict[str, Any]) -> Shown | None:
    """For a product that PyTorch has an op of its own for, by the number of dimensions."""
    if len(args) != 2:
        return None
    ranks = len(args[0]._shape), len(args[1]._shape)
    name = {(2, 2): "mm.default", (2, 1): "mv.default", (1, 1): "dot.default"}.get(ranks)
    if ranks == (3, 3) and args[0]._shape[0] == args[1]._shape[0]:
        name = "bmm.default"
    return None if name is None else (name, args, kwargs)


_OF_NUMBERS: Final = ("eq", "ne", "lt", "le", "gt", "ge", "remainder", "fmod", "pow", *(
    f"bitwise_{name}" for name in ("and", "or", "xor")
))  # fmt: skip

# By the op's name; what is None is shown as it is.
_SHOWN: Final[dict[str, Callable[[OpOverload, Args, dict[str, Any]], Shown | None]]] = {
    "aten::_to_dtype": _copied("dtype"),
    "aten::_to_device": _copied("device"),
    **{f"aten::{name}": _named("index.Tensor") for name in ("index", "_index_positions")},
    "aten::_index_put_positions": _named("index_put.default"),
    "aten::_index_put_positions_": _named("index_put_.default"),
    **{f"aten::{name}{end}": _of_number for name in _OF_NUMBERS for end in ("", "_")},
    **{f"aten::masked_fill{end}": _filled for end in ("", "_")},
    "aten::matmul": _product,
    **{f"aten::{name}": _along for name in ("sum", "mean", "prod", "all", "any")},
}
