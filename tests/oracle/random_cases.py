"""Calls that draw random numbers, run here and in PyTorch from one seed, and how far results are apart.

`docs/random.md` is written from them, and `tests/random` compares them with PyTorch and with numbers that
were recorded from it.
"""

import dataclasses
import hashlib
import json
import struct
from pathlib import Path

FLOATS = ("float32", "float64", "float16", "bfloat16")
COMPLEX = ("complex64", "complex128")
SIGNED = ("uint8", "int8", "int16", "int32", "int64")
RECORDED = Path(__file__).parents[1] / "random" / "recorded_numbers.json"

TIES = "which of equal quotients comes first is left open, and half precision has many"
SLOPES = "slopes are rounded before they are multiplied with"
SUMS = "rows are added up in another order"
SOFTMAX = "the softmax of the same noise rounds otherwise"


@dataclasses.dataclass(frozen=True)
class Case:
    """One way to draw.

    Attributes:
        name: what the table shows.
        call: an expression in `t`, the library, `D`, a dtype, and `n`, a size.
        dtypes: the dtypes it is run with.
        apart: units in the last place by which results may differ, by dtype; None if they may differ as
            they like, where the numbers drawn are equal in number.
        reason: why they differ.
        sizes: values of `n`.
    """

    name: str
    call: str
    dtypes: tuple = FLOATS
    apart: dict = dataclasses.field(default_factory=dict)
    reason: str = ""
    sizes: tuple = (1, 7, 16, 33, 1000)


