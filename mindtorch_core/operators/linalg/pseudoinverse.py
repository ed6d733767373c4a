"""Pseudoinverses, ranks, condition numbers and least squares, by singular values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ...dispatch.functions import fn, fn_linalg
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, finfo, float64, int64
from ...values.shapes import broadcast, show
from .matrices import adjoint, check_floating, check_matrix, check_square, is_empty

# ---- tolerances ---------------------------------------------------------------------------------


def _tolerances(name: str, self: Tensor, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """Absolute and relative tolerance of singular values, as tensors.

    Without either, values below the largest times ``eps * max(rows, columns)`` count as zero.
    """
    for label, value in (("atol", atol), ("rtol", rtol)):
        if isinstance(value, Tensor) and value._dtype.category == COMPLEX:
            raise RuntimeError(
                f"{name}: {label} tensor of complex type is not supported. Got {value._dtype.label}"
            )
    like = {"dtype": float64 if self._dtype.itemsize >= 8 else self._dtype.to_real()}
    where = {"device": self._device}
    default = finfo(self._dtype.to_real()).eps * max(self._shape[-2:])

    def made(value: Any) -> Any:
        return value if isinstance(value, Tensor) else fn.full((), value, **like, **where)

    if rtol is None:
        if atol is None:
            rtol = default
        else:  # a given absolute tolerance alone decides
            rtol = fn.where(made(atol) > 0, 0.0, default)
    return made(0.0 if atol is None else atol), made(rtol)


def _counted(name: str, self: Tensor, atol: Any, rtol: Any, values: Any) -> Any:
    """Which singular values are above the tolerance."""
    atol, rtol = _tolerances(name, self, atol, rtol)
    largest = values.amax(-1)
    bound = fn.maximum(atol.to(largest._dtype), rtol.to(largest._dtype) * largest)
    return values > bound.unsqueeze(-1)


# ---- pseudoinverse ------------------------------------------------------------------------------


def _pinv(self: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    name = "linalg.pinv"
    check_matrix(name, self)
    check_floating(name, self)
    *batch, m, n = self._shape
    if is_empty(self):
        return self.new_empty((*batch, n, m)) if min(m, n) == 0 or 0 in batch else self
    if hermitian:
        check_square(name, self)
        values, vectors = fn_linalg.eigh(self)
        kept = _counted(name, self, atol, rtol, values.abs())
        inverse = fn.where(kept, fn.where(kept, values, 1).reciprocal(), 0)
        return (vectors * inverse.unsqueeze(-2)).matmul(adjoint(vectors))
    u, values, vh = fn_linalg.svd(self, False)
    kept = _counted(name, self, atol, rtol, values)
    inverse = fn.where(kept, fn.where(kept, values, 1).reciprocal(), 0)
    return (adjoint(vh) * inverse.unsqueeze(-2)).matmul(adjoint(u))


def _pinv_backward(g: Any, self: Any, result: Any) -> Any:
    """Gradient at constant rank (Golub and Pereyra, 1973)."""
    p, ph, gh = result, adjoint(result), adjoint(g)
    inner = gh.matmul(p).matmul(ph)
    outer = ph.matmul(p).matmul(gh)
    first = ph.matmul(g).matmul(ph)
    return inner - self.matmul(p).matmul(inner) + outer - outer.matmul(p).matmul(self) - first


def _pinv_rule(
    self: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False
) -> TensorSpec:
    check_matrix("linalg.pinv", self)
    check_floating("linalg.pinv", self)
    *batch, m, n = self._shape
    return TensorSpec((*batch, n, m), self._dtype)


_PINV = "Pseudoinverse (Moore and Penrose): singular values below a tolerance count as zero"
op(
    "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, "
    "bool hermitian=False) -> Tensor",
    doc=f"{_PINV}.",
    rule=_pinv_rule,
    grad={"self": _pinv_backward},
    decomposition=_pinv,
    out=True,
    namespaces=("linalg:pinv",),
    out_needs=("cast",),
)


def _pinv_with(self: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    """The op with tolerances as tensors, which has the gradient."""
    _pinv_rule(self)
    atol, rtol = _tolerances("linalg.pinv", self, atol, rtol)
    return fn_linalg.pinv(self, atol=atol, rtol=rtol, hermitian=hermitian)


_PINV_FORMS: Final[Sequence[tuple[str, Callable[..., Any]]]] = (
    (
        "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, "
        "bool hermitian=False)",
        _pinv_with,
    ),
    (
        "linalg_pinv(Tensor self, float rcond, bool hermitian=False)",
        lambda self, rcond, hermitian=False: _pinv_with(
            self, atol=0.0, rtol=rcond, hermitian=hermitian
        ),
    ),
    (
        "linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False)",
        lambda self, rcond, hermitian=False: _pinv_with(
            self, atol=0.0, rtol=rcond, hermitian=hermitian
        ),
    ),
)
for _schema, _made in _PINV_FORMS:
    op(
        f"{_schema} -> Tensor",
        doc=f"{_PINV}, relative to the largest.",
        decomposition=_made,
        out=True,
        out_needs=("cast",),
        namespaces=("linalg:pinv",),
    )
op(
    "pinverse(Tensor self, float rcond=1e-15) -> Tensor",
    doc="Pseudoinverse; `torch.linalg.pinv` is the newer form.",
    decomposition=lambda self, rcond=1e-15: _pinv_with(self, atol=0.0, rtol=rcond),
)

# ---- ranks --------------------------------------------------------------------------------------


def _rank(input: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    name = "torch.linalg.matrix_rank"
    check_matrix(name, input, "input")
    check_floating(name, input)
    if is_empty(input):
        return fn.zeros(input._shape[:-2], dtype=int64, device=input._device)
    input = input.detach()
    values = fn_linalg.eigvalsh(input).abs() if hermitian else fn_linalg.svdvals(input)
    return _counted(name, input, atol, rtol, values).sum(-1)


_BY_RANK = "(Tensor {0}, {1}bool hermitian=False) -> Tensor"
_RANK_FORMS: Final[Sequence[tuple[str, str, str, Callable[..., Any]]]] = (
    (".atol_rtol_tensor", "input", "*, Tensor? atol=None, Tensor? rtol=None, ", _rank),
    (
        ".atol_rtol_float",
        "self",
        "*, float? atol=None, float? rtol=None, ",
        lambda self, **options: _rank(self, **options),
    ),
    (
        "",
        "self",
        "float tol, ",
        lambda self, tol, hermitian=False: _rank(self, atol=tol, rtol=0.0, hermitian=hermitian),
    ),
    (
        ".tol_tensor",
        "input",
        "Tensor tol, ",
        lambda input, tol, hermitian=False: _rank(input, atol=tol, rtol=0.0, hermitian=hermitian),
    ),
)
for _overload, _name, _arguments, _made in _RANK_FORMS:
    op(
        f"linalg_matrix_rank{_overload}" + _BY_RANK.format(_name, _arguments),
        doc="How many singular values are above a tolerance.",
        decomposition=_made,
        grad="nondiff",
        out=True,
        out_needs=("cast",),
        namespaces=("linalg:matrix_rank",),
    )

# ---- condition numbers --------------------------------------------------------------------------


def _cond(self: Tensor, p: Any = None) -> Any:
    name = "linalg.cond"
    check_matrix(name, self)
    check_floating(name, self)
    if p is None or (not isinstance(p, str) and abs(p) == 2):
        if is_empty(self):
            return self.new_zeros(self._shape[:-2], dtype=self._dtype.to_real())
        values = fn_linalg.svdvals(self)
        first, last = values.select(-1, 0), values.select(-1, values._shape[-1] - 1)
        return last / first if p == -2 else first / last
    if isinstance(p, str):
        if p not in ("fro", "nuc"):
            raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    elif abs(p) not in (1, float("inf")):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    check_square(name, self)
    if is_empty(self):
        return self.new_zeros(self._shape[:-2], dtype=self._dtype.to_real())
    if p == "nuc":
        values = fn_linalg.svdvals(self)
        return values.sum(-1) * values.reciprocal().sum(-1)
    inverse, info = fn_linalg.inv_ex(self)
    product = _norm(self, p) * _norm(inverse, p)
    return fn.where(info > 0, float("inf"), product)


def _norm(t: Any, p: Any) -> Any:
    size = t.abs()
    if p == "fro":
        return (size * size).sum((-2, -1)).sqrt()
    sums = size.sum(-2 if abs(p) == 1 else -1)
    return sums.amax(-1) if p > 0 else sums.amin(-1)


for _schema in (
    "linalg_cond(Tensor self, Scalar? p=None)",
    "linalg_cond.p_str(Tensor self, str p)",
):
    op(
        f"{_schema} -> Tensor",
        doc="Condition number: the norm of a matrix times the norm of its inverse; by default the largest "
        "over the smallest singular value.",
        decomposition=_cond,
        out=True,
        out_needs=("cast",),
        namespaces=("linalg:cond",),
    )

# ---- least squares ------------------------------------------------------------------------------

_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _check_lstsq(self: Tensor, b: Tensor, driver: str) -> bool:
    """Refuse arguments that do not fit; whether b holds one vector per matrix."""
    name = "torch.linalg.lstsq"
    if len(self._shape) < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if not b._shape:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if self._dtype is not b._dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype "
            f"{self._dtype} and other's dtype {b._dtype}"
        )
    check_floating(name, self)
    if driver not in _DRIVERS:
        raise RuntimeError(
            f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got {driver!r}"
        )
    vector = len(b._shape) == 1 or (
        len(self._shape) - 1 == len(b._shape) and self._shape[:-1] == b._shape
    )
    if self._shape[-2] != b._shape[-1 if vector else -2]:
        raise RuntimeError(
            f"{name}: input.size(-2) should match other.size({-1 if vector else -2}), got shapes "
            f"{show(self._shape)} and {show(b._shape)}"
        )
    return vector


def _real_part(t: Any) -> Any:
    return t.real if t.is_complex() else t


def _lstsq(
    self: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> tuple[Any, Any, Any, Any]:
    driver = driver or "gelsy"
    vector = _check_lstsq(self, b, driver)
    right: Any = b.unsqueeze(-1) if vector else b
    *_, m, n = self._shape
    batch = broadcast(self._shape[:-2], right._shape[:-2])
    if rcond is None:
        rcond = finfo(self._dtype.to_real()).eps * max(m, n)
    nothing = right.new_empty((0,), dtype=self._dtype.to_real())
    matrix: Any = self.expand((*batch, m, n))
    if is_empty(matrix) or is_empty(right):
        rank = fn.zeros(self._shape[:-2], dtype=int64, device=self._device)
        solution = right.new_zeros((*batch, n, right._shape[-1]))
        values = right.new_zeros((*self._shape[:-2], 0), dtype=self._dtype.to_real())
    else:
        solution = _pinv_with(matrix, rtol=rcond).matmul(right)
        values = fn_linalg.svdvals(self.detach())
        rank = (values > values.amax(-1, keepdim=True) * rcond).sum(-1)
    # They are part of the graph even where there are none.
    residuals = _real_part(solution).reshape(-1).narrow(0, 0, 0).clone()
    if m > n and driver != "gelsy" and (driver == "gels" or bool((rank == n).all())):
        off = right - matrix.matmul(solution)
        residuals = _real_part(off * off.conj()).sum(-2)
    if vector:
        solution = solution.squeeze(-1)
    if driver == "gels":
        rank = rank.new_empty((0,))
    return solution, residuals, rank, values if driver in ("gelsd", "gelss") else nothing


op(
    "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) "
    "-> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    doc="The smallest ``X`` for which ``A @ X`` is nearest to B; the sums of squares that remain (if all "
    "matrices have full rank), the ranks, and the singular values ('gelsd' and 'gelss').",
    decomposition=_lstsq,
    out=True,
    namespaces=("linalg:lstsq",),
    tags=frozenset({"dynamic_output_shape"}),
)
