"""Samples of products, linear algebra and Fourier transforms."""

from __future__ import annotations

from typing import Any, Final

from .recipes import DEVICE, Sample, TensorRecipe
from .recipes import tensor as t

__all__ = ["LINALG"]


def s(name: str, *args: Any, **kwargs: Any) -> Sample:
    """A row's sample."""
    return Sample(name, args, kwargs)


# Matrices of three rows: regular, with singular values, eigenvalues and pivots well apart.
_REGULAR: Final = t(3, 3, values=(4.0, 1.0, -0.5, 0.25, -2.0, 0.5, 1.0, 0.5, 1.0))
_DOUBLE: Final = t(3, 3, values=_REGULAR.values, dtype="float64")
_POSITIVE: Final = t(3, 3, values=(4.0, 1.0, -0.5, 1.0, 3.0, 0.5, -0.5, 0.5, 1.0))
_BATCH: Final = t(2, 2, 2, values=(2.0, 1.0, 0.5, -1.0, 1.0, -0.5, 0.25, 3.0))
_POSITIVES: Final = t(2, 2, 2, values=(2.0, 1.0, 1.0, 3.0, 1.0, -0.5, -0.5, 3.0))
_TALL: Final = t(3, 2, values=(2.0, 1.0, 0.5, -1.0, 1.0, 3.0))
_WIDE: Final = t(2, 3, values=(2.0, 1.0, 0.5, -1.0, 1.0, 3.0))
_LOWER: Final = t(3, 3, values=(2.0, 0.0, 0.0, 1.0, 1.5, 0.0, -0.5, 0.25, 1.0))
_PIVOTS: Final = t(3, dtype="int32", values=(2, 2, 3))
_SIGNAL: Final = t(2, 6)
_WAVES: Final = t(2, 5, dtype="complex64")


def _square(*more: Any, **options: Any) -> tuple[Sample, ...]:
    return (
        s("matrix", _REGULAR, *more, **options),
        s("batch", _BATCH, *more, **options),
        s("float64", _DOUBLE, *more, **options),
        s("empty", t(0, 3, 3), *more, **options),
    )


def _positive(**options: Any) -> tuple[Sample, ...]:
    return s("matrix", _POSITIVE, **options), s("batch", _POSITIVES, **options)


def _any(*more: Any, **options: Any) -> tuple[Sample, ...]:
    return (
        s("tall", _TALL, *more, **options),
        s("wide", _WIDE, *more, **options),
        s("batch", _BATCH, *more, **options),
    )


def _triple(self: TensorRecipe, a: TensorRecipe, b: TensorRecipe) -> tuple[Sample, ...]:
    return s("sum", self, a, b), s("scaled", self, a, b, beta=0.5, alpha=2.0)


