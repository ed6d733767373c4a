"""Element-wise ops of several tensors against PyTorch: dtypes, layouts, in place, ``out=``."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mindtorch_core as torch
from elementwise import (
    DTYPES,
    FLOATS,
    LAYOUTS,
    check,
    loose,
    raise_or_return,
    sample,
    strides_that_matter,
)
from mindtorch_core.testing.comparison import (
    assert_close,
    assert_same_outcome,
    from_pytorch,
    outcome,
)

pt = pytest.importorskip("torch")


BINARY = [
    "add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "maximum", "minimum",
    "atan2", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor",
    "bitwise_and", "bitwise_or", "bitwise_xor",
]  # fmt: skip
PAIRS = [
    ("contiguous", "contiguous"), ("transposed", "transposed"), ("contiguous", "expanded"),
    ("stepped", "contiguous"), ("scalar", "contiguous"), ("contiguous", "scalar"),
    ("permuted", "permuted"), ("scalar", "scalar"), ("empty", "empty"), ("empty", "scalar"),
]  # fmt: skip


def operands(name, dtype, first, second):
    whole = dtype in ("int64", "int32", "int8", "uint8", "bool")
    positive = name in ("pow", "div", "floor_divide", "remainder", "fmod")
    return (
        sample(first, dtype, 1, positive=name == "pow" and not whole),
        sample(second, dtype, 2, positive=positive),
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_function_of_two_tensors(name, dtype):
    for first, second in PAIRS:
        a, b = operands(name, dtype, first, second)
        x, y = from_pytorch(a), from_pytorch(b)
        if dtype == "bool" and name in ("div", "floor_divide", "remainder", "fmod"):
            b = pt.ones_like(b)
            y = from_pytorch(b)
        options = {**loose(dtype), "equal_nan": True, "msg": f"{first}, {second}"}
        expected = outcome(getattr(pt, name), a, b)
        assert_same_outcome(
            lambda: getattr(torch, name)(x, y), lambda: raise_or_return(expected), **options
        )
        if isinstance(expected, Exception):
            continue
        assert strides_that_matter(getattr(torch, name)(x, y)) == strides_that_matter(expected), (
            options["msg"]
        )
        assert_close(getattr(x, name)(y), expected, **options)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [n for n in BINARY if n not in ("maximum", "minimum")])
def test_function_of_two_tensors_in_place(name, dtype):
    for first, second in [*PAIRS[:6], ("stepped", "stepped")]:
        a, b = operands(name, dtype, first, second)
        a = a.clone(memory_format=pt.preserve_format)
        if dtype == "bool" and name in ("div", "floor_divide", "remainder", "fmod"):
            b = pt.ones_like(b)
        x, y = from_pytorch(a), from_pytorch(b)
        expected = outcome(getattr(a, f"{name}_"), b)
        assert_same_outcome(
            lambda: getattr(x, f"{name}_")(y),
            lambda: raise_or_return(expected),
            equal_nan=True,
            msg=f"{first}, {second}",
            **loose(dtype),
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [2, 2.5, True, -3, 0.5, 1 + 2j])
@pytest.mark.parametrize(
    "sign", ["+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "&", "|", "^"]
)
def test_operators_with_numbers(sign, number, dtype):
    if dtype == "float16" and isinstance(number, complex):
        pytest.skip("PyTorch's experimental complex32 is not a dtype here")
    if dtype == "bool" and sign == "**" and number is True:
        pytest.skip(
            "powers of booleans are refused; PyTorch makes an exception for the exponent True"
        )
    a = sample("contiguous", dtype, positive=sign == "**")
    if sign in ("/", "//", "%"):
        a = pt.where(a == 0, pt.ones_like(a), a)
    x = from_pytorch(a)
    for text in (f"t {sign} n", f"n {sign} t"):
        code = compile(text, "<expression>", "eval")
        assert_same_outcome(
            lambda code=code: eval(code, {"t": x, "n": number}),
            lambda code=code: eval(code, {"t": a, "n": number}),
            equal_nan=True,
            msg=text,
            **loose(dtype),
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sign", ["+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "|=", "^="])
def test_assignment_operators(sign, dtype):
    for number in (2, 2.5, True):
        if dtype == "bool" and sign == "**=" and number is True:
            continue  # refused here, and in PyTorch unless the exponent is True
        a = sample("contiguous", dtype, positive=True)
        x = from_pytorch(a)

        def run(t, number=number):
            scope = {"t": t, "n": number}
            exec(f"t {sign} n", scope)
            assert scope["t"] is t
            return t

        assert_same_outcome(
            lambda: run(x), lambda: run(a), equal_nan=True, msg=str(number), **loose(dtype)
        )


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8", "uint8"])
@pytest.mark.parametrize("mode", [None, "trunc", "floor"])
def test_rounding_modes_of_division(mode, dtype):
    values = [-7, -6, -1, 0, 1, 6, 7, 100]
    a = pt.tensor([v for v in values if v >= 0 or dtype != "uint8"], dtype=getattr(pt, dtype))
    for divisor in (3, -3, 2.5, pt.tensor(3), pt.tensor(-2.0), pt.tensor([2], dtype=pt.int32)):
        if dtype == "uint8" and isinstance(divisor, int) and divisor < 0:
            continue
        other = from_pytorch(divisor) if isinstance(divisor, pt.Tensor) else divisor
        check(
            torch.div(from_pytorch(a), other, rounding_mode=mode),
            pt.div(a, divisor, rounding_mode=mode),
        )
    with pytest.raises(RuntimeError, match="rounding_mode to be one of None, 'trunc', or 'floor'"):
        torch.div(from_pytorch(a), 2, rounding_mode="up")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "name", ["floor_divide", "remainder", "fmod", "div", "pow", "atan2", "maximum", "minimum"]
)
def test_two_special_values(name, dtype):
    pool = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0]
    grid = pt.tensor(pool, dtype=getattr(pt, dtype))
    a, b = grid.reshape(-1, 1), grid.reshape(1, -1)
    check(
        getattr(torch, name)(from_pytorch(a), from_pytorch(b)),
        getattr(pt, name)(a, b),
        **loose(dtype),
    )


def test_integer_overflow_wraps():
    for dtype in ("int8", "uint8", "int32", "int64"):
        d = getattr(pt, dtype)
        top = pt.tensor([pt.iinfo(d).max, pt.iinfo(d).min], dtype=d)
        ours = from_pytorch(top)
        check(ours + 1, top + 1)
        check(ours * 2, top * 2)
        check(ours - 1, top - 1)
        check(ours.neg(), top.neg())
        check(ours.abs(), top.abs())
        check(ours**2, top**2)


def test_integer_division_by_zero_is_an_error():
    ours = torch.tensor([1, 2])
    for name in ("floor_divide", "remainder", "fmod"):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            getattr(torch, name)(ours, 0)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        torch.div(ours, torch.tensor([1, 0]), rounding_mode="floor")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("layout", ["contiguous", "transposed"])
@pytest.mark.parametrize("number", [1e-8, 65536.0, 0.1, -3, 1e-5, 70000])
def test_halves_meet_numbers_before_these_are_rounded(number, layout, dtype):
    a = sample(layout, dtype) * 100
    x = from_pytorch(a)
    for name in ("add", "sub", "mul", "div"):
        for other in (number, torch.tensor(number)):
            theirs = number if other is number else pt.tensor(number)
            exact = {"rtol": 0, "atol": 0}
            check(getattr(torch, name)(x, other), getattr(pt, name)(a, theirs), **exact)
            check(getattr(x.clone(), f"{name}_")(other), getattr(a, name)(theirs), **exact)


@pytest.mark.parametrize(
    "exponent", [pt.tensor([20, -3, 0]), pt.tensor(20), pt.tensor([0.5, 3, -1])]
)
@pytest.mark.parametrize("dtype", [*FLOATS, "int64"])
def test_ldexp(dtype, exponent):
    a = pt.tensor([0.0, 1.5, -2.0]).to(getattr(pt, dtype))
    x, by = from_pytorch(a), from_pytorch(exponent)
    check(torch.ldexp(x, by), pt.ldexp(a, exponent))
    assert_same_outcome(lambda: x.clone().ldexp_(by), lambda: a.clone().ldexp_(exponent))


@pytest.mark.parametrize("dtype", FLOATS)
def test_zero_remainders_have_the_sign_of_the_dividend(dtype):
    a = pt.tensor([0.0, -0.0, 3.0, -3.0, 1.0, -1.0], dtype=getattr(pt, dtype))
    x = from_pytorch(a)
    for divisor in (3, -3, 1.5, -1.5):
        for ours, theirs in (
            (x % divisor, a % divisor),
            (x.clone().remainder_(divisor), a % divisor),
            (torch.remainder(x, torch.full_like(x, divisor)), a % divisor),
        ):
            check(ours, theirs)
            check(torch.signbit(ours), pt.signbit(theirs))


@pytest.mark.parametrize("dtype", ["float32", "int64", "bfloat16", "complex64", "int8"])
def test_alpha(dtype):
    a, b = sample("contiguous", dtype, 1), sample("transposed", dtype, 2).t().contiguous()
    b = sample("contiguous", dtype, 2)
    x, y = from_pytorch(a), from_pytorch(b)
    for name in ("add", "sub", "rsub"):
        for alpha in (2, -1, 0, 2.5, 1j):
            assert_same_outcome(
                lambda name=name, alpha=alpha: getattr(torch, name)(x, y, alpha=alpha),
                lambda name=name, alpha=alpha: getattr(pt, name)(a, b, alpha=alpha),
                msg=f"{name} {alpha}",
            )
            assert_same_outcome(
                lambda name=name, alpha=alpha: getattr(torch, name)(x, 3, alpha=alpha),
                lambda name=name, alpha=alpha: getattr(pt, name)(a, 3, alpha=alpha),
                msg=f"{name} number {alpha}",
            )
            if name != "rsub":
                assert_same_outcome(
                    lambda name=name, alpha=alpha: getattr(x.clone(), f"{name}_")(y, alpha=alpha),
                    lambda name=name, alpha=alpha: getattr(a.clone(), f"{name}_")(b, alpha=alpha),
                    msg=f"{name}_ {alpha}",
                )


@pytest.mark.parametrize("dtype", DTYPES)
def test_where(dtype):
    for seed in range(3):
        a, b = (
            sample("contiguous", dtype, seed),
            sample("transposed", dtype, seed + 9).t().clone().t(),
        )
        condition = sample("contiguous", "bool", seed)
        c = from_pytorch(condition)
        x = from_pytorch(a)
        y = from_pytorch(sample("scalar", dtype, seed))
        check(torch.where(c, x, y), pt.where(condition, a, sample("scalar", dtype, seed)))
        check(x.where(c, y), a.where(condition, sample("scalar", dtype, seed)))
        check(torch.where(c, x, 1), pt.where(condition, a, 1))
        check(torch.where(c, 1, x), pt.where(condition, 1, a))
        check(torch.where(c, x, 1.5), pt.where(condition, a, 1.5))
        row = sample("contiguous", dtype, 3)[:1]
        column = sample("contiguous", dtype, 4)[:, :1]
        check(
            torch.where(c, from_pytorch(row), from_pytorch(column)),
            pt.where(condition, row, column),
        )
        assert b.numel() == 6
    condition = sample("contiguous", "bool")
    assert [t.tolist() for t in torch.where(from_pytorch(condition))] == [
        t.tolist() for t in pt.where(condition)
    ]
    check(torch.where(from_pytorch(condition), 1, 0), pt.where(condition, 1, 0))
    check(torch.where(from_pytorch(condition), 1.0, 0), pt.where(condition, 1.0, 0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_clamp(dtype):
    for layout in LAYOUTS:
        a = sample(layout, dtype)
        x = from_pytorch(a)
        low, high = pt.tensor(-1).to(a.dtype), pt.tensor([2]).to(a.dtype)
        cases = [
            {"min": 0}, {"max": 2}, {"min": -1, "max": 1}, {"min": 0.5}, {"min": 3, "max": 1}, {},
        ]  # fmt: skip
        for bounds in cases:
            for name in ("clamp", "clip"):
                assert_same_outcome(
                    lambda x=x, bounds=bounds, name=name: getattr(torch, name)(x, **bounds),
                    lambda a=a, bounds=bounds, name=name: getattr(pt, name)(a, **bounds),
                    msg=f"{layout} {bounds}",
                )
        assert_same_outcome(
            lambda x=x: x.clamp(from_pytorch(low), from_pytorch(high)),
            lambda a=a: a.clamp(low, high),
        )
        assert_same_outcome(
            lambda x=x: x.clamp(max=from_pytorch(high)), lambda a=a: a.clamp(max=high)
        )
        assert_same_outcome(lambda x=x: x.clone().clamp_(0, 2), lambda a=a: a.clone().clamp_(0, 2))
        assert_same_outcome(lambda x=x: x.clamp_min(1), lambda a=a: a.clamp_min(1))
        assert_same_outcome(lambda x=x: x.clamp_max(1), lambda a=a: a.clamp_max(1))


def test_clamp_keeps_nan():
    a = pt.tensor([math.nan, 1.0, -5.0, math.inf])
    check(torch.clamp(from_pytorch(a), -1, 2), pt.clamp(a, -1, 2))
    check(torch.clamp(from_pytorch(a), min=math.nan), pt.clamp(a, min=math.nan))


@pytest.mark.parametrize("dtype", DTYPES)
def test_masked_fill(dtype):
    a = sample("contiguous", dtype)
    mask = sample("contiguous", "bool", 5)
    for value in (2, 1.5, True, pt.tensor(3), pt.tensor(2.5), 1j):
        ours = from_pytorch(value) if isinstance(value, pt.Tensor) else value
        assert_same_outcome(
            lambda ours=ours: from_pytorch(a).masked_fill(from_pytorch(mask), ours),
            lambda value=value: a.masked_fill(mask, value),
            msg=str(value),
        )
        assert_same_outcome(
            lambda ours=ours: from_pytorch(a).masked_fill_(from_pytorch(mask), ours),
            lambda value=value: a.clone().masked_fill_(mask, value),
            msg=str(value),
        )
    row = mask[:1]
    check(from_pytorch(a).masked_fill(from_pytorch(row), 1), a.masked_fill(row, 1))


def test_out_argument():
    a, b = sample("contiguous", "float32", 1), sample("contiguous", "float32", 2)
    x, y = from_pytorch(a), from_pytorch(b)
    for name in ("add", "sub", "mul", "div", "maximum", "pow", "eq", "atan2"):
        out = torch.empty(2, 3)
        theirs = pt.empty(2, 3)
        returned = getattr(torch, name)(x, y, out=out)
        assert returned is out
        check(out, getattr(pt, name)(a, b, out=theirs), equal=True) if False else assert_close(
            out, getattr(pt, name)(a, b, out=theirs), equal_nan=True
        )
    for name in ("exp", "sin", "sqrt", "tanh", "abs", "neg", "sigmoid", "floor"):
        out = torch.empty(3, 2).t()
        assert getattr(torch, name)(x, out=out) is out
        assert out.stride() == (1, 2)
        assert_close(out, getattr(pt, name)(a), equal_nan=True)
    wide = torch.empty(2, 3, dtype=torch.float64)
    torch.add(x, y, out=wide)
    assert_close(wide, pt.add(a, b, out=pt.empty(2, 3, dtype=pt.float64)))
    empty = torch.empty(0)
    assert torch.mul(x, y, out=empty) is empty
    assert empty.shape == (2, 3)


@st.composite
def arranged(draw, shape, dtype, seed):
    """A PyTorch tensor that broadcasts to a shape, in any order, step and expansion."""
    kept = shape[draw(st.integers(0, len(shape))) if draw(st.integers(0, 3)) == 0 else 0 :]
    sizes = [1 if draw(st.integers(0, 4)) == 0 else n for n in kept]
    order = draw(st.permutations(range(len(sizes))))
    steps = [draw(st.sampled_from([1, 1, 1, 2, 4])) for _ in sizes]
    memory = [sizes[i] * steps[i] for i in order]
    count = pt.Size(memory).numel()
    values = pt.randn(count, generator=pt.Generator().manual_seed(seed)) * 3
    if dtype.startswith("u"):
        values = values.abs()
    back = [order.index(i) for i in range(len(order))]
    t = values.to(getattr(pt, dtype)).reshape(memory).permute(back)
    t = t[tuple(slice(None, None, step) for step in steps)]
    return t.expand(kept) if draw(st.booleans()) else t


SOME = ["float32", "float64", "int64", "int32", "int8", "bool", "bfloat16"]


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.data())
def test_any_arrangement_of_operands(data):
    shape = data.draw(st.lists(st.sampled_from([1, 2, 3, 5, 0]), max_size=4))
    kinds = data.draw(st.tuples(st.sampled_from(SOME), st.sampled_from(SOME)))
    a, b = (data.draw(arranged(shape, kind, i)) for i, kind in enumerate(kinds))
    x, y = from_pytorch(a), from_pytorch(b)
    name = data.draw(
        st.sampled_from(["add", "mul", "lt", "maximum", "logical_xor", "where", "div"])
    )
    mask = data.draw(arranged(shape, "bool", 7))
    if name == "where":
        found, expected = torch.where(from_pytorch(mask), x, y), pt.where(mask, a, b)
    else:
        found, expected = getattr(torch, name)(x, y), getattr(pt, name)(a, b)
    # Where the operands' orders of dimensions disagree, the result's order is NumPy's.
    assert_close(found, expected, rtol=1e-2, atol=1e-2, equal_nan=True)
    name = data.draw(
        st.sampled_from(["neg", "abs", "sin", "logical_not", "isfinite", "sign", "exp", "sigmoid"])
    )
    if kinds[0] != "bool" or name not in ("neg", "abs"):
        compare = assert_close if 0 in a.stride() else check
        compare(getattr(x, name)(), getattr(a, name)(), rtol=1e-2, atol=1e-2)
    if a.is_floating_point() and len({*a.flatten().tolist()}) == a.numel():
        write = data.draw(
            st.sampled_from(["neg_", "abs_", "sin_", "mul_", "add_", "exp_", "relu_", "zero_"])
        )
        arguments = (2,) if write in ("mul_", "add_") else ()
        if 0 not in a.stride():
            check(
                getattr(x, write)(*arguments), getattr(a, write)(*arguments), rtol=1e-2, atol=1e-2
            )


def test_in_place_through_overlapping_operands():
    a = pt.arange(6.0).reshape(2, 3)
    x = from_pytorch(a)
    check(x.add_(x), a.add_(a))
    square_a = pt.arange(9.0).reshape(3, 3)
    square_x = from_pytorch(square_a)
    assert_same_outcome(lambda: square_x.mul_(square_x), lambda: square_a.mul_(square_a))


def test_numpy_agrees_on_broadcasting():
    np = pytest.importorskip("numpy")
    rng = np.random.default_rng(0)
    for first, second in [
        ((2, 1, 3), (4, 1)),
        ((1,), (3, 1)),
        ((), (2, 2)),
        ((0, 1), (1, 4)),
        ((5,), (2, 5)),
    ]:
        a, b = rng.standard_normal(first), rng.standard_normal(second)
        x, y = torch.tensor(a), torch.tensor(b)
        for name, function in (("add", np.add), ("mul", np.multiply), ("maximum", np.maximum)):
            assert_close(getattr(torch, name)(x, y), function(a, b), check_device=False)
