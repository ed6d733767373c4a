"""What ops on matrices share: checks of arguments, triangles, adjoints, failures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...dispatch.functions import fn
from ...dispatch.keys import FORWARD, is_grad_enabled
from ...dispatch.opdef import TensorSpec
from ...opdefs.formulas import conj
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING, bfloat16, float16, int32
from ...values.errors import LinAlgError
from ...values.shapes import Shape, numel, show

__all__ = [
    "adjoint",
    "check_floating",
    "check_info",
    "check_matrix",
    "check_square",
    "diagonal_matrix",
    "identity_like",
    "info_spec",
    "lower",
    "same_kind",
    "tracked",
    "upper_part",
]

# ---- checks -------------------------------------------------------------------------------------


def check_floating(name: str, t: Tensor) -> None:
    """Refuse dtypes that matrix factorizations do not serve.

    Raises:
        NotImplementedError: for integers, booleans and half precision.
    """
    d = t._dtype
    if d.category < FLOATING:
        raise NotImplementedError(
            f"{name}: Expected a floating point or complex tensor as input. Got {d.label}"
        )
    if d in (float16, bfloat16):
        raise NotImplementedError(f"{name}: Low precision dtypes not supported. Got {d.label}")


def check_matrix(name: str, t: Tensor, argument: str = "A") -> None:
    """Refuse tensors that hold no matrices.

    Raises:
        RuntimeError: if there are less than two dimensions.
    """
    if len(t._shape) < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")


def check_square(name: str, t: Tensor) -> None:
    """Refuse what are no square matrices of floats.

    Raises:
        RuntimeError: if the last two sizes differ, or the dtype is not served.
    """
    check_matrix(name, t)
    if t._shape[-1] != t._shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {t._shape[-2]} by {t._shape[-1]} "
            f"matrices"
        )
    check_floating(name, t)


def same_kind(name: str, a: Tensor, b: Tensor, *, names: str = "A and B") -> None:
    """Refuse tensors of two dtypes or devices.

    Raises:
        RuntimeError: if they differ.
    """
    if a._dtype is not b._dtype:
        raise RuntimeError(
            f"{name}: Expected {names} to have the same dtype, but found {a._dtype.label} and "
            f"{b._dtype.label} instead"
        )
    if a._device != b._device:
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but {names} of {name} are on "
            f"{a._device} and {b._device}"
        )


_FAILED: Final = {
    "cholesky": "The factorization could not be completed because the input is not "
    "positive-definite (the leading minor of order {0} is not positive-definite).",
    "inv": "The diagonal element {0} is zero, the inversion could not be completed because the "
    "input matrix is singular.",
    "lu": "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. If you "
    "still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
    "linalg.lu_factor_ex(A, pivot)",
    "solve": "The solver failed because the input matrix is singular.",
    "ldl": "D[{0},{0}] is zero: the factorization has been completed, but D is singular, and solving "
    "with it would divide by zero.",
    "converge": "The algorithm failed to converge because the input matrix is ill-conditioned or has "
    "too many repeated {1} (error code: {0}).",
}


def check_info(
    name: str, kind: str, info: Sequence[int], batched: bool, detail: str = "eigenvalues"
) -> None:
    """Report the first matrix for which LAPACK failed.

    Args:
        name: the function, as users know it.
        kind: which failure it is.
        info: LAPACK's codes, one per matrix.
        batched: whether the position of the matrix is of interest.
        detail: what may have been repeated.

    Raises:
        LinAlgError: if a code is not zero.
    """
    for i, code in enumerate(info):
        if code:
            where = f"(Batch element {i}): " if batched else ""
            raise LinAlgError(f"{name}: {where}{_FAILED[kind].format(code, detail)}")


def info_spec(t: Tensor) -> TensorSpec:
    """What is said of LAPACK's codes, one per matrix."""
    return TensorSpec(t._shape[:-2], int32)


def tracked(*tensors: Tensor) -> bool:
    """Whether gradients are recorded for any of the tensors, or it has a tangent."""
    recorded = is_grad_enabled()
    return any((recorded and t.requires_grad) or t._keys & FORWARD for t in tensors)


# ---- parts of matrices --------------------------------------------------------------------------


def adjoint(t: Any) -> Any:
    """Conjugate transpose."""
    return conj(t).transpose(-1, -2)


def _positions(t: Any) -> tuple[Any, Any]:
    """Numbers of rows, as a column, and of columns."""
    rows = fn.arange(t._shape[-2], device=t._device)
    return rows.unsqueeze(1), fn.arange(t._shape[-1], device=t._device)


def lower(t: Any, offset: int = 0) -> Any:
    """The part on and below a diagonal, zeros elsewhere."""
    rows, columns = _positions(t)
    return fn.where(columns <= rows + offset, t, 0)


def upper_part(t: Any, offset: int = 0) -> Any:
    """The part on and above a diagonal, zeros elsewhere."""
    rows, columns = _positions(t)
    return fn.where(columns >= rows + offset, t, 0)


def on_diagonal(t: Any, value: Any) -> Any:
    """A matrix with the elements of its diagonal replaced."""
    rows, columns = _positions(t)
    return fn.where(rows == columns, value, t)


def diagonal_matrix(v: Any) -> Any:
    """Square matrices with the given diagonals."""
    n = fn.arange(v._shape[-1], device=v._device)
    return fn.where(n.unsqueeze(1) == n, v.unsqueeze(-1), 0)


def identity_like(t: Any, n: int | None = None) -> Any:
    """The identity matrix of a tensor's dtype, for its last size or ``n``."""
    size = t._shape[-1] if n is None else n
    return fn.eye(size, dtype=t._dtype, device=t._device)


def batch_shape(name: str, a: Tensor, b: Tensor) -> Shape:
    """Common leading dimensions of two tensors of matrices."""
    from ...values.shapes import broadcast

    try:
        return broadcast(a._shape[:-2], b._shape[:-2])
    except RuntimeError as error:
        raise RuntimeError(
            f"{name}: the batch dimensions of the matrices, {show(a._shape[:-2])} and "
            f"{show(b._shape[:-2])}, do not broadcast: {error}"
        ) from None


def is_empty(t: Tensor) -> bool:
    """Whether a tensor has no elements."""
    return numel(t._shape) == 0
