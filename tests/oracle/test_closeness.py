"""equal, isclose, allclose and nextafter against PyTorch."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mindtorch_core as torch
from elementwise import raise_or_return, sample
from mindtorch_core.testing import assert_close, assert_same_outcome, from_pytorch, outcome

pt = pytest.importorskip("torch")

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool", "complex64"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 3e38, -1e-45, 2.5]


def agree(name, a, b, *args, equals_nan=False, **kwargs):
    """The function gives in both libraries the same, as function and as method."""
    x, y = from_pytorch(a), from_pytorch(b)
    expected = outcome(getattr(pt, name), a, b, *args, **kwargs)
    for call in (
        lambda: getattr(torch, name)(x, y, *args, **kwargs),
        lambda: getattr(x, name)(y, *args, **kwargs),
    ):
        assert_same_outcome(call, lambda: raise_or_return(expected), equal_nan=equals_nan)
    return expected


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["equal", "isclose", "allclose"])
def test_comparison_by_dtype_and_layout(name, dtype):
    for layout in ("contiguous", "transposed", "expanded", "stepped", "scalar", "empty"):
        a = sample(layout, dtype)
        agree(name, a, a.clone())
        agree(name, a, sample(layout, dtype, seed=1))
        agree(name, a, (a * (1 + 1e-6)).to(a.dtype))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.sampled_from(SPECIAL), st.sampled_from(SPECIAL)), min_size=1, max_size=4),
    st.sampled_from([0.0, 1e-5, 0.5, math.inf]),
    st.sampled_from([0.0, 1e-8, 1.0, math.inf]),
    st.booleans(),
)
def test_isclose_of_special_values(pairs, rtol, atol, equal_nan):
    a, b = (pt.tensor(values) for values in zip(*pairs, strict=True))
    for name in ("isclose", "allclose"):
        agree(name, a, b, rtol, atol, equal_nan)


def test_isclose_of_integers_does_not_wrap_around():
    a, b = pt.tensor([1, 0, 255], dtype=pt.uint8), pt.tensor([2, 255, 254], dtype=pt.uint8)
    assert agree("isclose", a, b, atol=1).tolist() == [True, False, True]
    assert agree("isclose", a != 0, b != 255, atol=1).all()


@pytest.mark.parametrize(
    ("a", "b", "options"),
    [
        (pt.ones(2, 1), pt.ones(3), {}),
        (pt.ones(2), pt.ones(3), {}),
        (pt.ones(2), pt.ones(2, dtype=pt.float64), {}),
        (pt.ones(2), pt.ones(2, dtype=pt.int64), {}),
        (pt.ones(2), pt.ones(2), {"rtol": -1.0}),
        (pt.ones(2), pt.ones(2), {"atol": -1.0}),
        (pt.ones(2), pt.ones(2), {"rtol": math.nan}),
        (pt.ones(2), pt.ones(2), {"rtol": "a"}),
        (pt.ones(2, dtype=pt.uint16), pt.ones(2, dtype=pt.int32), {}),
    ],
)
def test_shapes_dtypes_and_tolerances(a, b, options):
    for name in ("equal", "isclose", "allclose"):
        if name != "equal" or not options:
            agree(name, a, b, **options)


def test_equal_wants_the_shape_and_not_the_dtype():
    assert torch.equal(torch.ones(2), torch.ones(2, dtype=torch.int64)) is True
    assert torch.equal(torch.ones(2), torch.ones(1)) is False
    assert torch.equal(torch.empty(0, 2), torch.empty(2, 0)) is False
    assert torch.equal(torch.tensor(math.nan), torch.tensor(math.nan)) is False


@pytest.mark.parametrize("call", [
    lambda lib, t: lib.equal(t, t), lambda lib, t: lib.allclose(t, t), lambda lib, t: lib.equal(t, 3),
    lambda lib, t: lib.isclose(t, 3), lambda lib, t: lib.isclose(t, t).shape,
])  # fmt: skip
def test_on_meta_tensors(call):
    found, expected = (outcome(call, lib, lib.ones(2, device="meta")) for lib in (torch, pt))
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected))
    else:
        assert found == expected


def test_they_are_not_recorded():
    x = torch.ones(2, requires_grad=True)
    assert not torch.isclose(x, x).requires_grad
    assert torch.allclose(x, x * 1)
    assert torch.equal(x, x)


def test_inside_a_pipeline_the_answer_is_known():
    with torch.pipeline():
        x = torch.ones(3) + 1
        assert torch.equal(x, torch.full((3,), 2.0))
        close = torch.isclose(x, x * 1.0000001)
    assert close.tolist() == [True] * 3


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_nextafter(dtype):
    d = getattr(pt, dtype)
    values = pt.tensor([*SPECIAL, 65504.0, 1e-30, 6e-8, -2.0], dtype=pt.float64).to(d)
    a, b = values[:, None], values[None, :]
    expected = agree("nextafter", a, b, equals_nan=True)
    x = from_pytorch(a.expand(expected.shape).clone())
    assert_close(x.nextafter_(from_pytorch(b)), expected, equal_nan=True)
    if dtype != "float16":  # there NumPy gives the first of two equal zeros
        assert signs(torch.nextafter(from_pytorch(a), from_pytorch(b))) == signs(expected)


def signs(t):
    return [math.copysign(1, v) for v in t.flatten().tolist() if v == v]


def test_nextafter_without_a_kernel():
    """The composition, for backends that bring none."""
    from mindtorch_core.operators import definitions

    (compose,) = (d.decomposition for d in definitions() if d.name == "nextafter")
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        values = pt.tensor([*SPECIAL, 1e-7, 2.0**-1074], dtype=pt.float64).to(getattr(pt, dtype))
        a, b = values[:, None], values[None, :]
        found = compose(from_pytorch(a), from_pytorch(b))
        assert_close(found, pt.nextafter(a, b), equal_nan=True, rtol=0.0, atol=0.0)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (pt.ones(2, 1), pt.zeros(3)),
        (pt.ones(2), pt.zeros(2, dtype=pt.float64)),
        (pt.ones(2, dtype=pt.int64), pt.zeros(2)),
        (pt.ones(2, dtype=pt.int64), pt.zeros(2, dtype=pt.int64)),
        (pt.ones(2, dtype=pt.bool), pt.zeros(2, dtype=pt.bool)),
        (pt.ones(2, dtype=pt.complex64), pt.zeros(2)),
        (pt.ones(2), pt.zeros(3)),
        (pt.ones(0), pt.zeros(1)),
    ],
)
def test_nextafter_of_mixed_operands(a, b):
    agree("nextafter", a, b)


def test_gradient_of_nextafter():
    grads = []
    for lib in (torch, pt):
        a = lib.tensor([1.0, 2.0, 3.0, 1.0], requires_grad=True)
        b = lib.tensor([2.0, 2.0, 1.0, math.nan], requires_grad=True)
        lib.nextafter(a, b).sum().backward()
        grads.append((a.grad, b.grad))
    assert_close(*grads)
