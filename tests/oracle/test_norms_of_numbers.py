"""Norms of tensors without dimensions, and over no dimension, by the kernel and by the ops that it is made of."""

import math

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry

pt = pytest.importorskip("torch")

ORDERS = [0, 0.5, 1, 2, 3, -1, math.inf, -math.inf]
NUMBERS = [0.0, -2.5, 3 - 4j, math.inf, math.nan]
COMPOSED = registry.entry("aten::linalg_vector_norm").definition.decomposition


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("keep", [False, True])
def test_of_a_number(number, order, keep):
    wanted = pt.linalg.vector_norm(pt.tensor(number), order, keepdim=keep)
    for norm in (torch.linalg.vector_norm, COMPOSED):
        found = norm(torch.tensor(number), order, keepdim=keep)
        assert str(found.dtype) == str(wanted.dtype)
        assert found.shape == tuple(wanted.shape)
        np.testing.assert_allclose(found.numpy(), wanted.numpy())


@pytest.mark.parametrize("order", [1, 2, 3, math.inf])
@pytest.mark.parametrize("number", [-2.5, 3 - 4j, 0.0])
def test_gradients_of_a_number(number, order):
    def gradient(lib):
        x = lib.tensor(number, requires_grad=True)
        lib.linalg.vector_norm(x, order).backward()
        return x.grad.numpy()

    np.testing.assert_allclose(gradient(torch), gradient(pt), rtol=1e-6)


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "complex64"])
@pytest.mark.parametrize("order", ORDERS)
def test_of_halves_and_rows(order, kind):
    numbers = [[3.0, -4.0, 0.0], [0.5, 0.25, 2.0]]

    def run(lib, norm):
        x = lib.tensor(numbers).to(getattr(lib, kind))
        made = norm(x, order, (1,))
        return made.to(lib.float64).tolist(), made.dtype.itemsize

    wanted = run(pt, pt.linalg.vector_norm)
    for norm in (torch.linalg.vector_norm, COMPOSED):
        found = run(torch, norm)
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-2 if "16" in kind else 1e-6)
        assert found[1] == wanted[1]


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(
    ("kind", "wider", "digits"),
    [("float16", None, 1e-3), ("bfloat16", None, 1e-2), ("float32", "float64", 1e-14),
     ("float16", "float32", 1e-6), ("complex64", "complex128", 1e-14)],
)  # fmt: skip
def test_what_it_is_computed_in(kind, wider, digits, order):
    """Squares and cubes of halves leave their range, and sums of few digits lose them."""

    def run(lib, norm):
        x = (lib.arange(1.0, 301) / 7 + 40).to(getattr(lib, kind))
        made = norm(x, order, dtype=wider and getattr(lib, wider))
        return made.to(lib.float64).item(), made.dtype.itemsize

    wanted = run(pt, pt.linalg.vector_norm)
    for norm in (torch.linalg.vector_norm, COMPOSED):
        assert run(torch, norm) == (pytest.approx(wanted[0], rel=digits), wanted[1])