HALF_TIES = {"float16": None, "bfloat16": None}
SINGLE = ("float32", "float64")
CASES = (
    Case("rand", "t.rand(n, dtype=D)", FLOATS + COMPLEX),
    Case("rand_like, transposed", "t.rand_like(t.empty(n, 3, dtype=D).t())"),
    Case("rand, out=", "t.rand(n, 2, dtype=D, out=t.empty(2, n, dtype=D).t())"),
    Case("uniform_(a, b)", "t.empty(n, dtype=D).uniform_(-0.37, 1.9)", FLOATS + COMPLEX),
    Case("uniform_(a, b), strided", "t.empty(n, 6, dtype=D)[:, ::2].uniform_(0.1, 3)"),
    Case("randn", "t.randn(n, dtype=D)", FLOATS + COMPLEX),
    Case("randn_like, transposed", "t.randn_like(t.empty(n, 3, dtype=D).t())"),
    Case(
        "randn_like, channels_last",
        "t.randn_like(t.empty(2, 3, n, 2, dtype=D).to(memory_format=t.channels_last))",
    ),
    Case("normal_(mean, std)", "t.empty(n, dtype=D).normal_(0.3, 1.7)", FLOATS + COMPLEX),
    Case("normal(mean, std, size)", "t.normal(0.3, 1.7, (n,), dtype=D)"),
    Case("normal(T, T)", "t.normal(t.rand(n, 3, dtype=D).t(), t.rand(n, dtype=D))"),
    Case("normal(T, float)", "t.normal(t.rand(n, dtype=D), 1.7)"),
    Case("normal(float, T)", "t.normal(0.3, t.rand(n, dtype=D))"),
    Case("normal_, after an odd one", "(t.randn(3), t.empty(n, dtype=D).normal_(1, 2))[1]"),
    Case("log_normal_", "t.empty(n, dtype=D).log_normal_(0.3, 1.7)"),
    Case("exponential_", "t.empty(n, dtype=D).exponential_(1.3)"),
    Case("cauchy_", "t.empty(n, dtype=D).cauchy_(0.3, 1.7)"),
    Case("geometric_", "t.empty(n, dtype=D).geometric_(0.2)", FLOATS + SIGNED),
    Case("random_()", "t.empty(n, dtype=D).random_()", FLOATS + SIGNED + ("bool",)),
    Case("random_(a, b)", "t.empty(n, dtype=D).random_(3, 99)", FLOATS + SIGNED + ("uint16",)),
    Case("random_(a, b), wide", "t.empty(n, dtype=D).random_(-3, 2**29)", ("int32", "float64")),
    Case("random_(a, None)", "t.empty(n, dtype=D).random_(5, None)", FLOATS + SIGNED),
    Case("random_(-2**63, None)", "t.empty(n, dtype=D).random_(-2**63, None)", ("int64", *SINGLE)),
    Case("randint", "t.randint(-5, 60, (n,), dtype=D)", FLOATS + SIGNED[1:]),
    Case("randint, 64 bits", "t.randint(-2**62, 2**62, (n,), dtype=D)", ("int64",)),
    Case("randint_like", "t.randint_like(t.empty(n, 3, dtype=D).t(), 9)", FLOATS + SIGNED),
    Case("randperm", "t.randperm(n, dtype=D)", ("int64", "int32", "int16", "float32"),
         sizes=(1, 10, 511, 512, 3000)),
    Case("bernoulli", "t.bernoulli(t.rand(n, 3, dtype=D).t())"),
    Case("bernoulli_(p)", "t.empty(n, dtype=D).bernoulli_(0.3)", FLOATS + SIGNED + ("bool",)),
    Case("bernoulli_(P)", "t.empty(n, 3, dtype=D).t().bernoulli_(t.rand(n))", FLOATS + SIGNED),
    Case("multinomial", "t.multinomial(t.rand(3, n, dtype=D) + 0.01, n)", FLOATS, HALF_TIES, TIES),
    Case("multinomial, one", "t.multinomial(t.rand(9, n, dtype=D) + 0.01, 1)", SINGLE),
    Case("multinomial, replacement", "t.multinomial(t.rand(3, n, dtype=D) + 0.01, 2 * n, True)"),
    Case("poisson", "t.poisson(t.rand(n, dtype=D) * 40)"),
    Case("binomial", "t.binomial((t.rand(n, dtype=D) * 99).floor(), t.rand(n, dtype=D))", SINGLE),
    Case("poisson, one rate", "t.poisson(t.full((n,), 4.5, dtype=D))", sizes=(1, 7, 200, 9000)),
    Case("poisson, one high rate", "t.poisson(t.full((n,), 60, dtype=D))", sizes=(1, 7, 200, 9000)),
    Case("binomial, one of few trials", "t.binomial(t.full((n,), 9.0, dtype=D), t.full((n,), 0.7, dtype=D))",
         SINGLE, sizes=(1, 7, 200, 9000)),
    Case("binomial, one of many", "t.binomial(t.full((n,), 1e4, dtype=D), t.full((n,), 0.3, dtype=D))",
         SINGLE, sizes=(1, 7, 200, 9000)),
    Case("_standard_gamma", "t._standard_gamma(t.rand(n, dtype=D) * 4)", SINGLE),
    Case("_sample_dirichlet", "t._sample_dirichlet(t.rand(4, n, dtype=D) * 4)", SINGLE,
         {"float64": 4}, SUMS),
    Case("dropout", "t.nn.functional.dropout(t.randn(n, 3, dtype=D).t(), 0.3)"),
    Case("dropout1d", "t.nn.functional.dropout1d(t.randn(4, n, 3, dtype=D), 0.3)"),
    Case("dropout2d", "t.nn.functional.dropout2d(t.randn(4, n, 3, 2, dtype=D), 0.3)"),
    Case("dropout3d", "t.nn.functional.dropout3d(t.randn(4, n, 3, 2, 2, dtype=D), 0.3)"),
    Case("alpha_dropout", "t.nn.functional.alpha_dropout(t.randn(n, dtype=D), 0.3, True)"),
    Case("feature_alpha_dropout",
         "t.nn.functional.feature_alpha_dropout(t.randn(4, n, 3, dtype=D), 0.3, True)"),
    Case("native_dropout", "t.native_dropout(t.randn(n, dtype=D), 0.3, True)[0]"),
    Case("rrelu", "t.nn.functional.rrelu(t.randn(n, dtype=D), 0.1, 0.4, True)", (*SINGLE, "bfloat16"),
         {"bfloat16": 1}, SLOPES),
    Case("gumbel_softmax", "t.nn.functional.gumbel_softmax(t.zeros(n, 5, dtype=D))", SINGLE,
         {"float32": 16, "float64": 16}, SOFTMAX),
    Case("gumbel_softmax, hard", "t.nn.functional.gumbel_softmax(t.zeros(5, n, dtype=D).t(), hard=True)",
         SINGLE),
    Case("scaled_dot_product_attention, dropped weights",
         "t.nn.functional.scaled_dot_product_attention(*[t.zeros(2, 7, 7, dtype=D)] * 2, "
         "t.eye(7, dtype=D).expand(2, 7, 7), None, 0.3) != 0", SINGLE),
    Case("fractional_max_pool2d",
         "t.nn.functional.fractional_max_pool2d(t.randn(2, n, 12, 9, dtype=D), 2, (3, 4))", SINGLE),
    Case("fractional_max_pool3d",
         "t.nn.functional.fractional_max_pool3d(t.randn(2, n, 5, 9, 8, dtype=D), 2, (3, 4, 5))", SINGLE,
         sizes=(1, 7, 33)),
)  # fmt: skip


