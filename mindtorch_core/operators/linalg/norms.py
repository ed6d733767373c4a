"""Norms of vectors and matrices: ``torch.linalg`` and the older ``torch.norm``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dispatch.functions import fn, fn_linalg
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op, public
from ...opdefs.formulas import conj, in_single, unreduce
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, FLOATING, dtype
from ...values.promotion import WIDER, promote_types
from ...values.shapes import reduced, show, wrap_dim, wrap_dims

_INF = float("inf")
_REDUCED = "int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None"


def _computing_dtype(name: str, self: Tensor, wanted: dtype | None) -> dtype:
    """The dtype a norm is taken in; its real counterpart is the result's."""
    own = self._dtype
    if own.category < FLOATING:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {own.label}"
        )
    if wanted is None:
        return own
    if wanted.category < FLOATING:
        raise RuntimeError(
            f"{name}: dtype should be floating point or complex, but got {wanted.label}"
        )
    if (own.category == COMPLEX) != (wanted.category == COMPLEX):
        raise RuntimeError(
            f"{name}: dtype should be {'complex' if own.category == COMPLEX else 'real'} for "
            f"{'complex' if own.category == COMPLEX else 'real'} inputs, but got {wanted.label}"
        )
    if promote_types(own, wanted) is not wanted:
        raise RuntimeError(
            f"{name}: the dtype of the input ({own.label}) should be convertible without narrowing to "
            f"the specified dtype ({wanted.label})"
        )
    return wanted


