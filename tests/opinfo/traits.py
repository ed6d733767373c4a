"""What the checks have to know of single ops."""

# Ops whose values are random or not defined: shapes and dtypes are compared.
RANDOM = frozenset(
    [
        "bernoulli",
        "cauchy",
        "exponential",
        "geometric",
        "log_normal",
        "normal",
        "normal_in_place",
        "uniform",
        "multinomial",
        "rand_like",
        "randint",
        "randint_like",
        "randn",
        "randn_like",
        "empty",
        "empty_like",
        "empty_permuted",
        "empty_strided",
        "new_empty",
        "new_empty_strided",
        "nn.functional.dropout",
        "nn.functional.dropout2d",
        "nn.functional.dropout3d",
        "nn.functional.alpha_dropout",
        "nn.functional.feature_alpha_dropout",
        "nn.functional.fractional_max_pool2d",
        "nn.functional.fractional_max_pool3d",
        "nn.functional.rrelu",
        "svd_lowrank",
        "pca_lowrank",
    ]
)

_POLYGAMMA = [f"polygamma_polygamma_n_{n}" for n in range(5)]

_POLYNOMIALS = [
    *("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l"),
    *("legendre_polynomial_p", "chebyshev_polynomial_t", "chebyshev_polynomial_u"),
    *("chebyshev_polynomial_v", "chebyshev_polynomial_w"),
]

# Tolerances that are wider by a factor, by the full name of the OpInfo, with ``-float16`` for one
# dtype; each with its reason.
FACTORS: dict[str, float] = {
    # PyTorch rounds scale and shift to halves before they are applied.
    "nn_functional_instance_norm-bfloat16": 3,
    # Sums of several terms, each rounded to a half, in both libraries in another order.
    "nn_functional_poisson_nll_loss-float16": 4,
    "nn_functional_poisson_nll_loss-bfloat16": 4,
    # PyTorch adds up in half precision; here in float32, rounding once, which is twice as exact.
    "_unsafe_masked_index_put_accumulate-float16": 10,
    "_unsafe_masked_index_put_accumulate-bfloat16": 10,
    "nn_functional_conv_transpose1d-float16": 3,
    "nn_functional_conv_transpose2d-float16": 30,
    "nn_functional_conv_transpose2d-bfloat16": 10,
    "nn_functional_conv_transpose3d-float16": 100,
    "nn_functional_conv_transpose3d-bfloat16": 30,
    "nn_functional_interpolate_bicubic-bfloat16": 3,
    "nn_functional_interpolate_trilinear-float16": 3,
    "nn_functional_interpolate_trilinear-bfloat16": 4,
    "nn_functional_interpolate_area-bfloat16": 3,
    "nn_functional_adaptive_avg_pool3d-bfloat16": 3,
    # PyTorch computes positions in half precision too, and finds other elements.
    "nn_functional_grid_sample-float16": 2000,
    "nn_functional_grid_sample-bfloat16": 500,
    "grid_sampler_2d-float16": 2000,
    "grid_sampler_2d-bfloat16": 500,
    "grid_sampler_3d-float16": 100,
    "grid_sampler_3d-bfloat16": 100,
    # Scores of hundreds are exponents: the last bits of the products before decide the weights.
    "nn_functional_multi_head_attention_forward-float32": 10,
    "nn_functional_multi_head_attention_forward-float16": 300,
    "nn_functional_multi_head_attention_forward-bfloat16": 100,
    # Where terms of 400 cancel to 0.15, PyTorch's float32 is off by 2e-3, ours by 6e-4.
    "matrix_exp-float32": 100,
    # PyTorch rounds halves after each of a segment's additions; sums are taken in float32 here.
    **dict.fromkeys(
        (
            f"_segment_reduce_{by}-{d}"
            for by in ("lengths", "offsets")
            for d in ("float16", "bfloat16")
        ),
        10,
    ),
    # PyTorch's recurrences in float32 lose digits next to roots; here they run in float64.
    **dict.fromkeys((f"special_{name}-float32" for name in _POLYNOMIALS), 10),
    # PyTorch's own float64 values are off by up to 4e-7 between 5 and 8.
    **dict.fromkeys(("special_bessel_j0-float64", "special_bessel_y1-float64"), 10),
    # Next to a pole PyTorch's float32 reflection formula loses digits.
    **dict.fromkeys(("special_polygamma_special_polygamma_n_0", *_POLYGAMMA), 2),
    # PyTorch rounds exponents to bfloat16 before it raises the base to them.
    "logspace-bfloat16": 2,
    "logspace_tensor_overload-bfloat16": 2,
    # PyTorch rounds sums of half precision after every batch, and every product; here once.
    "addbmm-float16": 20,
    "addbmm-bfloat16": 30,
    "addr-float16": 20,
    "addr-bfloat16": 10,
}


def _poles(result, library):
    """Those at negative integers are large finite numbers in PyTorch."""
    return library.where(result.abs() > 1e12, library.inf, result)


def _tied(result, library):
    """Values and the shape of positions: which of equal elements is found is not defined."""
    values, indices = result
    return values, indices * 0


def _logarithm(result, library):
    """Complex logarithms are defined up to whole turns: their exponentials are compared."""
    return result.exp() if result.is_complex() else result


def _permutation(result, library):
    """Positions of equal elements come in any order."""
    return library.sort(result.reshape(-1))[0]


def _svd(result, library):
    """Singular vectors are unique but for a common phase: absolute values, and the product."""
    u, s, v = result
    k = s.shape[-1]
    u, v = u[..., :k], v[..., :k]
    if not u.shape[-2] or not v.shape[-2] or not library.any(u != 0):
        return u.shape, s
    return u.abs(), s, v.abs(), (u * s.unsqueeze(-2)) @ v.conj().transpose(-2, -1)


def _linalg_svd(result, library):
    u, s, vh = result
    return _svd((u, s, vh.conj().transpose(-2, -1)), library)


def _eigenvectors(result, library):
    """Eigenvectors are unique but for a phase."""
    values, vectors = result
    return values, vectors.abs()


# Results that are defined only up to signs or order are brought into one form before they are
# compared: a function of the result and the library.
PREPARED: dict[str, object] = {
    "svd": _svd,
    "linalg_svd": _linalg_svd,
    "linalg_eig": _eigenvectors,
    "linalg_eigh": _eigenvectors,
    **dict.fromkeys(("special_polygamma_special_polygamma_n_0", *_POLYGAMMA), _poles),
    "logcumsumexp": _logarithm,
    "sort": _tied,
    "argsort": _permutation,
    "topk": _tied,
    "kthvalue": _tied,
    "mode": _tied,
}


def _no_dropout(sample):
    """A sample of attention without dropout."""
    sample.kwargs.update({"dropout_p": 0.0} if "dropout_p" in sample.kwargs else {})
    return sample


def _no_dropout_positional(sample):
    """A sample of multi-head attention without dropout, its tenth argument."""
    sample.args = (*sample.args[:9], 0.0, *sample.args[10:])
    return sample


# Samples of ops that are random for some arguments, with others.
WITHOUT_CHANCE: dict[str, object] = {
    "nn.functional.scaled_dot_product_attention": _no_dropout,
    "nn.functional.multi_head_attention_forward": _no_dropout_positional,
}

# Ops that read their tensors after the first on the host, wherever the first is, as in PyTorch.
ON_HOST = frozenset(["tensor_split"])
