"""Sums and means that leave NaN out, and reductions of NaN and infinities or of nothing, against PyTorch."""

import itertools

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import assert_close, assert_same_outcome

pt = pytest.importorskip("torch")

NAN, INF = float("nan"), float("inf")
CORNERS = [complex(a, b) for a in (1.0, INF, -INF, NAN) for b in (0.0, 2.0, INF, -INF, NAN)]
ROWS = [[1.5, NAN, 3.25], [NAN, NAN, NAN], [2.0, -1.0, 0.5]]
DTYPES = [
    "float64", "float32", "float16", "bfloat16", "int64", "int32", "int8", "uint8", "bool", "complex64",
]  # fmt: skip
DIMS = [(), (0,), (1, True), ((0, 1),), (-1,), (None, True)]


def given(lib, dtype):
    floating = dtype.startswith(("float", "bfloat", "complex"))
    rows = ROWS if floating else [[1, 0, 3], [0, 0, 0], [2, 1, 5]]
    return lib.tensor(rows, dtype=getattr(lib, dtype))


@pytest.mark.parametrize("to", [None, *DTYPES])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["nanmean", "nansum"])
def test_dtypes(name, dtype, to):
    if name == "nansum" and to in ("bool", "int8", "uint8", "int32", "int64") and dtype[0] in "bf":
        pytest.skip("PyTorch turns NaN into whole numbers before it sums")
    for dim in DIMS:

        def call(lib):
            options = {} if to is None else {"dtype": getattr(lib, to)}
            return getattr(lib, name)(given(lib, dtype), *dim, **options)

        assert_same_outcome(
            lambda: call(torch), lambda: call(pt), equal_nan=True, msg=f"{dim}"
        )  # fmt: skip


@pytest.mark.parametrize(("name", "dim"), [*itertools.product(["nanmean", "nansum"], DIMS)])
def test_gradients(name, dim):
    def call(lib):
        x = given(lib, "float64")[::2].detach().requires_grad_()
        made = getattr(x, name)(*dim)
        (made * lib.arange(1.0, made.numel() + 1).reshape(made.shape)).sum().backward()
        return x.grad

    assert_close(call(torch), call(pt))


def test_a_wider_dtype_is_reached_before_the_sum():
    """65504 and 65504 are more than float16 holds, but not their mean in float32."""
    found = torch.tensor([65504.0, 65504.0, NAN], dtype=torch.float16).nanmean(dtype=torch.float32)
    assert found.dtype is torch.float32
    assert found.item() == 65504.0
    nothing = torch.zeros(2, 0).nanmean(1)
    assert nothing.isnan().all().item()


@pytest.mark.parametrize("dtype", ["int64", "bool"])
def test_texts_of_refusals(dtype):
    for call in (
        lambda lib: given(lib, dtype).nanmean(),
        lambda lib: given(lib, "float32").nanmean(dtype=getattr(lib, dtype)),
    ):
        texts = []
        for lib in (torch, pt):
            with pytest.raises(RuntimeError) as caught:
                call(lib)
            texts.append(str(caught.value).splitlines()[0])
        assert texts[0].rstrip(".") == texts[1].rstrip(".")


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16"])
@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_the_median_of_nothing(name, dtype):
    """It is NaN, or what becomes of that in other dtypes."""
    for shape in (0, (2, 0)):
        mine, other = (
            getattr(lib.zeros(shape, dtype=getattr(lib, dtype)), name)() for lib in (torch, pt)
        )
        assert str(mine.dtype) == str(other.dtype)
        assert repr(mine.item()) == repr(other.item())


def test_the_refusal_of_complex_numbers():
    for lib in (torch, pt):
        with pytest.raises(RuntimeError, match=r"^nansum on CPU does not support complex inputs"):
            lib.nansum(given(lib, "complex64"))


@pytest.mark.parametrize("second", CORNERS)
def test_cumulative_logarithms_of_complex_infinities(second):
    """Every corner alone, and after each other."""
    lines = [[first, second] for first in CORNERS]

    def call(lib):
        made = lib.tensor(lines, dtype=lib.complex128).logcumsumexp(1)
        return lib.view_as_real(made)

    assert_close(call(torch), call(pt), equal_nan=True)


@pytest.mark.parametrize("dim", [[], (), None, [0], [0, 1]])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("name", ["sum", "prod", "amax", "amin", "mean"])
def test_no_dimensions_to_reduce(name, dim, keepdim):
    """To ``masked.prod`` an empty list is none of the dimensions; to the others it is all."""

    def call(lib, mask):
        x = lib.arange(1.0, 7.0).reshape(2, 3)
        mask = lib.tensor([[True, False, True], [True, True, False]]) if mask else None
        return getattr(lib.masked, name)(x, dim, keepdim=keepdim, mask=mask)

    for mask in (False, True):
        assert_same_outcome(lambda: call(torch, mask), lambda: call(pt, mask))
