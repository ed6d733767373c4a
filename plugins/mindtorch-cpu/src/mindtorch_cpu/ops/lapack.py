"""Matrix factorizations by LAPACK, through NumPy where it takes batches and SciPy where not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import LinAlgError, check_lapack, int32

from ..arrays import quietly, wrap
from ..register import kernel, rule_of

_PREFIX: Final = {"f": "s", "d": "d", "F": "c", "D": "z"}


def routine(name: str, a: Any) -> Callable[..., Any]:
    """SciPy's wrapper of a LAPACK routine for an array's dtype."""
    from scipy.linalg import lapack

    found: Callable[..., Any] = getattr(lapack, _PREFIX[a.dtype.char] + name)
    return found


def real_or_complex(real: str, complex_: str, a: Any) -> Callable[..., Any]:
    """The routine for real or for complex matrices."""
    return routine(complex_ if a.dtype.kind == "c" else real, a)


def matrices(a: Any) -> Any:
    """Batches in one dimension."""
    return a.reshape(-1, *a.shape[-2:])


def dense(a: Any) -> Any:
    """An array in row-major order."""
    return np.ascontiguousarray(a)


def info_of(codes: Any, shape: tuple[int, ...]) -> Any:
    """LAPACK's codes as a tensor."""
    return wrap(np.array(codes, np.int32).reshape(shape), int32)


def _all_at_once(fn: Callable[..., Any], *args: Any) -> Any:
    """What one of NumPy's functions makes of all matrices; None if it fails for any."""
    try:
        return fn(*args)
    except np.linalg.LinAlgError:
        return None


# ---- Cholesky -----------------------------------------------------------------------------------


