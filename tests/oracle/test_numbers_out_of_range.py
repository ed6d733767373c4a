"""Numbers beside integers that cannot hold them, against PyTorch: the same values, or an error as there."""

import warnings

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import assert_close, outcome

pt = pytest.importorskip("torch")

INTEGERS = ("int8", "uint8", "int64")
NUMBERS = (
    2, -1, 127, 128, 255, 256, 300, -128, -129, -255, -300, 65536, 2**31, -(2**31), 2**32,
    2**63 - 1, 2**63, -(2**63), 2**64 - 1, 2.5, -2.5, np.int64(300), np.uint64(5),
)  # fmt: skip
BEYOND = (-(2**63) - 1, 2**64, 2**70)


def run(lib, code, dtype, s):
    t = lib.tensor([2, 3])
    t = t == 2 if dtype == "bool" else t.to(getattr(lib, dtype))
    index = lib.tensor([0])
    matrix = t[None].expand(2, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(code, {"torch": lib, "t": t, "s": s, "index": index, "matrix": matrix})


def check(code, dtype, s, *, lazily=False):
    def ours():
        if not lazily:
            return run(torch, code, dtype, s)
        with torch.pipeline():
            return run(torch, code, dtype, s)

    theirs, mine = outcome(lambda: run(pt, code, dtype, s)), outcome(ours)
    if isinstance(theirs, Exception):
        assert type(mine) is type(theirs), (code, dtype, s, mine, theirs)
    elif isinstance(mine, Exception):
        raise AssertionError((code, dtype, s)) from mine
    else:
        assert_close(mine, theirs, rtol=1e-5, atol=1e-30, equal_nan=True)


# Whose results are floats: the number keeps its value.
FLOATS = [
    "torch.xlogy(s, t)",
    "torch.special.xlogy(s, t)",
    "torch.special.xlog1py(s, t)",
    "torch.special.zeta(s, t)",
    "torch.div(s, t)",
    "torch.divide(s, t)",
    "torch.true_divide(s, t)",
]
POLYNOMIALS = [
    f"torch.special.{name}(s, t)"
    for name in (
        "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v",
        "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l",
        "legendre_polynomial_p",
    )
]  # fmt: skip


@pytest.mark.parametrize("lazily", [False, True], ids=["eager", "pipeline"])
@pytest.mark.parametrize("code", [*FLOATS, *POLYNOMIALS, "torch.div(s, t, rounding_mode='floor')"])
def test_a_number_that_comes_first_keeps_its_value(code, lazily):
    for dtype in INTEGERS:
        for s in NUMBERS[::3] if lazily or code in POLYNOMIALS else NUMBERS:
            if (
                code not in POLYNOMIALS or abs(s) < 2**32
            ):  # above, the last steps overflow or do not
                check(code, dtype, s, lazily=lazily)


@pytest.mark.parametrize(
    "code",
    [
        "torch.clamp(t, min=s)",
        "torch.clamp(t, max=s)",
        "t ** s",
        "t.pow_(s)",
        "torch._foreach_pow([t], s)[0]",
        "torch.threshold(t, s, 5)",
        "torch.threshold(t, 2, s)",
        "torch.index_add(t, 0, index, t[:1], alpha=s)",
        "t.index_add_(0, index, t[:1], alpha=s)",
        "torch.addmm(matrix, matrix, matrix, alpha=s)",
        "torch.addmm(matrix, matrix, matrix, beta=s)",
        "torch.addmv(t, matrix, t, alpha=s)",
        "torch.addr(t, t, t, alpha=s)",
        "torch.addr(t, t, t, beta=s)",
        "torch.searchsorted(t, s)",
        "torch.bucketize(s, t)",
    ],
)
def test_other_numbers_are_taken_or_refused(code):
    for dtype in INTEGERS:
        for s in NUMBERS:
            check(code, dtype, s)


def test_factors_of_products():
    for dtype in INTEGERS:
        for s in NUMBERS:
            if not isinstance(s, float):
                check("torch.addcmul(t, t, t, value=s)", dtype, s)


@pytest.mark.parametrize(
    "code",
    [
        "s - t",
        "s % t",
        "s // t",
        "s ** t",
        "s << t",
        "s >> t",
        "torch.add(s, t)",
        "torch.mul(s, t)",
    ],
)
@pytest.mark.parametrize("s", BEYOND)
def test_what_no_dtype_holds_is_refused(code, s):
    for dtype in INTEGERS:
        check(code, dtype, s)


@pytest.mark.parametrize(
    "code", ["t < s", "t + s", "s + t", "t * s", "t == s", "torch.where(t, t, s)"]
)
@pytest.mark.parametrize("s", [2, 2**63 - 1, 2**63, 2**64 - 1, -(2**63)])
def test_large_numbers_beside_booleans(code, s):
    check(code, "bool", s)


@pytest.mark.parametrize("code", ["torch.add(t, s)", "torch.lt(t, s)", "t.add_(s)"])
def test_numpys_numbers_of_64_bits_without_a_sign(code):
    check(code, "int64", np.uint64(2**63 + 1))


@pytest.mark.parametrize("dtype", [*INTEGERS, "bool", "float32"])
@pytest.mark.parametrize(
    "s", [np.int64(300), np.int8(-1), np.float64(1e300), np.float64("nan"), np.float64(2.5)]
)
def test_numpys_numbers_become_elements_if_they_fit(dtype, s):
    check("torch.tensor(s, dtype=t.dtype)", dtype, s)


@pytest.mark.parametrize("s", [2, -1, 0, 1, 0.5, 2.5, 256])
def test_places_among_booleans(s):
    for code in ("torch.searchsorted(t.flip(0), s)", "torch.bucketize(s, t.flip(0))"):
        check(code, "bool", s)


class Column:
    """As a column of pandas: iteration gives Python's numbers, a position NumPy's, by the row's label."""

    def __init__(self, labels):
        self.labels = labels

    def __len__(self):
        return len(self.labels)

    def __iter__(self):
        return iter([0.1] * len(self.labels))

    def __getitem__(self, label):
        return {k: np.float64(0.1) for k in self.labels}[label]


@pytest.mark.parametrize("data", [Column([0, 1]), [Column([0, 1])], (Column([0]), [2])])
def test_a_column_has_the_dtype_of_its_elements(data):
    ours, theirs = torch.tensor(data), pt.tensor(data)
    assert ours.dtype is torch.float64
    assert theirs.dtype is pt.float64
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("data", [Column([1, 2]), Column("ab"), [Column("ab")]])
def test_what_has_no_first_element_is_refused(data):
    for lib in (torch, pt):
        with pytest.raises(
            ValueError, match="could not determine the shape of object type 'Column'"
        ):
            lib.tensor(data)
