"""Kernels of few elements give what the core's compositions do: bytes, strides and errors."""

import itertools

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.register import composition_of

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool"]


def operands(dtype):
    """Vectors and matrices with equal elements, NaN, both zeros and infinities; also few and none."""
    random = np.random.default_rng(3)
    for shape in ((40,), (5, 9), (1, 1), (), (3, 0), (2, 3, 4), (70, 80)):
        numbers = np.asarray((random.standard_normal(shape) * 2).round())
        x = torch.from_numpy(numbers).to(getattr(torch, dtype))
        if x.is_floating_point() and x.numel() > 20:
            for place, value in enumerate((float("nan"), -0.0, float("inf"), float("nan"), -0.0)):
                x.view(-1)[3 * place] = value
        yield x
        if x.ndim == 2:
            yield x.t()
            yield x[:, ::2]


def outcome(function, *args, **kwargs):
    try:
        found = function(*args, **kwargs)
    except (RuntimeError, IndexError, NotImplementedError) as error:
        return type(error), str(error)
    every = found if isinstance(found, tuple) else (found,)
    return [(t.dtype, t.shape, t.stride(), repr(t.tolist())) for t in every]


def compare(name, function, *args, **kwargs):
    """The kernel that a call reaches, and the composition."""
    assert outcome(function, *args, **kwargs) == outcome(composition_of(name), *args, **kwargs)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_most_frequent(dtype):
    for x, dim, keepdim in itertools.product(operands(dtype), (0, -1, 1), (False, True)):
        compare("mode", torch.mode, x, dim, keepdim)


@pytest.mark.parametrize("dtype", DTYPES)
def test_among_others(dtype):
    for x, count, invert in itertools.product(operands(dtype), (0, 1, 4, 30), (False, True)):
        others = x.reshape(-1)[:count]
        compare("isin.Tensor_Tensor", torch.isin, x, others, invert=invert)
        compare("isin.Tensor_Tensor", torch.isin, x, others.double(), invert=invert)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64"])
@pytest.mark.parametrize("shape", [(4, 4), (3, 5, 5), (2, 2, 0, 0), (0, 3, 3), (2, 3), (30, 30)])
def test_determinants(dtype, shape):
    a = torch.from_numpy(np.random.default_rng(5).standard_normal(shape) * 3)
    if a.ndim == 3 and len(a):
        a[0], a[1, 0, 0] = 0, float("inf")
    a = a.to(getattr(torch, dtype))
    compare("_linalg_det", torch.ops.aten._linalg_det, a)
    compare("_linalg_slogdet", torch.ops.aten._linalg_slogdet, a)


def test_diagonals_are_views_that_may_be_written():
    for offset in (-2, 0, 1, 9):
        x = torch.zeros(2, 4, 5)
        x.diagonal(offset, -2, 2).fill_(3)
        assert x.sum() == 3 * x.diagonal(offset, 1, 2).numel()
        assert x.diagonal(offset, 2, 1).stride() == (20, 6)
    with pytest.raises(RuntimeError, match="identical"):
        x.diagonal(0, 1, 1)
    with pytest.raises(IndexError):
        x.diagonal(0, 1, 3)


@pytest.mark.parametrize("name", ["tril", "triu"])
def test_places_in_triangles(name):
    find = getattr(torch, f"{name}_indices")
    for rows, columns in itertools.product((0, 1, 3, 90), (0, 1, 4, 80)):
        for diagonal in (-100, -3, -1, 0, 1, 5, 100):
            wanted = np.nonzero(getattr(np, name)(np.ones((rows, columns)), diagonal))
            found = find(rows, columns, diagonal)
            assert found.tolist() == np.array(wanted).tolist(), (rows, columns, diagonal)
            found.fill_(9)  # what is kept for the next call is not the result
    assert find(3, 3, dtype=torch.int32).max() == 2


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mse_loss", [()]),
        ("smooth_l1_loss", [(1.0,), (0.3,), (0.0,)]),
        ("huber_loss", [(1.0,), (0.3,)]),
    ],
)
def test_gradients_of_losses(by_kernels, name, options, dtype):
    random = np.random.default_rng(6)
    x, y = (
        torch.from_numpy((random.standard_normal((90, 70)) * 3).round(1)).to(getattr(torch, dtype))
        for _ in range(2)
    )
    for place, (a, b) in enumerate(((np.nan, 1), (np.inf, np.inf), (-0.0, 0.0), (np.inf, 2))):
        x[0, place], y[0, place] = a, b
    for reduction, option, turned in itertools.product((0, 1, 2), options, (False, True)):
        g = x.new_tensor(0.7) if reduction else x * 2
        given = (g, x, y.t().contiguous().t() if turned else y, reduction, *option)
        run = getattr(torch.ops.aten, f"{name}_backward")
        compare(f"{name}_backward", run, *given)