def _vector_norm_rule(
    self: Tensor,
    ord: Any = 2,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> TensorSpec:
    d = _computing_dtype("linalg.vector_norm", self, dtype)
    if isinstance(ord, complex):
        raise RuntimeError(
            "linalg.vector_norm: Expected a non-complex scalar as the order of norm."
        )
    dims = wrap_dims(dim, len(self._shape))
    if ord < 0 or ord == _INF:
        for at in dims:
            if self._shape and self._shape[at] == 0:
                raise RuntimeError(
                    f"linalg.vector_norm cannot compute the {ord} norm on an empty dimension {at} "
                    "because the operation does not have an identity"
                )
    return TensorSpec(reduced(self._shape, dims, keepdim), d.to_real())


def _vector_norm(
    self: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    spec = _vector_norm_rule(self, ord, dim, keepdim, dtype=dtype)
    d = _computing_dtype("linalg.vector_norm", self, dtype)
    wide = WIDER.get(d, d)
    x = self if self._dtype is wide else self.to(wide)
    dims = wrap_dims(dim, len(self._shape))
    if not dims:
        found = (x != 0).to(x._dtype) if ord == 0 else x.abs()
    else:
        found = _power_mean(x, float(ord), list(dims), keepdim)
    return found if found._dtype is spec.dtype else found.to(spec.dtype)  # type: ignore[no-any-return]


def _power_mean(x: Any, ord: float, dims: list[int], keepdim: bool) -> Any:
    """The norm over at least one dimension."""
    if ord == 0:
        return (x != 0).sum(dims, keepdim).to(x._dtype.to_real())
    if ord == 2:
        if x._dtype.category == COMPLEX:
            squares = x.real * x.real + x.imag * x.imag
        else:
            squares = x * x
        return squares.sum(dims, keepdim).sqrt()
    size = x.abs()
    if ord == _INF:
        return size.amax(dims, keepdim)
    if ord == -_INF:
        return size.amin(dims, keepdim)
    if ord == 1:
        return size.sum(dims, keepdim)
    return (size**ord).sum(dims, keepdim) ** (1 / ord)


def vector_norm_grad(
    g: Any, self: Any, result: Any, self_dtype: Any, ord: Any, dim: Any, keepdim: bool
) -> Any:
    """Gradient of a vector norm; where the norm has a kink or is zero, a subgradient of size 0."""
    shape, p = self._shape, float(ord)
    if p == 0:
        return None
    d = self_dtype
    if result._dtype is not self_dtype.to_real():
        d = result._dtype.to_complex() if d.category == COMPLEX else result._dtype
    x = self if self._dtype is d else self.to(d)
    if not wrap_dims(dim, len(shape)):
        return (x.sgn() * g).to(self_dtype)
    g, norm = unreduce(g, shape, dim, keepdim), unreduce(result, shape, dim, keepdim)
    return _slope(x, p, g, norm, dim).to(self_dtype)


def _slope(x: Any, p: float, g: Any, norm: Any, dim: Any) -> Any:
    if p == 1:
        return x.sgn() * g
    zero = norm == 0
    if p == 2:  # the second derivative at zero does not exist: it comes out as NaN
        return fn.where(zero, 0, x / norm) * g
    safe = fn.where(zero, 1, norm)
    size = x.abs()
    if abs(p) == _INF:
        hit = (size == norm) | (size.isnan() & norm.isnan())
        count = hit.sum(list(wrap_dims(dim, len(x._shape))), True)
        return x.sgn() * hit * (g / count)
    nothing = size == 0
    if p < 1:  # the slope at zero is infinite; the powers are taken apart, as the norm may be 0
        return x.sgn() * fn.where(nothing, 0, size ** (p - 1)) * g * norm ** (1 - p)
    size = fn.where(nothing, 1, size)
    ratio = fn.where(zero, 0, g / safe ** (p - 1))
    return x * fn.where(nothing, 0, size ** (p - 2)) * ratio


op(
    f"linalg_vector_norm(Tensor self, Scalar ord=2, {_REDUCED}) -> Tensor",
    doc="The ``ord``-norm of elements over dimensions (all if ``dim`` is None).",
    rule=_vector_norm_rule,
    grad={
        "self": lambda g, self, result, self_dtype, ord, dim, keepdim: vector_norm_grad(
            g, self, result, self_dtype, ord, dim, keepdim
        )
    },
    decomposition=_vector_norm,
    out=True,
    namespaces=("torch", "linalg:vector_norm"),
    tags=frozenset({"reduction"}),
)


# ---- matrices -----------------------------------------------------------------------------------


def _check_matrix(name: str, self: Tensor, dim: Sequence[int]) -> tuple[int, int]:
    rank = len(self._shape)
    _computing_dtype(name, self, None)
    if rank < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {show(dim)}")
    rows, columns = (wrap_dim(d, rank) for d in dim)
    if rows == columns:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    return rows, columns


def _matrix_norm(
    self: Any,
    ord: Any = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    name = "linalg.matrix_norm"
    rows, columns = _check_matrix(name, self, dim)
    if ord == "fro":
        return fn_linalg.vector_norm(self, 2, [rows, columns], keepdim, dtype=dtype)
    if ord != "nuc" and ord not in (1, -1, 2, -2, _INF, -_INF):
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    d = _computing_dtype(name, self, dtype)
    x = self if self._dtype is d else self.to(d)
    found: Tensor
    if ord in ("nuc", 2, -2):
        found = _by_singular_values(x, ord, rows, columns, keepdim)
        return found
    inner, outer = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = fn_linalg.vector_norm(x, 1, inner, True)
    found = _extreme(sums, ord, outer, True)
    if not keepdim:
        found = _without(found, rows, columns)
    return found


def _extreme(t: Any, ord: float, dim: int, keepdim: bool) -> Any:
    """The largest along a dimension, 0 if it is empty, or the smallest for negative orders."""
    if ord > 0 and not t._shape[dim]:
        return t.sum(dim, keepdim)
    return t.amax(dim, keepdim) if ord > 0 else t.amin(dim, keepdim)


def _without(t: Any, *dims: int) -> Any:
    """Drop dimensions of size 1."""
    for d in sorted(dims, reverse=True):
        t = t.squeeze(d)
    return t


def _by_singular_values(x: Any, ord: Any, rows: int, columns: int, keepdim: bool) -> Any:
    rest = [i for i in range(len(x._shape)) if i not in (rows, columns)]
    values = fn_linalg.svdvals(x.permute([*rest, rows, columns]))
    if ord == "nuc":
        found = values.sum(-1)
    else:
        found = _extreme(values, ord, -1, False)
    if keepdim:
        for d in sorted((rows, columns)):
            found = found.unsqueeze(d)
    return found


op(
    "linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    doc="Norm of matrices: largest (or smallest, if negative) column sum (1), row sum (inf) or singular "
    "value (2).",
    decomposition=_matrix_norm,
    out=True,
    namespaces=("torch", "linalg:matrix_norm"),
)
op(
    "linalg_matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    doc="Norm of matrices: Frobenius (``'fro'``) or the sum of singular values (``'nuc'``).",
    decomposition=_matrix_norm,
    out=True,
    namespaces=("torch", "linalg:matrix_norm"),
)


def _norm(
    self: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    rank = len(self._shape)
    if isinstance(dim, int):
        dim = [dim]
    if dim is not None and len(dim) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {show(dim)}"
        )
    if ord is not None and dim is None and rank not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {rank}D."
        )
    if ord is not None and (len(dim) == 2 if dim is not None else rank == 2):
        return _matrix_norm(self, ord, (0, 1) if dim is None else dim, keepdim, dtype=dtype)
    if isinstance(ord, str):
        raise RuntimeError(f"linalg.norm: Order {ord} not supported for vectors.")
    return fn_linalg.vector_norm(self, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


for _overload, _ord in (("", "Scalar? ord=None"), (".ord_str", "str ord")):
    op(
        f"linalg_norm{_overload}(Tensor self, {_ord}, {_REDUCED}) -> Tensor",
        doc="Norm of vectors (one dimension), of matrices (two dimensions and ``ord``) or of all elements.",
        decomposition=_norm,
        out=True,
        namespaces=("torch", "linalg:norm"),
    )


# ---- torch.norm ---------------------------------------------------------------------------------


@public("torch")
def norm(
    input: Tensor,
    p: float | str | None = "fro",
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: dtype | None = None,
) -> Tensor:
    """Norm of elements over dimensions; `torch.linalg.vector_norm` and `matrix_norm` are clearer.

    Args:
        input: of any shape.
        p: the order; ``fro`` and None mean 2, ``nuc`` the sum of singular values.
        dim: the dimensions that are reduced; by default all.
        keepdim: leave them in the result, with size 1.
        out: where to write the result.
        dtype: what to compute in.

    Raises:
        RuntimeError: for another word.

    Example:
        >>> torch.norm(torch.tensor([3.0, 4.0]))
        tensor(5.)
    """
    if p == "nuc":
        dims = range(len(input._shape)) if dim is None else (dim,) if isinstance(dim, int) else dim
        return fn_linalg.matrix_norm(input, "nuc", tuple(dims), keepdim, dtype=dtype, out=out)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    if p == "fro" and isinstance(dim, list | tuple) and len(dim) > 2:
        raise RuntimeError(
            f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}; a norm over more "
            f"dimensions is that of p=2"
        )
    order = 2 if p in (None, "fro") else p
    return fn_linalg.vector_norm(input, order, dim, keepdim, dtype=dtype, out=out)


@public("Tensor", name="norm")
def norm_method(
    self: Tensor,
    p: float | str | None = "fro",
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: dtype | None = None,
) -> Tensor:
    """Norm of elements over dimensions; see `torch.norm`."""
    return norm(self, p, dim, keepdim, dtype=dtype)


_OLD_DOC = (
    "Norm of elements over dimensions; `torch.linalg.vector_norm` and `matrix_norm` are clearer."
)
for _overload, _rest in (
    ("Scalar", "Scalar p=2"),
    ("ScalarOpt_dim", "Scalar? p, int[1] dim, bool keepdim=False"),
    ("ScalarOpt_dim_dtype", "Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype"),
    ("ScalarOpt_dtype", "Scalar? p, *, ScalarType dtype"),
):
    op(
        f"norm.{_overload}(Tensor self, {_rest}) -> Tensor",
        doc=_OLD_DOC,
        decomposition=lambda self, p=2, dim=None, keepdim=False, *, dtype=None: norm(
            self, p, dim, keepdim, dtype=dtype
        ),
        out=True,
        namespaces=(),
        tags=frozenset({"reduction"}),
    )


def _frobenius(self: Tensor, dim: int | Sequence[int], keepdim: bool = False) -> Any:
    if isinstance(dim, list | tuple) and len(dim) > 2:
        raise RuntimeError(
            f"Expected at most 2 dimensions, but got {len(dim)} dimensions instead. A norm over more "
            f"dimensions is torch.linalg.vector_norm"
        )
    return norm(self, 2, dim, keepdim)


op(
    "frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    doc="Square root of the sum of squares over dimensions.",
    decomposition=_frobenius,
    out=True,
    namespaces=("torch",),
)
for _overload, _dims in (("", ""), (".dim", "int[2] dim, ")):
    op(
        f"nuclear_norm{_overload}(Tensor self, {_dims}bool keepdim=False) -> Tensor",
        doc="Sum of the singular values of matrices.",
        decomposition=(
            (lambda self, dim, keepdim=False: norm(self, "nuc", dim, keepdim))
            if _dims
            else (lambda self, keepdim=False: norm(self, "nuc", (-2, -1), keepdim))
        ),
        out=True,
        namespaces=("torch",),
    )


# ---- norms kept below a limit -------------------------------------------------------------------


def _norms_across(self: Tensor, p: Any, dim: int) -> tuple[Any, list[int]]:
    """The norm of each slice along a dimension, and the dimensions over which it is taken."""
    at = wrap_dim(dim, len(self._shape))
    others = [i for i in range(len(self._shape)) if i != at]
    return fn.linalg_vector_norm(self, p, others, True), others


def _renorm(self: Any, p: Any, dim: int, maxnorm: Any) -> Tensor:
    rank = len(self._shape)
    if rank < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {rank} dimensions")
    if p <= 0:
        raise RuntimeError(f"renorm: non-positive norm {p} not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    norm, _ = _norms_across(self, p, dim)
    return self * fn.where(norm > maxnorm, maxnorm / (norm + 1e-7), 1)  # type: ignore[no-any-return]


def _renorm_grad(g: Any, self: Any, p: Any, dim: int, maxnorm: Any) -> Any:
    """Slices that are not above the limit hand theirs on as it is, whatever their norm's would be."""
    d = self._dtype
    wide = WIDER.get(d, d)
    if wide is not d:
        g, self = g.to(wide), self.to(wide)
    norm, others = _norms_across(self, p, dim)
    scale = 1 / (norm + 1e-7)
    along = (g * conj(self)).sum(others, True)
    along = along.real if wide.category == COMPLEX else along
    slope = vector_norm_grad(along, self, norm, wide, p, others, True)
    limited = fn.where(norm > maxnorm, maxnorm * scale * (g - scale * slope), g)
    return limited.to(d)


op(
    "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
    doc="Slices along a dimension, scaled down where their ``p``-norm is above ``maxnorm``.",
    grad={"self": _renorm_grad},
    decomposition=in_single(_renorm),
    inplace=True,
    out=True,
)
