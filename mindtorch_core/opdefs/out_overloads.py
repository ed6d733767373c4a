"""``torch.ops.aten.add.out``: the overload that writes into given tensors, of each op that takes ``out=``.

They are made when they are asked for, and are no entries of the registry: a call is one of the op's
function with ``out=``, which for several results is a tuple of what they are written into.
"""

from __future__ import annotations

from collections.abc import Callable
from string import ascii_lowercase
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
    "fractional_max_pool2d": "output", "fractional_max_pool3d": "output", "geqrf": "a", "kthvalue": "values",
    "linalg_cholesky_ex": "L", "linalg_eigh": "eigvals", "linalg_inv_ex": "inverse", "linalg_svd": "U",
    "max.dim": "dim_max", "median.dim": "dim_values", "min.dim": "dim_min", "mode": "values",
    "nanmedian.dim": "dim_values", "qr": "Q", "sort": "values", "sort.stable": "values_stable", "svd": "U",
    "topk": "values", "triangular_solve": "X",
    **dict.fromkeys(
        ("all.dim", "any.dim", "frobenius_norm.dim", "mean.dim", "norm.ScalarOpt_dim", "std.dim", "var.dim"),
        "out",
    ),
}  # fmt: skip
# Ops whose overload for tensors has a longer name.
_LONGER: Final = {
    "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "clamp",
    "clamp_max", "clamp_min", "eq", "fmod", "frexp", "ge", "greater", "greater_equal", "gt", "le", "lerp",
    "less", "less_equal", "lt", "ne", "not_equal", "remainder", "searchsorted", "slice_copy", "split_copy",
}  # fmt: skip
# What is written, where several tensors are and the results are called something else.
_WRITTEN: Final = {
    "_batch_norm_with_update": ("out", "save_mean", "save_invstd", "reserve"),
    "adaptive_max_pool2d": ("out", "indices"), "adaptive_max_pool3d": ("out", "indices"),
    "fractional_max_pool2d": ("output", "indices"), "fractional_max_pool3d": ("output", "indices"),
    "linalg_eigh": ("eigvals", "eigvecs"), "max": ("max", "max_values"), "min": ("min", "min_indices"),
    "triangular_solve": ("X", "M"),
    **dict.fromkeys(("_native_batch_norm_legit", "native_batch_norm"), ("out", "save_mean", "save_invstd")),
}  # fmt: skip
_OPTIONS: Final = {"dtype", "layout", "device", "pin_memory"}  # of what makes tensors
_LEFT_OUT: Final = {*_OPTIONS, "requires_grad"}


def takes_out(entry: OpEntry) -> bool:
    """Whether an op has a form that writes its results into given tensors."""
    d = entry.definition
    return d is not None and d.out is not None and entry.schema is not None


def out_name(name: str, overload: str) -> str:
    """What the overload with ``out`` is called that stands beside another one, whose name may be empty."""
    known = _NAMES.get(f"{name}.{overload}" if overload else name)
    short = not overload or (overload == "Tensor" and name not in _LONGER)
    return known or ("out" if short else f"{overload}_out")


def _written(name: str, schema: OperatorSchema) -> tuple[str, ...]:
    """The names of what an op's results are written into."""
    if len(schema.returns) == 1:
        return ("out",)
    return _WRITTEN.get(name) or tuple(str(r.name) for r in schema.returns)


def _schema_with(outputs: tuple[str, ...], name: str, schema: OperatorSchema) -> OperatorSchema:
    """The schema of an op's overload, with what it writes last."""
    makes = {a.name for a in schema.arguments} >= _OPTIONS
    kept = [a for a in schema.arguments if not (makes and a.name in _LEFT_OUT)]
    texts = [str(a) for a in kept if not a.kwarg_only]
    texts += ["*", *(str(a) for a in kept if a.kwarg_only)]
    letters = (a for a in ascii_lowercase if f"({a}!)" not in "".join(texts))
    kinds = [f"Tensor({letter}!)" for letter, _ in zip(letters, outputs, strict=False)]
    if str(schema.returns[0].real_type) != "Tensor":  # one list of them
        texts.append(f"{kinds[0]}[] {outputs[0]}")
        returned = "()"
    else:
        texts += [f"{kind} {output}" for kind, output in zip(kinds, outputs, strict=True)]
        results = [
            f"{kind} {r.name}".rstrip() for kind, r in zip(kinds, schema.returns, strict=True)
        ]
        returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return parse_schema(f"{name}({', '.join(texts)}) -> {returned}")


class OutOverload(OpOverload):
    """An overload that writes its results into arguments; ``beside`` names the one that makes them."""

    __slots__ = ("_beside",)

    def __init__(self, packet: Any, name: str, entry: OpEntry, beside: str) -> None:
        super().__init__(packet, name, entry)
        self._beside = beside

    def _first_call(self, /, *args: Any, **kwargs: Any) -> Any:
        self._entry = self._packet._entry(self._beside or "default")
        function = front(self._entry)
        written = _written(self._opname, self._entry.needed_schema)
        lists = str(self._entry.needed_schema.returns[0].real_type) != "Tensor"

        def call(*args: Any, out: Any, **kwargs: Any) -> Any:
            result = function(*args, out=out, **kwargs)
            return None if lists else result

        def call_several(*args: Any, **kwargs: Any) -> Any:
            if not kwargs.keys() >= {*written}:
                raise TypeError("an output is missing")  # which one is found by the schema
            out = tuple(kwargs.pop(name) for name in written)
            return function(*args, out=out, **kwargs)

        made: Callable[..., Any] = call if len(written) == 1 else call_several
        self._call = made
        return made(*args, **kwargs)

    @property
    def _schema(self) -> OperatorSchema:
        if self._parsed is None:
            base = f"{self.namespace}::{self._opname}" + (
                f".{self._beside}" if self._beside else ""
            )
            schema = schema_of(self._entry, base)
            outputs = _written(self._opname, schema)
            self._parsed = _schema_with(outputs, self.name(), schema)
        return self._parsed
