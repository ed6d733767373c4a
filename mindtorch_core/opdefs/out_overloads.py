"""``torch.ops.aten.add.out``: the overload that writes into a given tensor, of each op that takes ``out=``.

They are made when they are asked for, and are no entries of the registry: a call is one of the op's
function with ``out=``. Ops with several results have none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dispatch.entry import OpEntry
from ..dispatch.schema import OperatorSchema, parse_schema
from .op_overload import OpOverload, schema_of
from .packets import front

__all__ = ["OutOverload", "out_name", "takes_out"]

# By op and overload, where it is not `out` for the tensors' and `X_out` for an overload X.
_NAMES: Final = {
    "all": "all_out", "any": "all_out", "bucketize.Tensor": "Tensor_out", "div.Tensor_mode": "out_mode",
    "divide.Scalar": "out", "divide.Tensor_mode": "out_mode", "divide.Scalar_mode": "out_mode",
    "linalg_matrix_rank.tol_tensor": "out_tol_tensor", "linalg_pinv.rcond_tensor": "out_rcond_tensor",
    "max": "unary_out", "max.other": "out", "mean": "dtype_out", "min": "unary_out", "min.other": "out",
    "multiply.Scalar": "out", "norm.ScalarOpt_dim_dtype": "dtype_out", "prod.dim_int": "int_out",
    "subtract.Scalar": "out", "sum.dim_IntList": "IntList_out", "true_divide.Scalar": "out",
    "xlogy.Tensor": "OutTensor", "xlogy.Scalar_Other": "OutScalar_Other",
    "xlogy.Scalar_Self": "OutScalar_Self", "empty.memory_format": "out", "range.step": "out",
    **dict.fromkeys(
        ("all.dim", "any.dim", "frobenius_norm.dim", "mean.dim", "norm.ScalarOpt_dim", "std.dim", "var.dim"),
        "out",
    ),
}  # fmt: skip
# Ops whose overload for tensors has a longer name.
_LONGER: Final = {
    "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "clamp",
    "clamp_max", "clamp_min", "eq", "fmod", "ge", "greater", "greater_equal", "gt", "le", "lerp", "less",
    "less_equal", "lt", "ne", "not_equal", "remainder", "searchsorted", "slice_copy",
}  # fmt: skip
_OPTIONS: Final = {"dtype", "layout", "device", "pin_memory"}  # of what makes tensors
_LEFT_OUT: Final = {*_OPTIONS, "requires_grad"}


def takes_out(entry: OpEntry) -> bool:
    """Whether an op has one result, and a form that writes it into a given tensor."""
    d, schema = entry.definition, entry.schema
    if d is None or d.out is None or schema is None:
        return False
    return [str(r.real_type) for r in schema.returns] == ["Tensor"]


def out_name(name: str, overload: str) -> str:
    """What the overload with ``out`` is called that stands beside another one, whose name may be empty."""
    known = _NAMES.get(f"{name}.{overload}" if overload else name)
    short = not overload or (overload == "Tensor" and name not in _LONGER)
    return known or ("out" if short else f"{overload}_out")


class OutOverload(OpOverload):
    """An overload that writes its result into ``out``; ``beside`` names the one that makes it."""

    __slots__ = ("_beside",)

    def __init__(self, packet: Any, name: str, entry: OpEntry, beside: str) -> None:
        super().__init__(packet, name, entry)
        self._beside = beside

    def _first_call(self, /, *args: Any, **kwargs: Any) -> Any:
        self._entry = self._packet._entry(self._beside or "default")
        function = front(self._entry)

        def call(*args: Any, out: Any, **kwargs: Any) -> Any:
            return function(*args, out=out, **kwargs)

        made: Callable[..., Any] = call
        self._call = made
        return made(*args, **kwargs)

    @property
    def _schema(self) -> OperatorSchema:
        if self._parsed is None:
            base = f"{self.namespace}::{self._opname}" + (
                f".{self._beside}" if self._beside else ""
            )
            schema = schema_of(self._entry, base)
            makes = {a.name for a in schema.arguments} >= _OPTIONS
            kept = [a for a in schema.arguments if not (makes and a.name in _LEFT_OUT)]
            texts = [str(a) for a in kept if not a.kwarg_only]
            texts += ["*", *(str(a) for a in kept if a.kwarg_only), "Tensor(a!) out"]
            self._parsed = parse_schema(f"{self.name()}({', '.join(texts)}) -> Tensor(a!)")
        return self._parsed