_SYSTEMS: Final = (
    s("matrix", _REGULAR, t(3, 2)),
    s("vector", _REGULAR, t(3)),
    s("batch", _BATCH, t(2, 2, 1)),
    s("right", _REGULAR, t(2, 3), left=False),
)
_TRIANGULAR: Final = (
    s("lower", _LOWER, t(3, 2), upper=False),
    s("right", _LOWER, t(2, 3), upper=False, left=False),
    s("unit", _LOWER, t(3, 2), upper=False, unitriangular=True),
)
_LU: Final = (_REGULAR, _PIVOTS)
_LINE: Final = s("last", _SIGNAL), s("size", _SIGNAL, 4), s("ortho", _SIGNAL, None, 0, "ortho")
_HALF: Final = s("last", _WAVES), s("size", _WAVES, 6), s("ortho", _WAVES, None, 0, "ortho")
_PLANE: Final = (
    s("both", _SIGNAL),
    s("sizes", _SIGNAL, (3, 4)),
    s("forward", _SIGNAL, norm="forward"),
)
_TRANSFORMS: Final[dict[str, tuple[Sample, ...]]] = {
    **{f"fft_{n}": _LINE for n in ("fft", "ifft", "rfft", "ihfft")},
    **{f"fft_{n}": _HALF for n in ("hfft", "irfft")},
    **{f"fft_{n}{many}": _PLANE for n in ("fft", "ifft", "rfft", "ihfft") for many in "2n"},
    **{
        f"fft_{n}{many}": (s("both", _WAVES), s("sizes", _WAVES, (2, 6)))
        for n in ("hfft", "irfft")
        for many in "2n"
    },
    "_fft_c2c": (s("forward", _WAVES, [1], 0, True), s("inverse", _WAVES, [0, 1], 2, False)),
    "_fft_r2c": (s("half", _SIGNAL, [1], 0, True), s("whole", _SIGNAL, [0, 1], 1, False)),
    "_fft_c2r": (s("even", _WAVES, [1], 2, 8), s("odd", _WAVES, [0, 1], 1, 9)),
    "stft": (s("plain", t(12), 4, return_complex=True),),
    "stft.center": (s("constant", t(12), 4, pad_mode="constant", return_complex=True),),
    "istft": (s("plain", t(3, 4, dtype="complex64"), 4),),
}
_FORMS: Final[dict[str, tuple[Any, ...]]] = {
    **{
        f"{name}_window{form}": more
        for name in ("hann", "hamming", "bartlett", "blackman", "kaiser")
        for form, more in (("", ()), (".periodic", (False,)))
    },
    "hamming_window.periodic_alpha": (True, 0.6),
    "hamming_window.periodic_alpha_beta": (True, 0.6, 0.4),
    "kaiser_window.beta": (True, 8.0),
}
_WINDOWS: Final[dict[str, tuple[Sample, ...]]] = {
    name: (s("five", 5, *more, device=DEVICE),) for name, more in _FORMS.items()
}
_PRODUCTS: Final[dict[str, tuple[Sample, ...]]] = {
    "vdot": (s("float32", t(3), t(3)), s("complex64", *[t(3, dtype="complex64")] * 2)),
    "outer": (s("float32", t(2), t(3)),),
    "ger": (s("float32", t(2), t(3)),),
    "inner": (s("vectors", t(3), t(3)), s("matrices", t(2, 3), t(4, 3)), s("0d", t(), t(2))),
    "linalg_vecdot": (s("rows", t(2, 3), t(3)), s("columns", t(2, 3), t(2, 3), dim=0)),
    "linalg_cross": (s("last", t(2, 3), t(2, 3)), s("first", t(3, 2), t(3, 1), dim=0)),
    "cross": (s("found", t(2, 3), t(2, 3)), s("given", t(3, 3), t(3, 3), 1)),
    "kron": (s("matrices", t(2, 3), t(2, 2)), s("ranks", t(2), t(2, 2))),
    "trace": (s("wide", t(2, 3)),),
    "addmv": _triple(t(2), t(2, 3), t(3)),
    "addr": _triple(t(2, 3), t(2), t(3)),
    "baddbmm": _triple(t(2, 2, 2), t(2, 2, 3), t(2, 3, 2)),
    "addbmm": _triple(t(2, 2), t(3, 2, 3), t(3, 3, 2)),
    "tensordot": (s("one", t(2, 3), t(3, 4), [1], [0]), s("two", t(2, 3), t(3, 2), [0, 1], [1, 0])),
    "linalg_multi_dot": (s("three", [t(2, 3), t(3, 4), t(4, 2)]), s("ends", [t(3), t(3, 2), t(2)])),
    "chain_matmul": (s("three", t(2, 3), t(3, 4), t(4, 2)),),
    "bilinear": (s("batch", t(2, 3), t(2, 2), t(4, 3, 2), t(4)), s("one", t(3), t(2), t(4, 3, 2))),
    "einsum": (s("product", "ij,jk->ik", [t(2, 3), t(3, 2)]), s("sum", "...ij->j", [t(2, 2, 3)])),
    "cartesian_prod": (s("two", t(2), t(3)),),
    "block_diag": (s("mixed", t(2, 2), t(3), t()),),
    "linalg_matmul": (s("matrices", t(2, 3), t(3, 2)),),
    "linalg_diagonal": (s("batch", t(2, 3, 3)), s("offset", t(3, 4), offset=1)),
    "linalg_matrix_power": (
        s("third", _REGULAR, 3),
        s("zero", _BATCH, 0),
        s("inverse", _REGULAR, -2),
    ),
    "matrix_power": (s("third", _REGULAR, 3),),
    "linalg_matrix_exp": (s("matrix", _REGULAR), s("batch", _BATCH)),
    "matrix_exp": (s("batch", _BATCH),),
    "linalg_vander": (s("square", t(3)), s("columns", t(2, 2), N=3)),
    "vander": (s("square", t(3)), s("columns", t(3), 2, True)),
}
LINALG: Final[dict[str, tuple[Sample, ...]]] = {
    **_PRODUCTS,
    **_TRANSFORMS,
    **_WINDOWS,
    "linalg_cholesky_ex": _positive(),
    "linalg_cholesky": _positive(),
    "cholesky": _positive(),
    "cholesky_solve": (s("lower", t(3, 2), _LOWER),),
    "cholesky_inverse": (s("lower", _LOWER),),
    "linalg_solve_triangular": _TRIANGULAR,
    "triangular_solve": (
        s("lower", t(3, 2), _LOWER, False),
        s("turned", t(3, 2), _LOWER, False, True),
    ),
    "linalg_lu_factor_ex": (s("tall", _TALL), s("wide", _WIDE), s("batch", _BATCH)),
    "linalg_lu_factor": _any(),
    "_lu_with_info": _any(),
    "linalg_lu": _any(),
    "_lu_order": (s("three", _PIVOTS, 4),),
    "lu_unpack": (s("square", *_LU),),
    "linalg_lu_solve": (
        s("left", *_LU, t(3, 2)),
        s("right", *_LU, t(2, 3), left=False, adjoint=True),
    ),
    "lu_solve": (s("left", t(3, 2), *_LU),),
    **dict.fromkeys(("linalg_solve_ex", "linalg_solve", "_linalg_solve_ex"), _SYSTEMS),
    **dict.fromkeys(("linalg_inv_ex", "linalg_inv", "inverse", "_linalg_det"), _square()),
    **dict.fromkeys(
        ("linalg_det", "det", "_linalg_slogdet", "linalg_slogdet", "slogdet"), _square()
    ),
    "logdet": (s("matrix", _POSITIVE), s("batch", _POSITIVES)),
    "linalg_tensorinv": (s("pairs", t(2, 2, 4), 2),),
    "linalg_tensorsolve": (s("pairs", t(2, 2, 4), t(2, 2)),),
    "linalg_qr": (*_any(), s("complete", _WIDE, "complete")),
    "qr": _any(),
    "geqrf": (s("tall", _TALL), s("wide", _WIDE)),
    "_householder_product": (s("two", _TALL, t(2)),),
    "linalg_householder_product": (s("two", _TALL, t(2)), s("one", _TALL, t(1))),
    "orgqr": (s("two", _TALL, t(2)),),
    "ormqr": (s("left", _TALL, t(2), t(3, 2)), s("right", _TALL, t(2), t(2, 3), False, True)),
    **dict.fromkeys(("_linalg_eigh", "linalg_eigh", "linalg_eigvalsh"), (s("matrix", _POSITIVE),)),
    "linalg_eig": (s("matrix", _POSITIVE),),
    "_linalg_eigvals": (s("matrix", _POSITIVE),),
    "linalg_eigvals": (s("matrix", _POSITIVE),),
    "_linalg_svd": _any(),
    "linalg_svd": (s("square", _BATCH),),
    "svd": _any(),
    "linalg_svdvals": _any(),
    "linalg_ldl_factor_ex": _positive(),
    "linalg_ldl_factor": _positive(),
    "linalg_ldl_solve": (s("matrix", _LOWER, t(3, dtype="int32", values=(1, 2, 3)), t(3, 2)),),
    "linalg_pinv.atol_rtol_tensor": _any(),
    "linalg_pinv.atol_rtol_float": _any(rtol=1e-3),
    "linalg_pinv": _any(1e-3),
    "linalg_pinv.rcond_tensor": (s("tall", _TALL, t(values=(0.01,))),),
    "pinverse": _any(),
    "linalg_matrix_rank.atol_rtol_tensor": _any(),
    "linalg_matrix_rank.atol_rtol_float": _any(rtol=1e-3),
    "linalg_matrix_rank": _any(1e-3),
    "linalg_matrix_rank.tol_tensor": (s("tall", _TALL, t(values=(0.01,))),),
    "linalg_cond": (s("two", _TALL), s("one", _BATCH, 1)),
    "linalg_cond.p_str": (s("fro", _BATCH, "fro"), s("nuc", _REGULAR, "nuc")),
    "linalg_lstsq": (s("tall", _TALL, t(3, 2)), s("vector", _WIDE, t(2))),
    "fft_fftfreq": (s("six", 6, 0.5, device=DEVICE),),
    "fft_rfftfreq": (s("seven", 7, device=DEVICE),),
    "fft_fftshift": (s("all", t(3, 4)), s("last", t(3, 4), -1)),
    "fft_ifftshift": (s("all", t(3, 4)), s("last", t(3, 4), -1)),
}
