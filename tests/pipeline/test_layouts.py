"""Strides and offsets are known, and right, while values wait for a launch."""

import random

import pytest

import mindtorch_core as torch

VIEWS = {
    "t": lambda x: x.t(),
    "column": lambda x: x[:, 1],
    "tail": lambda x: x[1:],
    "step": lambda x: x[:, ::2],
    "expand": lambda x: x[:1].expand(3, 4),
    "whole": lambda x: x.view(-1),
}


def matrix():
    return torch.arange(12.0).reshape(3, 4)


def geometry(t):
    return t.stride(), t.storage_offset(), t.is_contiguous()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("write", [lambda x: x.add_(1), lambda x: x[0].zero_()])
def test_a_view_made_before_keeps_its_layout_while_its_memory_is_written(view, write):
    make = VIEWS[view]
    eager = make(matrix())
    x = matrix()
    y = make(x)
    with torch.pipeline() as pipe:
        write(x)
        assert geometry(y) == geometry(eager)
        assert pipe.stats()["pending"]
    assert geometry(y) == geometry(eager)


@pytest.mark.parametrize("view", VIEWS)
def test_ops_on_a_view_made_before_give_the_layout_they_give_eagerly(view):
    def program(x, y):
        x.add_(1)
        return y * 2, y.reshape(-1), y + y.sum(0)

    x, twin = matrix(), matrix()
    wanted = program(x, VIEWS[view](x))
    y = VIEWS[view](twin)
    with torch.pipeline():
        found = program(twin, y)
        shown = [t.stride() for t in found]
    assert shown == [t.stride() for t in wanted]
    assert [t.tolist() for t in found] == [t.tolist() for t in wanted]


def test_a_view_that_cannot_be_made_is_refused_at_once():
    x = matrix()
    y = x.t()
    with torch.pipeline():
        x.add_(1)
        with pytest.raises(RuntimeError, match="view size is not compatible"):
            y.view(-1)


# ---- inputs whose elements share memory, or lie in no order -------------------------------------

F = torch.nn.functional
ON_ANY = {
    **{n: n for n in ("neg", "abs", "clone", "sign", "relu", "square", "exp", "sigmoid", "sqrt")},
    **{n: n for n in ("nan_to_num", "isnan", "logical_not", "double", "contiguous", "frexp")},
    **{
        f"to {d}": lambda x, d=d: x.to(getattr(torch, d))
        for d in ("bfloat16", "int32", "complex64")
    },
    "parts": lambda x: (x.real, torch.view_as_real(x)),
    "add": lambda x: x + x,
    "of a number": lambda x: 1 - x,
    "to a number": lambda x: x * 2,
    "where": lambda x: torch.where(x > 0, x, x),
    "clamp": lambda x: x.clamp(0, 1),
    "addcmul": lambda x: torch.addcmul(x, x, x),
    "matmul": lambda x: x @ x.transpose(-1, -2),
    "cumsum": lambda x: x.cumsum(0),
    "topk": lambda x: x.topk(min(2, x.shape[-1]), -1),
    "sort": lambda x: x.sort(0),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:]),
    "leaky_relu": F.leaky_relu,
    "gelu": F.gelu,
    **{
        f"{name} {dim} {keepdim}": lambda x, n=name, d=dim, k=keepdim: getattr(x, n)(d, keepdim=k)
        for name in ("sum", "amax", "max", "min", "any", "argmax", "median", "mean", "var")
        for dim in (0, -1)
        for keepdim in (False, True)
    },
}


def strangely_laid_out(seed, dtype):
    """Tensors of strides from a few small numbers, so that some elements are the same memory."""
    chance = random.Random(seed)
    for _ in range(25):
        rank = chance.randint(2, 4)
        shape = [chance.choice([1, 2, 3, 4]) for _ in range(rank)]
        strides = [chance.choice([0, 1, 1, 2, 3, 4, 12]) for _ in range(rank)]
        length = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        yield torch.arange(length).to(dtype).as_strided(shape, strides)


def strides_of(made):
    return [t.stride() for t in made] if isinstance(made, tuple) else made.stride()


DTYPES = [torch.float32, torch.float16, torch.int64, torch.bool, torch.complex64]


@pytest.mark.filterwarnings("ignore:Casting complex values", "ignore:var.*degrees of freedom")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ON_ANY)
def test_results_of_any_input_lie_as_they_do_eagerly(name, dtype):
    op = ON_ANY[name]
    op = op if callable(op) else lambda x: getattr(x, name)()
    for x in strangely_laid_out(7, dtype):
        try:
            eager = strides_of(op(x))
        except (RuntimeError, NotImplementedError):
            continue  # the dtype, or the shape, is not for this op
        with torch.pipeline():
            made = op(x)
            shown = strides_of(made)
        about = (tuple(x.shape), x.stride())
        assert shown == eager, about
        assert strides_of(made) == eager, about


def test_the_strides_of_a_sigmoid_of_shared_elements_and_of_a_topk():
    shared = torch.ones(9, dtype=torch.bool).as_strided([2, 7], [1, 1])
    assert shared.sigmoid().stride() == (1, 2)
    assert [t.stride() for t in torch.ones(3, 1).topk(1)] == [(1, 1), (1, 1)]


@pytest.mark.parametrize("rows", [16, 2048])
def test_the_gradient_of_relu_lies_as_what_it_was_given(rows):
    """Whatever its own gradient's strides are, in a pipeline or not: sums of it have the same bits."""
    g, x = torch.randn(5, rows).t(), torch.randn(rows, 5)
    odd, row_major = torch.randn(rows, 2, 5).permute(1, 2, 0), torch.randn(2, 5, rows)
    for grad, given in (
        (g, x),
        (x, g),
        (odd, row_major),
        (row_major, odd),
        (x[:1].expand(rows, 5), x),
    ):
        eager = torch.ops.aten.threshold_backward(grad, given, 0)
        with torch.pipeline():
            made = torch.ops.aten.threshold_backward(grad, given, 0)
            sums = made.sum(0)
        assert made.stride() == eager.stride() == given.stride()
        assert torch.equal(made, eager)
        assert sums.tolist() == eager.sum(0).tolist()
