"""The comparison itself, against ``torch.testing.assert_close``: it must fail where that fails."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mindtorch_core as torch
from mindtorch_core.testing import (
    assert_close,
    assert_same_outcome,
    default_tolerances,
    from_pytorch,
)

pt = pytest.importorskip("torch")

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool", "complex64"]


def agrees(actual, expected, **options):
    """Both comparisons pass, or both fail."""
    theirs = outcome_of(pt.testing.assert_close, actual, expected, **options)
    ours = outcome_of(assert_close, from_pytorch(actual), from_pytorch(expected), **options)
    assert ours == theirs
    assert outcome_of(assert_close, from_pytorch(actual), expected, **options) == theirs
    return theirs


def outcome_of(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except (AssertionError, ValueError) as error:
        return type(error)
    return None


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.sampled_from(["float32", "float64", "float16", "bfloat16"]),
    st.floats(-1e4, 1e4),
    st.sampled_from([0.0, 1e-9, 1e-7, 1e-6, 2e-6, 9e-6, 3e-5, 9e-4, 1.5e-3, 0.01, 0.1]),
    st.booleans(),
)
def test_default_tolerances(dtype, value, change, absolute):
    expected = pt.tensor([1.0, value], dtype=getattr(pt, dtype))
    moved = value + change if absolute else value * (1 + change)
    agrees(pt.tensor([1.0, moved], dtype=getattr(pt, dtype)), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_and_unequal_values(dtype):
    expected = pt.tensor([[1, 0], [1, 1]]).to(getattr(pt, dtype))
    assert agrees(expected.clone(), expected) is None
    assert agrees(pt.ones(2, 2).to(expected.dtype), expected) is AssertionError


def test_special_values():
    pool = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, 3e38]
    for a in pool:
        for b in pool:
            for equal_nan in (False, True):
                agrees(pt.tensor([a]), pt.tensor([b]), equal_nan=equal_nan)


def test_options_and_attributes():
    x = pt.arange(6.0).reshape(2, 3)
    assert agrees(x, x.double()) is AssertionError
    assert agrees(x, x.double(), check_dtype=False) is None
    assert agrees(x, x.reshape(3, 2)) is AssertionError
    assert agrees(x, x[:1]) is AssertionError
    assert agrees(x, x.t().contiguous().t(), check_stride=True) is AssertionError
    assert agrees(x, x.t().contiguous().t()) is None
    assert agrees(x, x + 0.5, rtol=0.0, atol=1.0) is None
    assert agrees(x, x + 0.5, rtol=0.0, atol=0.1) is AssertionError
    assert agrees(x, x, rtol=0.1) is ValueError
    assert agrees(pt.zeros(0, 2), pt.zeros(0, 2)) is None


def test_sequences_and_numbers():
    x = torch.ones(2)
    assert_close([x, (1.0, 2)], [x, (1.0, 2)])
    assert_close({"a": x}, {"a": x})
    for actual, expected in (
        ([x], [x, x]), ({"a": x}, {"b": x}), (1, 2), (1.0, 1.1), (x, None), ([x], [x + 1]),
    ):  # fmt: skip
        with pytest.raises(AssertionError):
            assert_close(actual, expected)


def test_the_text_says_where_and_how_much():
    with pytest.raises(
        AssertionError,
        match=r"case 3: Tensor-likes are not close!\n\nMismatched elements: 1 / 4 \(25\.0%\)\n"
        r"Greatest absolute difference: 4\.0 at index \(1, 0\)",
    ):
        assert_close(torch.tensor([[1.0, 1], [5, 1]]), torch.ones(2, 2), msg="case 3")
    assert default_tolerances("float16", torch.float32) == (1e-3, 1e-5)
    assert default_tolerances(torch.int64) == (0.0, 0.0)


DIFFERENT = {
    "tensors": lambda lib: ([lib.tensor([1.0, 2, 3, 4])], [lib.tensor([1.0, 2, 4, 8])]),
    "exactly": lambda lib: ([lib.tensor([[1, 2], [3, 4]])], [lib.tensor([[1, 2], [6, 4]])]),
    "one element": lambda lib: ([lib.tensor([1.0])], [lib.tensor([2.0])]),
    "scalars": lambda lib: (lib.tensor(3.0), lib.tensor(4.0)),
    "numbers": lambda lib: (3, 4),
    "booleans": lambda lib: (True, False),
    "None": lambda lib: (None, 1),
    "dtypes": lambda lib: (lib.ones(1), lib.ones(1, dtype=lib.int64)),
    "shapes": lambda lib: (lib.ones(1), lib.ones(1, 1)),
    "devices": lambda lib: (lib.ones(1), lib.ones(1, device="meta")),
    "layouts": lambda lib: (lib.ones(2).to_sparse(), lib.ones(2)),
    "keys": lambda lib: ({"a": 1.0}, {"b": 1.0}),
    "lengths": lambda lib: ([1.0, 2.0], [1.0]),
    "nested": lambda lib: ({"a": [1.0, lib.tensor(2.0)]}, {"a": [1.0, lib.tensor(3.0)]}),
    "nested lengths": lambda lib: ([[1.0]], [[1.0, 2.0]]),
    "strings": lambda lib: ("a", "a"),
}


def said(lib, name, **options):
    with pytest.raises((AssertionError, TypeError)) as caught:
        lib.testing.assert_close(*DIFFERENT[name](lib), **options)
    kept = [line for line in str(caught.value).split("\n") if line[:8] != "First at"]
    return type(caught.value), [line for line in kept if "relative" not in line.lower()]


@pytest.mark.parametrize(
    "options", [{}, {"rtol": 0, "atol": 0}, {"rtol": 0, "atol": 0.001}], ids=str
)
@pytest.mark.parametrize("name", DIFFERENT)
def test_texts_are_pytorchs(name, options):
    ours, theirs = said(torch, name, **options), said(pt, name, **options)
    assert ours == theirs


def test_relative_differences():
    with pytest.raises(
        AssertionError, match=r"relative difference: 0\.5 at index \(2,\) \(up to 1"
    ):
        assert_close(torch.tensor([1.0, 2, 6]), torch.tensor([1.0, 2, 4]))


def test_options_that_pytorch_has():
    for lib in (torch, pt):
        close, ones = lib.testing.assert_close, lib.ones(2)
        close(ones.to_sparse(), ones, check_layout=False)
        close(lib.ones(2, device="meta"), lib.ones(2, device="meta"))
        close(lib.nn.Parameter(ones), ones)
        with pytest.raises(TypeError, match="No comparison pair"):
            close(lib.nn.Parameter(ones), ones, allow_subclasses=False)
        with pytest.raises(TypeError, match="No comparison pair"):
            close(ones.sum(), 2.0)
        with pytest.raises(AssertionError, match=r"^so: Tensor-likes are not close!"):
            close(ones, ones * 2, msg=lambda text: f"so: {text}")


def test_layouts_are_taken_over():
    base = pt.arange(24.0).reshape(4, 6)
    for theirs in (base, base.t(), base[1::2, 2:], base[0].expand(3, 6), base[2, 3], base[:0]):
        ours = from_pytorch(theirs)
        assert ours.tolist() == theirs.tolist()
        assert ours.stride() == theirs.stride()
        assert ours.storage_offset() == theirs.storage_offset()
        assert ours.is_leaf
    assert from_pytorch(base.clone().requires_grad_()).requires_grad
    assert not from_pytorch(base.clone().requires_grad_(), requires_grad=False).requires_grad


def test_outcomes():
    def fail(error):
        raise error

    assert_same_outcome(lambda: 1, lambda: 1)
    assert_same_outcome(lambda: fail(NotImplementedError()), lambda: fail(RuntimeError()))
    for ours, theirs in (
        (lambda: fail(ValueError()), lambda: fail(TypeError())),
        (lambda: 1, lambda: fail(TypeError())),
        (lambda: fail(ValueError("why")), lambda: 1),
        (lambda: 1, lambda: 2),
    ):
        with pytest.raises(AssertionError):
            assert_same_outcome(ours, theirs)
