"""Fused cells and attention: second gradients by parts, and operands that do not fit."""

import pytest

import mindtorch_core as torch
from mindtorch_core.operators.nn.device_attention import NAME

aten = torch.ops.aten


def gates(seed, biased):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(2, 12), (2, 12), (2, 3), *([(12,), (12,)] if biased else [])]
    return [
        torch.randn(s, generator=generator, dtype=torch.float64).requires_grad_() for s in shapes
    ]


def by_parts(given, hidden, cell, *biases):
    i, f, g, o = sum(biases, given + hidden).chunk(4, 1)
    cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
    return o.sigmoid() * cell.tanh(), cell


def second_gradients(step, operands):
    h, c = step(*operands)
    first = torch.autograd.grad((h * h).sum() + (c * c * c).sum(), operands, create_graph=True)
    return [*first, *torch.autograd.grad(sum((g * g).sum() for g in first), operands)]


@pytest.mark.parametrize("biased", [False, True])
def test_second_gradients_of_a_fused_cell_are_those_of_its_parts(biased):
    found = second_gradients(lambda *of: aten._thnn_fused_lstm_cell(*of)[:2], gates(1, biased))
    expected = second_gradients(by_parts, gates(1, biased))
    for ours, parts in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, parts)


def ones(*shape, dtype=torch.float32):
    return torch.ones(shape, dtype=dtype)


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        (((1, 2, 3), (1, 2, 3), (1, 2, 3)), "that fit together"),
        (((1, 2, 3, 4), (2, 2, 3, 4), (2, 2, 3, 4)), "that fit together"),
        (((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 3, 4)), "that fit together"),
        (((1, 2, 3, 4), (1, 2, 5, 5), (1, 2, 5, 4)), "that fit together"),
    ],
)
def test_attention_of_a_device_refuses_shapes(shapes, words):
    with pytest.raises(RuntimeError, match=words):
        rule()(*(ones(*s) for s in shapes))


@pytest.mark.parametrize("dtypes", [("int64",) * 3, ("float32", "float64", "float32")], ids=str)
def test_attention_of_a_device_refuses_dtypes(dtypes):
    with pytest.raises(RuntimeError, match="of one floating dtype"):
        rule()(*(ones(1, 2, 3, 4, dtype=getattr(torch, d)) for d in dtypes))


def rule():
    from mindtorch_core.dispatch.registry import registry

    return registry.entry(NAME).definition.rule
