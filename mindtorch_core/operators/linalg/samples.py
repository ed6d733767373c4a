"""What the ops of this family are tested with; only the testing kit reads it."""

from __future__ import annotations

from typing import Any, Final

from ...values.dtypes import float64
from ..family_samples import FamilySamples, call, distinct
from ..family_samples import sample as s
from ..recipes import Sample, TensorRecipe
from ..recipes import tensor as t

__all__ = ["SAMPLES"]

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
_INF: Final = float("inf")


_VECTOR_NORMS: Final = (
    s("all", t(2, 3)),
    s("one", t(2, 3), 1, 0),
    s("three", t(2, 3), 3, -1, True),
    s("largest", distinct(2, 3), _INF, 1),
    s("complex", t(3, dtype="complex64")),
)
_LONG: Final = ("float16", "bfloat16")
_SIGNS_ARE_FREE: Final = "vectors are unique but for a sign or a phase"

SAMPLES: Final = FamilySamples(
    calls={
        # whole_products
        "_int_mm": (
            s("bytes", t(2, 3, dtype="int8"), t(3, 4, dtype="int8")),
            s("unsigned", t(2, 3, dtype="uint8", low=0), t(3, 4, dtype="int8")),
            s("nothing between", t(2, 0, dtype="int8"), t(0, 4, dtype="int8")),
        ),
        # aliases
        "linalg_matmul": (s("matrices", t(2, 3), t(3, 2)),),
        "linalg_diagonal": (s("batch", t(2, 3, 3)), s("offset", t(3, 4), offset=1)),
        # cholesky
        "linalg_cholesky_ex": _positive(),
        "linalg_cholesky": _positive(),
        "cholesky": _positive(),
        "cholesky_solve": (s("lower", t(3, 2), _LOWER),),
        "cholesky_inverse": (s("lower", _LOWER),),
        # contraction
        "tensordot": (
            s("one", t(2, 3), t(3, 4), [1], [0]),
            s("two", t(2, 3), t(3, 2), [0, 1], [1, 0]),
        ),
        "linalg_multi_dot": (
            s("three", [t(2, 3), t(3, 4), t(4, 2)]),
            s("ends", [t(3), t(3, 2), t(2)]),
        ),
        "chain_matmul": (s("three", t(2, 3), t(3, 4), t(4, 2)),),
        "bilinear": (
            s("batch", t(2, 3), t(2, 2), t(4, 3, 2), t(4)),
            s("one", t(3), t(2), t(4, 3, 2)),
        ),
        "cartesian_prod": (s("two", t(2), t(3)),),
        "block_diag": (s("mixed", t(2, 2), t(3), t()),),
        # determinants
        **dict.fromkeys(
            ("linalg_det", "det", "_linalg_slogdet", "linalg_slogdet", "slogdet"), _square()
        ),
        "logdet": (s("matrix", _POSITIVE), s("batch", _POSITIVES)),
        # eigen
        **dict.fromkeys(
            ("_linalg_eigh", "linalg_eigh", "linalg_eigvalsh"), (s("matrix", _POSITIVE),)
        ),
        "linalg_eig": (s("matrix", _POSITIVE),),
        "_linalg_eigvals": (s("matrix", _POSITIVE),),
        "linalg_eigvals": (s("matrix", _POSITIVE),),
        # einsum
        "einsum": (
            s("product", "ij,jk->ik", [t(2, 3), t(3, 2)]),
            s("sum", "...ij->j", [t(2, 2, 3)]),
        ),
        # ldl
        "linalg_ldl_factor_ex": _positive(),
        "linalg_ldl_factor": _positive(),
        "linalg_ldl_solve": (s("matrix", _LOWER, t(3, dtype="int32", values=(1, 2, 3)), t(3, 2)),),
        # lu
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
        # norms
        "linalg_vector_norm": _VECTOR_NORMS,
        "renorm": (s("rows", t(3, 4), 2, 0, 1.0), s("columns", t(3, 4), 1, -1, 3.0)),
        "linalg_matrix_norm": (s("rows", distinct(3, 4), _INF), s("columns", distinct(2, 3, 4), 1)),
        "linalg_matrix_norm.str_ord": (
            s("fro", t(2, 3, 4)),
            s("dims", t(2, 3, 4), "fro", (0, 1), True),
        ),
        "linalg_norm": (s("all", t(2, 3)), s("vector", t(4), 3), s("matrix", distinct(3, 4), 1)),
        "linalg_norm.ord_str": (s("fro", t(2, 3), "fro"),),
        "norm.Scalar": (s("two", t(2, 3)), s("three", t(2, 3), 3)),
        "norm.ScalarOpt_dim": (s("rows", t(2, 3), 2, 1),),
        "norm.ScalarOpt_dim_dtype": (s("rows", t(2, 3), 2, 1, True, dtype=float64),),
        "norm.ScalarOpt_dtype": (s("all", t(2, 3), 2, dtype=float64),),
        "frobenius_norm.dim": (s("rows", t(2, 3), 1),),
        "nuclear_norm": (s("2d", t(2, 3)),),
        "nuclear_norm.dim": (s("batch", t(2, 3, 2), (0, 2)),),
        # powers
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
        # products
        "mm": (
            s("float32", t(2, 3), t(3, 4)),
            s("float64", t(2, 3, dtype="float64"), t(3, 4, dtype="float64")),
            s("bfloat16", t(2, 3, dtype="bfloat16"), t(3, 4, dtype="bfloat16")),
            s("int64", t(2, 3, dtype="int64"), t(3, 2, dtype="int64")),
            s("no_rows", t(0, 3), t(3, 2)),
            s("no_terms", t(2, 0), t(0, 3)),
        ),
        "_grouped_mm": (
            s("rows", t(5, 3), t(2, 3, 4), t(2, dtype="int32", values=(2, 4))),
            s("columns", t(2, 3, 4), t(4, 5), t(2, dtype="int32", values=(1, 5))),
            s("sums", t(3, 5), t(5, 4), t(3, dtype="int32", values=(2, 2, 5))),
            s("batches", t(2, 3, 4), t(2, 4, 2)),
        ),
        "bmm": (s("float32", t(2, 3, 4), t(2, 4, 2)), s("empty", t(0, 3, 4), t(0, 4, 2))),
        "matmul": (
            s("matrices", t(2, 3), t(3, 4)),
            s("vectors", t(3), t(3)),
            s("vector_matrix", t(3), t(3, 2)),
            s("matrix_vector", t(2, 3), t(3)),
            s("batches", t(2, 3, 4), t(2, 4, 2)),
            s("broadcast", t(2, 1, 3, 4), t(5, 4, 2)),
            s("shared_right", t(2, 3, 4), t(4, 2)),
            s("batched_vector", t(2, 3, 4), t(4)),
            s("empty", t(2, 0), t(0, 3)),
        ),
        "_rmatmul": (s("matrices", t(3, 4), t(2, 3)),),
        "addmm": (
            s("row", t(4), t(2, 3), t(3, 4)),
            s("full", t(2, 4), t(2, 3), t(3, 4)),
            s("scaled", t(4), t(2, 3), t(3, 4), beta=0.5, alpha=2),
            s("product_only", t(4), t(2, 3), t(3, 4), beta=0),
        ),
        "_sparse_addmm": (
            s("full", t(2, 4), t(2, 3), t(3, 4)),
            s("scaled", t(2, 4), t(2, 3), t(3, 4), beta=0.5, alpha=2),
        ),
        "dot": (s("float32", t(4), t(4)), s("empty", t(0), t(0))),
        "mv": (s("float32", t(2, 3), t(3)),),
        "linear_backward": (s("rows", t(2, 3, 4), t(2, 3, 5), t(5, 4), (True, True, True)),),
        "linear": (
            s("bias", t(2, 3), t(4, 3), t(4)),
            s("no_bias", t(2, 3), t(4, 3)),
            s("batches", t(2, 5, 3), t(4, 3), t(4)),
            s("vector", t(3), t(4, 3)),
        ),
        # pseudoinverse
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
        # qr
        "linalg_qr": (*_any(), s("complete", _WIDE, "complete")),
        "qr": _any(),
        "geqrf": (s("tall", _TALL), s("wide", _WIDE)),
        "_householder_product": (s("two", _TALL, t(2)),),
        "linalg_householder_product": (s("two", _TALL, t(2)), s("one", _TALL, t(1))),
        "orgqr": (s("two", _TALL, t(2)),),
        "ormqr": (s("left", _TALL, t(2), t(3, 2)), s("right", _TALL, t(2), t(2, 3), False, True)),
        # solving
        **dict.fromkeys(("linalg_solve_ex", "linalg_solve", "_linalg_solve_ex"), _SYSTEMS),
        **dict.fromkeys(("linalg_inv_ex", "linalg_inv", "inverse", "_linalg_det"), _square()),
        "linalg_tensorinv": (s("pairs", t(2, 2, 4), 2),),
        "linalg_tensorsolve": (s("pairs", t(2, 2, 4), t(2, 2)),),
        # svd
        "_linalg_svd": _any(),
        "linalg_svd": (s("square", _BATCH),),
        "svd": _any(),
        "linalg_svdvals": _any(),
        # triangular
        "linalg_solve_triangular": _TRIANGULAR,
        "triangular_solve": (
            s("lower", t(3, 2), _LOWER, False),
            s("turned", t(3, 2), _LOWER, False, True),
        ),
        # vectors
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
    },
    functions={
        # contraction
        "torch.tensordot": call(t(2, 3, 4), t(3, 4, 2), dims=2),
        # einsum
        "torch.einsum": call("bij,bjk->bik", t(2, 3, 4), t(2, 4, 2)),
        # lu
        "torch.lu": call(t(3, 3)),
        "Tensor.lu": call(t(3, 3)),
        # grouped
        "nn.grouped_mm": call(t(5, 3), t(2, 3, 4), offs=t(2, dtype="int32", values=(2, 4))),
        # norms
        "torch.norm": call(t(2, 3), 2, 1),
        "Tensor.norm": call(t(2, 3), 1, 0, True),
    },
    untested={
        "_scaled_mm": "its matrices are of 8-bit floats, which backends need not have",
        "_sparse_mm_reduce_impl": "it takes matrices in compressed rows, which are made above the ops",
    }
    | dict.fromkeys(
        ("torch.svd_lowrank", "torch.pca_lowrank", "torch.lobpcg"),
        "draws random numbers, so that two devices give different results",
    ),
    edges={
        "mm": (
            s("zero_inner", t(2, 0), t(0, 3)),
            s("wide", t(3, 257), t(257, 2)),
            s("many", t(70, 5), t(5, 130)),
            *(s(f"{d}_long", t(2, 900, dtype=d), t(900, 3, dtype=d)) for d in _LONG),
        ),
        "bmm": (
            s("no_batch", t(0, 2, 3), t(0, 3, 2)),
            s("zero_inner", t(2, 2, 0), t(2, 0, 3)),
            *(s(f"{d}_long", t(2, 2, 600, dtype=d), t(2, 600, 2, dtype=d)) for d in _LONG),
        ),
    },
    unlike_pytorch=dict.fromkeys(
        ("svd", "linalg_svd", "linalg_eig", "linalg_eigh", "qr", "linalg_qr"), _SIGNS_ARE_FREE
    ),
    few=("mm", "matmul", "linear"),
)
