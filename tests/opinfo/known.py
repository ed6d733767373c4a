"""What does not pass, with the reason: the list only shrinks.

A check that is listed here and passes is an error, so that the list stays true.
"""

from fnmatch import fnmatchcase

# Whole ops that are not here, by the full name of the OpInfo.
MISSING: dict[str, str] = {
    "chalf": "there is no complex dtype of two halves",
    **dict.fromkeys(("torch__scaled_mm", "torch__scaled_mm_v2"), "there are no 8-bit floats"),
    **dict.fromkeys(
        (
            "torch_ops_aten__flash_attention_forward",
            "torch_ops_aten__efficient_attention_forward",
            "jiterator_unary",
            "jiterator_binary",
            "jiterator_4inputs_with_extra_args",
            "jiterator_binary_return_by_ref",
            "jiterator_2inputs_2outputs",
        ),
        "PyTorch has it on CUDA only",
    ),
}

_OVERLAP = (
    "an out= that shares the input's memory works here: it is written after the result is known"
)

# Single checks, as {op: {check: reason}}; ``*`` in a check's name stands for anything.
FAILING: dict[str, dict[str, str]] = {
    **{op: {"errors": _OVERLAP} for op in ("kthvalue",)},
    "complex": {"errors": "out= of another dtype works here"},
    "as_strided_scatter": {
        "grad-*": "PyTorch's contradicts finite differences, which agree with ours",
        "gradgrad-*": "PyTorch's contradicts finite differences, which agree with ours",
    },
    "histogramdd": {"out": "PyTorch has no out= for it either"},
    "narrow_copy": {"errors": "an IndexError, as of every other op, for a dimension out of range"},
    "masked_logaddexp": {
        "gradgrad-float64": "NaN in PyTorch at masked elements; finite differences agree with ours"
    },
}

_ROUNDED = "float64 steps of 1e-6 vanish or are rounded in a result of lower precision"
_REPEATED = (
    "indices of the samples repeat: one of two values remains, both get its gradient, as in PyTorch"
)
_CONSTANT = "defined as zero, as in PyTorch, though for one seed the draws move with mean and std"

# The same for tangents.
TANGENTS: dict[str, dict[str, str]] = {
    "cholesky_inverse": {
        "tangent-*": "PyTorch's differs from its own gradient by 1e-5; finite differences agree with ours"
    },
    "logcumsumexp": {
        "tangent-complex128": "NaN in PyTorch, whose gradient is none; finite differences agree with ours"
    },
    **{
        f"nn_functional_max_unpool{n}d": {
            "tangent-*": "indices of the samples repeat: the tangent is as the gradient, which counts both"
        }
        for n in (1, 2, 3)
    },
}

# The same for comparisons with finite differences.
GRADCHECK: dict[str, dict[str, str]] = {
    **{name: {"*check*": _ROUNDED} for name in ("bfloat16", "half", "float", "cfloat")},
    "nn_functional_max_unpool2d": {"gradcheck-float64": _REPEATED},
    "nn_functional_max_unpool3d": {"gradcheck-float64": _REPEATED},
    "normal": {"gradcheck-float64": _CONSTANT},
    "normal_number_mean": {"gradcheck-float64": _CONSTANT},
    "__rpow__": {"*check-float64": "negative numbers to fractional powers are NaN"},
    "abs": {"grad*-inplace-complex128": "refused, as in PyTorch: absolute values are real"},
    "linalg_norm_subgradients_at_zero": {
        "gradgradcheck*": "a norm has no second derivative at zero; subgradients are first ones"
    },
    "nn_functional_ctc_loss": {
        "gradgradcheck-float64": "the second derivative is not implemented, as in PyTorch"
    },
}

# What passes on the CPU and not on the bare device, as {op: {check: reason}}.
BARE: dict[str, dict[str, str]] = {}


def reason_for(op, check):
    """Why a check of an op is known not to pass; None if it has to."""
    if op in MISSING:
        return MISSING[op]
    for pattern, reason in (
        FAILING.get(op, {}) | GRADCHECK.get(op, {}) | TANGENTS.get(op, {})
    ).items():
        if fnmatchcase(check, pattern):
            return reason
    return None