@kernel("linalg_cholesky_ex")
def cholesky_ex(self: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    """NumPy's factorization of all matrices; one by one if that fails for any."""
    rule_of("linalg_cholesky_ex")(self)
    a, d = self.raw_data, self.raw_dtype
    a = a.conj().swapaxes(-1, -2) if upper else a
    codes: Any = np.zeros(a.shape[:-2], np.int32)
    low = _all_at_once(np.linalg.cholesky, a)
    if low is None or not _is_definite(low):
        low = np.empty(a.shape, a.dtype)
        codes = [_potrf(x, out) for x, out in zip(matrices(a), matrices(low), strict=True)]
        if check_errors:
            check_lapack("linalg.cholesky", "cholesky", codes, a.ndim > 2)
    if upper:
        low = low.conj().swapaxes(-1, -2)
    return wrap(dense(low), d), info_of(codes, a.shape[:-2])


def _potrf(a: Any, out: Any) -> int:
    found, code = routine("potrf", a)(a, lower=1, clean=1)
    out[...] = found
    return int(code) if _is_definite(found) else quietly(_by_columns, a, out)


def _is_definite(low: Any) -> bool:
    """Whether no root is infinite or NaN: OpenBLAS goes on past these without a code."""
    return bool(np.isfinite(low.diagonal(0, -2, -1)).all())


def _by_columns(a: Any, low: Any) -> int:
    """What LAPACK makes of a matrix that is not finite, up to the first pivot that is not positive."""
    low[...] = np.tril(a)
    for j in range(len(a)):
        low[j:, j] -= low[j:, :j] @ low[j, :j].conj()
        if not low[j, j].real > 0:
            return j + 1
        low[j, j] = np.sqrt(low[j, j].real)
        low[j + 1 :, j] /= low[j, j]
    return 0


# ---- LU -----------------------------------------------------------------------------------------


@kernel("linalg_lu_factor_ex")
def lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """Matrix by matrix."""
    spec, pivots_spec, _ = rule_of("linalg_lu_factor_ex")(A, pivot=pivot)
    a = A.raw_data
    factors = np.empty(spec.shape, a.dtype)
    pivots = np.empty(pivots_spec.shape, np.int32)
    codes = [0] * int(np.prod(a.shape[:-2]))
    if a.size:
        getrf = routine("getrf", a)
        flat, order = matrices(factors), pivots.reshape(-1, pivots.shape[-1])
        for i, x in enumerate(matrices(a)):
            flat[i], places, codes[i] = getrf(x)
            order[i] = places + 1
    if check_errors:
        check_lapack("torch.linalg.lu_factor", "lu", codes, a.ndim > 2)
    return wrap(factors, A.raw_dtype), wrap(pivots, int32), info_of(codes, a.shape[:-2])


def _check_exchanges(pivots: Any, rows: int, source: str) -> None:
    """Refuse places outside a matrix.

    Raises:
        RuntimeError: if there is one.
    """
    if pivots.size and not 1 <= pivots.min() <= pivots.max() <= rows:
        raise RuntimeError(
            f"pivots must all be greater or equal to 1 and smaller or equal to the matrix's number of "
            f"rows, which is {rows}. Did you properly pass the result of {source}?"
        )


@kernel("_lu_order")
def lu_order(pivots: Any, rows: int) -> Any:
    """Follow the exchanges."""
    spec = rule_of("_lu_order")(pivots, rows)
    order = np.empty(spec.shape, np.int64)
    order[...] = np.arange(rows)
    flat = order.reshape(int(np.prod(spec.shape[:-1])), rows)
    each = np.arange(len(flat))
    _check_exchanges(pivots.raw_data, rows, "lu_factor")
    exchanges = pivots.raw_data.reshape(len(flat), pivots.raw_shape[-1])
    for i in range(pivots.raw_shape[-1]):
        j = exchanges[:, i] - 1
        flat[each, i], flat[each, j] = flat[each, j], flat[each, i].copy()
    return wrap(order, spec.dtype)


# ---- triangular systems -------------------------------------------------------------------------


@kernel("linalg_solve_triangular")
def solve_triangular(
    self: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    """BLAS's trsm, matrix by matrix; zeros on the diagonal give infinities."""
    spec = rule_of("linalg_solve_triangular")(self, B, upper=upper, left=left)
    from scipy.linalg import blas

    out = np.empty(spec.shape, B.raw_data.dtype)
    if not out.size:
        return wrap(out, spec.dtype)
    trsm = getattr(blas, _PREFIX[out.dtype.char] + "trsm")
    batch = spec.shape[:-2]
    a = matrices(np.broadcast_to(self.raw_data, (*batch, *self.raw_shape[-2:])))
    b = matrices(np.broadcast_to(B.raw_data, spec.shape))
    for x, y, made in zip(a, b, matrices(out), strict=True):
        # A row-major matrix is the transpose of a column-major one: no copies are made.
        transposed = not x.flags.f_contiguous and x.T.flags.f_contiguous
        matrix = x.T if transposed else x
        made[...] = trsm(
            1, matrix, y, side=not left, lower=upper == transposed, trans_a=int(transposed),
            diag=int(unitriangular),
        )  # fmt: skip
    return wrap(out, spec.dtype)


# ---- systems ------------------------------------------------------------------------------------


@kernel("linalg_inv_ex")
def inv_ex(A: Any, *, check_errors: bool = False) -> Any:
    """NumPy's inverse of all matrices; one by one if any is singular."""
    rule_of("linalg_inv_ex")(A)
    a = A.raw_data
    codes: Any = np.zeros(a.shape[:-2], np.int32)
    made = _all_at_once(np.linalg.inv, a)
    if made is None:
        codes = [int(routine("getrf", x)(x)[2]) for x in matrices(a)]
        if check_errors:
            check_lapack("linalg.inv", "inv", codes, a.ndim > 2)
        made = _each(np.linalg.inv, a, codes, a.shape)
    return wrap(dense(made), A.raw_dtype), info_of(codes, a.shape[:-2])


def _each(fn: Callable[..., Any], a: Any, codes: list[int], shape: tuple[int, ...]) -> Any:
    """Results of the regular matrices, infinities for the others."""
    out = np.full(shape, np.inf, a.dtype)
    flat = matrices(out)
    for i, x in enumerate(matrices(a)):
        if not codes[i]:
            flat[i] = fn(x)
    return out


@kernel("linalg_solve_ex")
def solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    """NumPy's solution of all systems; one by one if any is singular."""
    spec, _ = rule_of("linalg_solve_ex")(A, B, left=left)
    a, b = A.raw_data, B.raw_data
    vector = len(spec.shape) == a.ndim - 1
    b = b[..., None] if vector else b
    if not left:
        a, b = a.swapaxes(-1, -2), b.swapaxes(-1, -2)
    codes: Any = np.zeros(A.raw_shape[:-2], np.int32)
    made = _all_at_once(np.linalg.solve, a, b)
    if made is None:
        codes = [int(routine("getrf", x)(x)[2]) for x in matrices(a)]
        if check_errors:
            check_lapack("torch.linalg.solve", "solve", codes, a.ndim > 2)
        singular = np.array(codes).reshape(*a.shape[:-2], 1, 1) > 0
        regular = np.where(singular, np.eye(a.shape[-1], dtype=a.dtype), a)
        made = np.where(singular, np.inf, np.linalg.solve(regular, b)).astype(a.dtype)
    if not left:
        made = made.swapaxes(-1, -2)
    made = made[..., 0] if vector else made
    return wrap(dense(made), A.raw_dtype), info_of(codes, A.raw_shape[:-2])


# ---- QR -----------------------------------------------------------------------------------------


@kernel("linalg_qr")
def qr(A: Any, mode: str = "reduced") -> Any:
    """NumPy's, for all matrices."""
    rule_of("linalg_qr")(A, mode)
    found = np.linalg.qr(A.raw_data, mode)  # type: ignore[call-overload]
    if mode == "r":
        return wrap(np.empty((0,), A.raw_data.dtype), A.raw_dtype), wrap(dense(found), A.raw_dtype)
    return wrap(dense(found[0]), A.raw_dtype), wrap(dense(found[1]), A.raw_dtype)


@kernel("geqrf")
def geqrf(self: Any) -> Any:
    """Matrix by matrix."""
    spec, tau_spec = rule_of("geqrf")(self)
    a = self.raw_data
    packed, tau = np.empty(spec.shape, a.dtype), np.empty(tau_spec.shape, a.dtype)
    if a.size:
        run = routine("geqrf", a)
        flat, scalars = matrices(packed), tau.reshape(-1, tau.shape[-1])
        for i, x in enumerate(matrices(a)):
            flat[i], scalars[i], _, _ = run(x)
    return wrap(packed, self.raw_dtype), wrap(tau, self.raw_dtype)


@kernel("_householder_product")
def householder_product(input: Any, tau: Any) -> Any:
    """LAPACK's orgqr, matrix by matrix."""
    spec = rule_of("_householder_product")(input, tau)
    a = input.raw_data
    out = np.empty(spec.shape, a.dtype)
    if a.size:
        run = real_or_complex("orgqr", "ungqr", a)
        scalars = tau.raw_data.reshape(len(matrices(a)), tau.raw_shape[-1])
        for x, t, made in zip(matrices(a), scalars, matrices(out), strict=True):
            made[...] = run(x, t)[0] if len(t) else np.eye(*x.shape)
    return wrap(out, spec.dtype)


# ---- LDL ----------------------------------------------------------------------------------------


@kernel("linalg_ldl_factor_ex")
def ldl_factor_ex(self: Any, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """Matrix by matrix."""
    spec, pivots_spec, _ = rule_of("linalg_ldl_factor_ex")(self)
    a = self.raw_data
    packed, pivots = np.empty(spec.shape, a.dtype), np.empty(pivots_spec.shape, np.int32)
    codes = [0] * int(np.prod(a.shape[:-2]))
    if a.size:
        run = real_or_complex("sytrf", "hetrf" if hermitian else "sytrf", a)
        flat, places = matrices(packed), pivots.reshape(-1, pivots.shape[-1])
        for i, x in enumerate(matrices(a)):
            made, order, codes[i] = run(x, lower=1)
            flat[i] = np.tril(made)
            places[i] = order
    if check_errors:
        check_lapack("torch.linalg.ldl_factor_ex", "ldl", codes, a.ndim > 2)
    return wrap(packed, self.raw_dtype), wrap(pivots, int32), info_of(codes, a.shape[:-2])


@kernel("linalg_ldl_solve")
def ldl_solve(LD: Any, pivots: Any, B: Any, *, hermitian: bool = False) -> Any:
    """Matrix by matrix."""
    spec = rule_of("linalg_ldl_solve")(LD, pivots, B)
    out = np.empty(spec.shape, B.raw_data.dtype)
    if out.size:
        run = real_or_complex("sytrs", "hetrs" if hermitian else "sytrs", out)
        batch, n = spec.shape[:-2], LD.raw_shape[-1]
        a = matrices(np.broadcast_to(LD.raw_data, (*batch, n, n)))
        order = np.broadcast_to(pivots.raw_data, (*batch, n)).reshape(-1, n)
        _check_blocks(pivots.raw_data, n)
        b = matrices(np.broadcast_to(B.raw_data, spec.shape))
        for x, p, y, made in zip(a, order, b, matrices(out), strict=True):
            made[...] = run(x, p, y, lower=1)[0]
    return wrap(out, spec.dtype)


def _check_blocks(pivots: Any, n: int) -> None:
    """LAPACK trusts the exchanges of an LDL factorization, and would write outside the matrix.

    Raises:
        RuntimeError: if one is outside, or the negative ones, of blocks of two rows, stand alone.
    """
    _check_exchanges(np.absolute(pivots), n, "linalg.ldl_factor")
    opened = np.zeros(pivots.shape[:-1], bool)
    alone = opened.copy()
    for i in range(n):
        negative = pivots[..., i] < 0
        alone |= opened & ~negative
        opened = negative & ~opened
    if (alone | opened).any():
        raise RuntimeError(
            "negative pivots must come in pairs. Did you properly pass the result of "
            "linalg.ldl_factor?"
        )


# ---- eigenvalues and singular values ------------------------------------------------------------


def _converging(
    name: str, detail: str, fn: Callable[..., Any], a: Any, *args: Any, read: Any = None
) -> Any:
    """Call one of NumPy's algorithms that may not converge, nor end where a number is infinite or NaN.

    Args:
        name: what the error calls it.
        detail: of which too many may be alike.
        fn: the algorithm.
        a: the matrices, and what else it takes.
        args: that.
        read: what it reads of the matrices; None for all.

    Raises:
        LinAlgError: naming the first matrix for which it does not.
    """
    finite = np.isfinite(a if read is None else read).all((-2, -1))
    if not finite.all():
        why = "contained non-finite values"
        raise _not_converged(name, a, int(np.argmin(finite.reshape(-1))), why)
    try:
        return quietly(fn, a, *args)
    except np.linalg.LinAlgError:
        for i, x in enumerate(matrices(a)):
            try:
                quietly(fn, x, *args)
            except np.linalg.LinAlgError:
                why = f"is ill-conditioned or has too many repeated {detail}"
                raise _not_converged(name, a, i, why) from None
        raise


def _not_converged(name: str, a: Any, at: int, why: str) -> LinAlgError:
    where = f"(Batch element {at}): " if a.ndim > 2 else ""
    return LinAlgError(
        f"{name}: {where}The algorithm failed to converge because the input matrix {why}."
    )


@kernel("_linalg_eigh")
def eigh(A: Any, UPLO: str = "L", compute_v: bool = True) -> Any:
    """NumPy's, for all matrices."""
    values_spec, _ = rule_of("_linalg_eigh")(A, UPLO, compute_v)
    a, uplo = A.raw_data, UPLO.upper()
    converging = partial(_converging, "linalg.eigh", "eigenvalues")
    read = (np.tril if uplo == "L" else np.triu)(a)
    if compute_v:
        values, vectors = converging(np.linalg.eigh, a, uplo, read=read)
    else:
        values = converging(np.linalg.eigvalsh, a, uplo, read=read)
        vectors = np.empty((0,), a.dtype)
    return wrap(dense(values), values_spec.dtype), wrap(dense(vectors), A.raw_dtype)


@kernel("linalg_eig")
def eig(self: Any) -> Any:
    """NumPy's, for all matrices."""
    spec, _ = rule_of("linalg_eig")(self)
    made = np.complex64 if spec.dtype.itemsize == 8 else np.complex128
    values, vectors = _converging("linalg.eig", "eigenvalues", np.linalg.eig, self.raw_data)
    return wrap(values.astype(made), spec.dtype), wrap(dense(vectors.astype(made)), spec.dtype)


@kernel("_linalg_eigvals")
def eigvals(self: Any) -> Any:
    """NumPy's, for all matrices."""
    spec = rule_of("_linalg_eigvals")(self)
    made = np.complex64 if spec.dtype.itemsize == 8 else np.complex128
    values = _converging("linalg.eigvals", "eigenvalues", np.linalg.eigvals, self.raw_data)
    return wrap(values.astype(made), spec.dtype)


@kernel("_linalg_svd")
def svd(
    A: Any, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> Any:
    """NumPy's (LAPACK's gesdd), for all matrices."""
    _, values_spec, _ = rule_of("_linalg_svd")(A, full_matrices, compute_uv, driver=driver)
    a, d = A.raw_data, A.raw_dtype
    found = _converging(
        "linalg.svd", "singular values", np.linalg.svd, a, full_matrices, compute_uv
    )
    if not compute_uv:
        empty = np.empty((0,), a.dtype)
        return wrap(empty, d), wrap(dense(found), values_spec.dtype), wrap(empty.copy(), d)
    u, s, vh = found
    return wrap(dense(u), d), wrap(dense(s), values_spec.dtype), wrap(dense(vh), d)