def drawn(lib, case, dtype, n, seed):
    """What a call gives from a seed: numbers, shape, strides, dtype and where the generator is after it."""
    lib.manual_seed(seed)
    made = eval(case.call, {"t": lib, "D": getattr(lib, dtype), "n": n})
    state = bytes(lib.get_rng_state().tolist())
    if made.is_complex():
        made = lib.view_as_real(made)
    shown = tuple(made.shape), made.stride(), str(made.dtype).removeprefix("torch.")
    return made.reshape(-1).tolist(), shown, state


def steps(a, b, dtype):
    """Units in the last place between two numbers; infinity where there is none that counts."""
    if a == b or (a != a and b != b):
        return 0
    bits = {"float64": "d", "complex128": "d", "float32": "f", "complex64": "f", "float16": "e",
            "bfloat16": "f"}.get(dtype)  # fmt: skip
    if bits is None or a != a or b != b:
        return float("inf")
    whole = {"d": "q", "f": "i", "e": "h"}[bits]
    x, y = (struct.unpack(whole, struct.pack(bits, v))[0] for v in (a, b))
    x, y = (v if v >= 0 else -(v & ((1 << 8 * struct.calcsize(whole) - 1) - 1)) for v in (x, y))
    return abs(x - y) // ((1 << 16) if dtype == "bfloat16" else 1)


def recorded_calls():
    """Case, dtype and size of the calls whose numbers are kept, one seed each."""
    for case in CASES:
        for dtype in case.dtypes:
            if not case.apart.get(dtype, 0) and dtype in case.dtypes:
                yield case, dtype, case.sizes[2 if dtype == case.dtypes[0] else 1]


def summary(numbers, state):
    """A few numbers as they are, and sums of all and of the state."""
    return {
        "first": [float(v).hex() for v in numbers[:4]],
        "all": hashlib.sha256(repr(numbers).encode()).hexdigest()[:16],
        "state": hashlib.sha256(state).hexdigest()[:16],
    }


def recorded(lib):
    """The text of the file that keeps what PyTorch draws; `docs/make.py` writes it."""
    rows = {}
    for seed, (case, dtype, n) in enumerate(recorded_calls()):
        numbers, _, state = drawn(lib, case, dtype, n, seed)
        rows[f"{case.name} {dtype}"] = {"seed": seed, "n": n, **summary(numbers, state)}
    text = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    return f"{{\n{text}\n}}\n"
