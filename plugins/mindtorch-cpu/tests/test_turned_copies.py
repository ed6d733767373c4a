"""Copies whose dimensions change places: the elements are NumPy's, by compiled loops and without."""

import itertools

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu import turned
from mindtorch_cpu.arrays import room_beside
from mindtorch_cpu.native.kernels import KERNELS

# Sizes with and without whole tiles, and more than a thread's part; the order in which they are copied.
TURNS = [
    ((130, 140), (1, 0)),
    ((700, 401), (1, 0)),
    ((16, 4096), (1, 0)),
    ((4096, 9), (1, 0)),
    ((3, 70, 80), (0, 2, 1)),
    ((40, 64, 65), (0, 2, 1)),
    ((4, 3, 60, 50), (0, 2, 3, 1)),
    ((4, 60, 50, 3), (0, 3, 1, 2)),
    ((2, 31, 5, 64), (0, 2, 3, 1)),
    ((3, 4, 40, 50), (1, 0, 3, 2)),
    ((30, 1, 400), (2, 1, 0)),
    ((40, 20, 30), (2, 1, 0)),
]
DTYPES = [
    "uint8",
    "bool",
    "int16",
    "bfloat16",
    "float16",
    "float32",
    "int64",
    "complex64",
    "complex128",
]


def numbers(shape, dtype):
    drawn = np.random.default_rng(0).integers(-100, 100, shape)
    return torch.from_numpy(drawn).to(getattr(torch, dtype))


@pytest.mark.parametrize(("shape", "order"), TURNS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_contiguous(either_way, shape, order, dtype):
    x = numbers(shape, dtype)
    wanted = numbers(shape, "int64").numpy().transpose(order)
    found = x.permute(order).contiguous()
    assert found.stride() == torch.empty(wanted.shape).stride()
    same = torch.from_numpy(np.ascontiguousarray(wanted)).to(x.dtype)
    assert torch.equal(found, same)


@pytest.mark.parametrize("dtype", ["float32", "int16"])
def test_from_what_lies_apart_into_what_lies_elsewhere(either_way, dtype):
    """Columns of wider matrices, every second matrix, and other results than row-major ones."""
    x = numbers((6, 90, 200), dtype)
    seen = x[::2, :, 7:180]
    wanted = seen.numpy().copy()
    out = torch.zeros(3, 173, 90, dtype=seen.dtype)
    out.copy_(seen.transpose(1, 2))
    assert (out.numpy() == wanted.swapaxes(1, 2)).all()
    images = numbers((2, 5, 40, 30), dtype)
    laid = images.to(memory_format=torch.channels_last)
    assert laid.stride() == (6000, 1, 150, 5)
    assert torch.equal(laid, images)
    assert (laid.permute(0, 2, 3, 1).numpy() == images.numpy().transpose(0, 2, 3, 1)).all()
    repeated = numbers((1, 150), dtype).expand(100, 150)
    assert (repeated.t().contiguous().numpy() == repeated.numpy().T).all()
    stack = numbers((1, 4, 60, 70), dtype).expand(3, 4, 60, 70).transpose(2, 3)
    assert (stack.contiguous().numpy() == stack.numpy()).all()


def test_a_matrix_that_is_copied_over_itself(either_way):
    a = numbers((200, 200), "float32").numpy()
    wanted = a.T.copy()
    turned.copied(a, a.T)
    assert (a == wanted).all()


def test_loops_do_it(by_kernels, monkeypatch):
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    monkeypatch.setattr(turned.np, "copyto", None)  # fails where it is called
    x = numbers((300, 200), "float32")
    found = x.t().contiguous()
    assert (found.numpy() == x.numpy().T).all()


@pytest.mark.parametrize(
    "shape", [(130, 140), (3, 70, 80), (5000,), (4000, 3), (900, 401)], ids=str
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_flips(either_way, shape, dtype):
    x = numbers(shape, dtype)
    whole = numbers(shape, "int64").numpy()
    for dims in {(-1,), (0,), tuple(range(len(shape)))}:
        wanted = torch.from_numpy(np.flip(whole, dims).copy()).to(x.dtype)
        assert torch.equal(x.flip(dims), wanted), dims
        assert torch.equal(
            x[1:].flip(dims), torch.from_numpy(np.flip(whole[1:], dims).copy()).to(x.dtype)
        )
    if len(shape) == 2:
        assert torch.equal(x.t().flip(1), x.flip(0).t())


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64"])
@pytest.mark.parametrize(
    "orders", [((0, 1, 2), (1, 0, 2)), ((0, 1, 2), (0, 2, 1)), ((2, 1, 0), (0, 1, 2))], ids=str
)
def test_operands_that_lie_otherwise(either_way, orders, dtype):
    """Each element is what it is of arrays that lie alike; the result lies as PyTorch has it: as the first."""
    pairs = []
    for seed, order in enumerate(orders):
        shape = [(60, 50, 40)[at] for at in order]
        x = torch.from_numpy(np.random.default_rng(seed).integers(-50, 50, shape)).to(
            getattr(torch, dtype)
        )
        pairs.append(x.permute(tuple(np.argsort(order))))
    a, b = pairs
    for name in ("add", "mul", "sub", "lt"):
        found = getattr(torch, name)(a, b)
        assert torch.equal(found, getattr(torch, name)(a.contiguous(), b.contiguous()))
        assert found.stride() == a.stride()
        if name != "lt":
            assert torch.equal(getattr(a.clone(), f"{name}_")(b), found)
    joined = torch.cat([a, b], 1)
    assert joined.is_contiguous()
    assert torch.equal(joined[:, : a.shape[1]], a)
    assert torch.equal(joined[:, a.shape[1] :], b)


def test_what_is_copied_first(by_kernels, monkeypatch):
    """Operands that lie otherwise than one without gaps, and are not too many for the memory."""
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    a = np.arange(20_000.0).reshape(100, 200)
    turned_ones = np.asfortranarray(a)
    found = turned.laid_as_first([a, turned_ones])
    assert [x.strides for x in found] == [a.strides] * 2
    assert (found[1] == a).all()
    assert (
        turned.laid_as_first([np.arange(40_000.0).reshape(100, 400)[:, ::2], turned_ones]) is None
    )
    monkeypatch.setattr(turned, "_MOST", a.size - 1)
    assert turned.laid_as_first([a, turned_ones]) is None


def test_strides_that_are_no_whole_elements(either_way):
    rows = np.zeros(100 * 602, np.uint8)
    rows[:] = np.arange(rows.size) % 251
    a = np.lib.stride_tricks.as_strided(rows.view("f4"), (150, 100), (4, 602))
    assert turned.row_major_copy(a).tobytes() == np.array(a, order="C").tobytes()


@pytest.mark.parametrize("shape", [(66, 60, 1, 16), (1, 16, 60, 60), (130, 1, 16, 32)], ids=str)
def test_results_lie_as_those_of_operands_that_are_not_copied(by_kernels, shape):
    """Dimensions of size 1, too, whose strides are not those of the first operand."""
    orders = itertools.permutations(range(4))
    for first, second in itertools.product(orders, repeat=2):
        a, b = (
            torch.ones([shape[at] for at in order]).permute(tuple(np.argsort(order).tolist()))
            for order in (first, second)
        )
        wanted = room_beside(shape, np.dtype("f4"), a.numpy(), b.numpy())
        assert [4 * step for step in (a + b).stride()] == [*wanted.strides], (first, second)
