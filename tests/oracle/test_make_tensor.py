"""`torch.testing.make_tensor`: the same facts as PyTorch's, and the same refusals."""

import math

import pytest

import mindtorch_core as torch
from mindtorch_core.testing import make_tensor

pt = pytest.importorskip("torch")

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128",
]  # fmt: skip

BOUNDS = [
    (None, None), (-3, 5), (0, 1), (None, 3), (2, None), (-1e9, 1e9), (0.5, 3.7), (-math.inf, 0.25),
    (0, math.inf), (5, 3), (300, 400), (-5, -2), (math.nan, 1), (0, math.nan), (0.2, 0.9),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_numbers_lie_where_pytorchs_do(dtype, low, high):
    def made(lib):
        return lib.testing.make_tensor(
            (2000,), dtype=getattr(lib, dtype), device="cpu", low=low, high=high
        )

    torch.manual_seed(0)
    pt.manual_seed(0)
    try:
        theirs = made(pt)
    except (ValueError, RuntimeError):  # the latter is of random_: there is no integer to draw
        with pytest.raises(ValueError, match=r"cannot be NaN|must be less|no element of dtype"):
            made(torch)
        return
    ours = made(torch)
    for part, like in zip(parts(ours), parts(theirs), strict=True):
        first, last = like.double().min().item(), like.double().max().item()
        slack = 0.05 * (last - first)
        if math.isfinite(slack):
            assert abs(part.double().min().item() - first) <= slack
            assert abs(part.double().max().item() - last) <= slack
        assert len(set(part.tolist())) > 1 or first == last


def parts(t):
    return [t.real, t.imag] if t.is_complex() else [t]


def test_an_interval_without_numbers():
    with pytest.raises(ValueError, match="`low` must be less than `high`, but got 2 >= 2"):
        make_tensor(3, dtype=torch.int32, device="cpu", low=2, high=2)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 4), (3, 1)])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"noncontiguous": True},
        {"requires_grad": True},
        {"exclude_zero": True, "low": 0, "high": 2},
    ],
)
def test_options(shape, options):
    ours = make_tensor(*shape, dtype=torch.float32, device="cpu", **options)
    theirs = pt.testing.make_tensor(*shape, dtype=pt.float32, device="cpu", **options)
    assert tuple(ours.shape) == tuple(theirs.shape) == shape
    assert ours.stride() == theirs.stride()
    assert ours.requires_grad == theirs.requires_grad
    assert make_tensor(shape, dtype=torch.float32, device="cpu").shape == shape


def test_zeros_are_replaced():
    for d in (torch.int64, torch.uint8, torch.bool):
        assert bool((make_tensor(200, dtype=d, device="cpu", exclude_zero=True) != 0).all())


def test_memory_format():
    made = make_tensor(
        1, 2, 3, 3, dtype=torch.int32, device="cpu", memory_format=torch.channels_last
    )
    assert made.is_contiguous(memory_format=torch.channels_last)
    with pytest.raises(ValueError, match="mutually exclusive"):
        make_tensor(
            2,
            dtype=torch.float32,
            device="cpu",
            noncontiguous=True,
            memory_format=torch.contiguous_format,
        )


def test_on_another_device_and_by_seed():
    torch.manual_seed(3)
    first = make_tensor(5, dtype=torch.float64, device="cpu")
    torch.manual_seed(3)
    assert first.tolist() == make_tensor(5, dtype=torch.float64, device="cpu").tolist()
    assert make_tensor(5, dtype=torch.float64, device="meta").device.type == "meta"


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64"])
def test_an_interval_of_one_float_is_deprecated(dtype):
    for lib in (torch, pt):
        with pytest.warns(FutureWarning, match="deprecated"):
            made = lib.testing.make_tensor(
                (2, 3), dtype=getattr(lib, dtype), device="cpu", low=-8.865, high=-8.865
            )
        one = lib.full((2, 3), -8.865, dtype=lib.float64).to(getattr(lib, dtype))
        assert made.shape == (2, 3)
        assert made.real.tolist() == one.real.tolist()
