"""Numbers, lists and leaves where an op may refuse them, against PyTorch: the same values, or an error as there."""

import warnings

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import assert_close, assert_same_outcome, outcome

pt = pytest.importorskip("torch")

DTYPES = ("bool", "uint8", "int8", "int64", "float32", "float64", "complex64")
NUMBERS = (
    2, 0, True, 300, -1, 2**40, 2**63, 2**64 - 1, 2**64, -(2**63) - 1, 2.7, -2.7, 1e300,
    float("inf"), np.float32(2), np.int64(3),
)  # fmt: skip


def run(lib, code, dtype="float32", s=None):
    t = lib.tensor([1, 2]).to(getattr(lib, dtype))
    f = lib.tensor([2.0, 0.0])
    leaf = lib.tensor([3.0, 4.0], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(
            code, {"torch": lib, "t": t, "s": s, "np": np, "f": f, "leaf": leaf, "grad": grad}
        )


def grad(leaf, out):
    """What a result is, and the gradient that comes through it."""
    if not out.requires_grad:
        return out
    out.sum().backward()
    return out.detach() * 100 + (0 if leaf.grad is None else leaf.grad)


def check(code, dtype="float32", s=None):
    theirs, mine = (outcome(lambda lib=lib: run(lib, code, dtype, s)) for lib in (pt, torch))
    if isinstance(theirs, Exception):
        assert type(mine) is type(theirs), (code, dtype, s, mine, theirs)
    elif isinstance(mine, Exception):
        raise AssertionError((code, dtype, s)) from mine
    else:
        assert mine.requires_grad == theirs.requires_grad
        assert_close(mine.detach(), theirs.detach(), rtol=1e-5, atol=1e-30, equal_nan=True)


@pytest.mark.parametrize("code", ["torch.float_power(t, s)", "torch.float_power(s, t)"])
@pytest.mark.parametrize("s", [2, True, 2**63, 2**64 - 1, 2**64, -(2**63) - 1, 2.5, 1j])
def test_powers_in_double_precision_take_what_64_bits_hold(code, s):
    for dtype in DTYPES:
        check(code, dtype, s)


@pytest.mark.parametrize("s", [np.uint64(2**63 + 1), np.uint64(5), np.uint8(7), 2**63])
def test_bases_that_are_numbers(s):
    for dtype in ("int64", "float32"):
        check("torch.pow(s, t)", dtype, s)


@pytest.mark.parametrize("s", NUMBERS)
def test_copies_of_numbers(s):
    for dtype in DTYPES:
        check("t.copy_(s)", dtype, s)
        check("t.copy_(s, True)", dtype, s)


@pytest.mark.parametrize(
    "code",
    [
        "t.copy_('a')",
        "t.copy_(None)",
        "t.copy_([1, 2])",
        "t.copy_(np.ones(2))",
        "t.copy_(1j)",
        "leaf.copy_(2)",
        "grad(leaf, (leaf * 1).copy_(2))",
        "torch.empty(0).copy_(2)",
    ],
)
def test_copies_of_what_is_no_number_and_into_what_is_recorded(code):
    check(code)


@pytest.mark.parametrize("method", ["as_strided", "as_strided_"])
@pytest.mark.parametrize(
    "args",
    ["t.long(), t.long()", "t.long(), t", "t.long(), (1, 1)", "(1, 1), t.long()", "t, (1, 1)"],
)
def test_sizes_that_are_tensors_are_refused(method, args):
    check(f"torch.ones(4).{method}({args})")


@pytest.mark.parametrize(
    "s", [2.7, -2.7, 0.5, 300.7, 300, 1e30, float("nan"), True, 1j, 1 + 0j, np.float32(2.7)]
)
def test_factors_beside_integers_lose_their_fraction(s):
    for dtype in ("bool", "uint8", "int8", "int64"):
        check("torch.addcmul(t, t, t, value=s)", dtype, s)
        check("t.addcmul_(t, t, value=s)", dtype, s)
    check("torch.addcmul(t, t, t, value=torch.tensor(2.7))", "int64")


@pytest.mark.parametrize(
    "data",
    [
        "[T([1.0]), T([2.0])]", "[T([1]), 2]", "[2.5, T([[1]])]", "([T([True])],)", "[[1], T([2])]",
        "[T([1, 2]), T([3, 4])]", "[T([1.5, 2])]", "[1, T([1, 2])]", "[T([])]", "[T([1]), [1]]", "[T([[1.0]])]",
        "[[T(1.0)], [T([2.0])]]", "(T([3.0]), T(4))", "[T([1.0], dtype=lib.float64), T([1.0])]",
        "[T([1.0], requires_grad=True)]",
    ],
)  # fmt: skip
def test_tensors_in_lists_are_elements(data):
    for dtype in (None, "float64"):
        mine, theirs = (
            lambda lib=lib: lib.tensor(
                eval(data, {"T": lib.tensor, "lib": lib}), dtype=dtype and getattr(lib, dtype)
            )
            for lib in (torch, pt)
        )
        assert_same_outcome(mine, theirs)
