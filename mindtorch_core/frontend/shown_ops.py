"""What handlers of ops are shown where PyTorch's name or overload of a call is another one than ours.

Programs ask ``func is torch.ops.aten._to_copy.default``. What is shown can be called, with the arguments that
stand beside it, and does the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..gradients.grad_mode import is_inference_mode_enabled
from ..opdefs.torch_ops import OpOverload, ops
from ..tensors.tensor import Tensor

__all__ = ["WHOLE", "shown"]

# Compositions that are shown whole where no gradient is recorded: masks are not positions yet.
WHOLE: Final = frozenset(
    f"aten::{name}"
    for name in (
        "index", "index_put", "index_put_", "masked_select", "_sparse_mm_reduce_impl", "rand", "randn",
        "rand_like", "randn_like", "aminmax",
    )
)  # fmt: skip

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


def _in_one_dtype(func: OpOverload, args: Args, kwargs: dict[str, Any]) -> Shown | None:
    """For a softmax, whose kernel takes no dtype."""
    values = dict(zip(("self", "dim", "dtype"), args, strict=False)) | kwargs
    name = f"_{func.overloadpacket.__name__}.default"
    if values.get("dtype") is not None or is_inference_mode_enabled():
        return None
    return name, (values["self"], values["dim"], False), {}


def _counted(_: OpOverload, args: Args, kwargs: dict[str, Any]) -> Shown | None:
    """For the numbers from 0 on."""
    values = dict(zip(("start", "end", "step"), args, strict=False)) | kwargs
    if values.pop("start") or values.pop("step", 1) != 1:
        return None
    return "arange.default", (values.pop("end"),), values


def _ordered(_: OpOverload, args: Args, kwargs: dict[str, Any]) -> Shown | None:
    """For a sort of which nobody asks that it be stable."""
    if kwargs.get("stable"):
        return None
    along = [kwargs.get("dim", -1), kwargs.get("descending", False)]
    while along and along[-1] == (-1, False)[len(along) - 1]:
        along.pop()
    return "sort.default", (*args, *along), {}


_OF_NUMBERS: Final = ("rsub", "eq", "ne", "lt", "le", "gt", "ge", "remainder", "fmod", "pow", *(
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
    "aten::softmax": _in_one_dtype,
    "aten::log_softmax": _in_one_dtype,
    "aten::arange.start": _counted,
    "aten::sort.stable": _ordered,
    "aten::bernoulli_p_": _named("bernoulli_.float"),
    **{f"aten::{name}": _along for name in ("sum", "mean", "prod", "all", "any")},
}
