"""Gradients that one kernel computes, first and second, against PyTorch's."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.testing import assert_close

pt = pytest.importorskip("torch")


def both(run):
    """What a program gives with each library, as flat lists of numbers."""
    return [[t.flatten().tolist() for t in run(library)] for library in (torch, pt)]


@pytest.mark.parametrize("size", [7, 3_000, 100_000])  # SciPy's way, one block, several
@pytest.mark.parametrize("approximate", ["none", "tanh"])
@pytest.mark.parametrize(
    ("dtype", "bound"), [("float32", 4e-6), ("float64", 1e-13), ("bfloat16", 0.02)]
)
def test_gelu_backward(dtype, bound, approximate, size):
    def run(library):
        x = library.linspace(-12, 12, size, dtype=library.float64).to(getattr(library, dtype))
        x.requires_grad_()
        g = library.linspace(1, 2, size, dtype=library.float64).to(x.dtype)
        library.nn.functional.gelu(x, approximate=approximate).backward(g)
        assert x.grad.dtype is x.dtype
        return [x.grad.double()]

    ours, theirs = both(run)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=0, atol=bound)


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), float("nan"), 0.0, -0.0, 1e-40])
def test_gelu_backward_at_the_edge(value):
    def run(library):
        x = library.full((2_000,), value, requires_grad=True)
        library.nn.functional.gelu(x).sum().backward()
        return [x.grad[:1]]

    ours, theirs = both(run)
    np.testing.assert_allclose(ours, theirs, atol=1e-7)


def test_gelu_backward_keeps_layouts_and_numbers_without_dimensions():
    x = torch.randn(5, 7).T.requires_grad_()
    torch.nn.functional.gelu(x).sum().backward()
    assert x.grad.stride() == x.stride()
    one = torch.tensor(0.5, requires_grad=True)
    torch.nn.functional.gelu(one).backward()
    assert one.grad.shape == ()


@pytest.mark.parametrize(
    ("hidden", "cell"), [(1, 0), (0, 1), (1, 1)], ids=["output", "cell", "both"]
)
@pytest.mark.parametrize("bias", [False, True])
def test_lstm_gradients(bias, hidden, cell):
    def run(library):
        library.manual_seed(1)
        made = [library.randn(*s, dtype=library.float64).requires_grad_() for s in SHAPES]
        x, h, c, w, u, b, d = made
        parameters = (w, u, b, d) if bias else (w, u)
        out, _, last = library.lstm(x, (h, c), parameters, bias, 1, 0.0, True, False, False)
        loss = hidden * (out**2).sum() + cell * (last**3).sum()
        taken = made if bias else made[:5]
        first = library.autograd.grad(loss, taken, create_graph=True)
        plain = library.autograd.grad(loss, taken, retain_graph=True)
        second = library.autograd.grad(sum((g**2).sum() for g in first), taken)
        return [*first, *plain, *second]

    for ours, theirs in zip(*both(run), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


SHAPES = ((4, 3, 2), (1, 3, 5), (1, 3, 5), (20, 2), (20, 5), (20,), (20,))


def test_a_fused_cell_is_what_its_composition_is():
    cell = torch._thnn_fused_lstm_cell
    torch.manual_seed(0)
    gates, more, state = torch.randn(4, 12), torch.randn(4, 12), torch.randn(4, 3)
    biases = torch.randn(12), torch.randn(12)
    i, f, g, o = (gates + more + biases[0] + biases[1]).chunk(4, 1)
    after = f.sigmoid() * state + i.sigmoid() * g.tanh()
    for dtype, bound in ((torch.float32, 1e-6), (torch.bfloat16, 0.1)):
        out, last, _ = cell(*(t.to(dtype) for t in (gates, more, state, *biases)))
        assert_close(last.float(), after, rtol=bound, atol=bound)
        assert_close(out.float(), o.sigmoid() * after.tanh(), rtol=bound, atol=bound)


@pytest.mark.parametrize(("rows", "columns"), [(0, 0), (0, 3), (2, 0)])
def test_a_fused_cell_without_elements(rows, columns):
    gates = torch.ones(rows, 4 * columns)
    out, last, kept = torch._thnn_fused_lstm_cell(gates, gates, torch.ones(rows, columns))
    assert out.shape == last.shape == (rows, columns)
    assert kept.shape == gates.shape


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        (((2, 12), (2, 8), (2, 3)), "expected gates"),
        (((2, 12), (2, 12), (2, 4)), "expected gates"),
        (((12,), (12,), (3,)), "expected gates"),
        (((2, 12), (2, 12), (2, 3), (8,)), "expected a bias of shape"),
    ],
)
def test_a_fused_cell_refuses_what_does_not_fit(shapes, text):
    with pytest.raises(RuntimeError, match=text):
        torch._thnn_fused_lstm_cell(*(torch.ones(s) for s in shapes))
