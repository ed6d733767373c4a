"""What the checks have to know of single ops."""

# Ops whose values are random or not defined: shapes and dtypes are compared.
RANDOM = frozenset(
    """
    bernoulli cauchy exponential geometric log_normal normal normal_in_place uniform multinomial
    rand_like randint randint_like randn randn_like empty empty_like empty_permuted empty_strided
    new_empty new_empty_strided nn.functional.dropout nn.functional.dropout2d
    nn.functional.dropout3d nn.functional.alpha_dropout nn.functional.feature_alpha_dropout
    nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d nn.functional.rrelu
    """.split()
)

# Tolerances that are wider by a factor, by the full name of the OpInfo; each with its reason.
FACTORS: dict[str, float] = {}

# Results that are defined only up to signs or order are brought into one form before they are
# compared: a function of the result and the library.
PREPARED: dict[str, object] = {}
