"""Layers whose steps one kernel computes, and their gradients, first and second, against PyTorch's."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs.packets import front

pt = pytest.importorskip("torch")

MODES = ("rnn_relu", "rnn_tanh", "lstm", "gru")
GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
STEPS, BATCH, FEATURES, HIDDEN = 5, 4, 3, 6


def drawn(library, dtype, *shapes):
    draw = np.random.default_rng(5)
    for shape in shapes:
        made = draw.standard_normal(shape) * 0.5
        yield library.tensor(made, dtype=getattr(library, dtype)).requires_grad_()


def layer(library, name, *, dtype="float64", layers=1, both=False, biases=True, packed=False,
          batch_first=False):  # fmt: skip
    """Results of a layer, and the tensors that they depend on."""
    ways, rows = 2 if both else 1, GATES[name] * HIDDEN
    weights = []
    for i in range(layers):
        width = FEATURES if i == 0 else HIDDEN * ways
        weights += [(rows, width), (rows, HIDDEN), *[(rows,), (rows,)] * biases] * ways
    state = (layers * ways, BATCH, HIDDEN)
    x = (BATCH, STEPS, FEATURES) if batch_first else (STEPS, BATCH, FEATURES)
    x, *rest = drawn(library, dtype, x, *[state] * (2 if name == "lstm" else 1), *weights)
    count = 2 if name == "lstm" else 1
    hx, params = rest[:count], rest[count:]
    given = (hx if name == "lstm" else hx[0], params, biases, layers, 0.0, True, both)
    if packed:
        sizes = library.tensor([4, 4, 2, 1, 1])
        data = x.flatten(0, 1)[: int(sizes.sum())]
        made = getattr(library, name)(data, sizes, *given)
    else:
        made = getattr(library, name)(x, *given, batch_first)
    return made, [x, *rest]


def same(ours, theirs, bound):
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert tuple(a.shape) == tuple(b.shape)
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=bound, atol=bound)


FORMS = {
    "plain": {},
    "without biases": {"biases": False},
    "two layers, both ways": {"layers": 2, "both": True},
    "packed": {"packed": True},
    "packed, both ways": {"packed": True, "both": True, "layers": 2},
    "batch first": {"batch_first": True, "both": True},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MODES)
def test_results_and_gradients(name, form):
    def run(library):
        made, inputs = layer(library, name, **FORMS[form])
        loss = sum((t * (i + 1)).square().sum() for i, t in enumerate(made))
        plain = library.autograd.grad(loss, inputs, retain_graph=True)
        first = library.autograd.grad(loss, inputs, create_graph=True)
        second = library.autograd.grad(sum(g.square().sum() for g in first), inputs)
        return [*made, *plain, *first, *second]

    same(run(torch), run(pt), 1e-8)


@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("wanted", [(0,), (1,), (0, -1)])
def test_some_results_in_single_precision(name, wanted):
    def run(library):
        made, inputs = layer(library, name, dtype="float32", packed=wanted == (0,))
        return [*made, *library.autograd.grad(sum(made[i].sin().sum() for i in wanted), inputs)]

    same(run(torch), run(pt), 1e-6)


@pytest.mark.parametrize("name", MODES)
def test_nothing_is_kept_where_nothing_is_recorded(name):
    with torch.no_grad():
        plain, _ = layer(torch, name, both=True, packed=True)
    recorded, inputs = layer(torch, name, both=True, packed=True)
    same(plain, recorded, 0)
    assert not plain[0].requires_grad
    assert recorded[0].requires_grad
    assert all(
        torch.equal(a, b) for a, b in zip(inputs, layer(torch, name, both=True)[1], strict=True)
    )


def test_a_loss_of_states_alone_after_a_freed_graph():
    made, inputs = layer(torch, "gru")
    made[1].sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        made[1].sum().backward()
    assert all(t.grad is not None for t in inputs)


def steps(*args):
    return front(registry.entry("_recurrent_steps"))(*args)


def test_what_is_not_kept_is_computed_anew():
    gates, h, c, w = drawn(torch, "float64", (5, 8), (2, 2), (2, 2), (8, 2))
    found = []
    for keep in (True, False):
        out, last, cell, *_ = steps(gates, h, c, w, None, [2, 2, 1], True, 2, keep)
        found.append(torch.autograd.grad((out.sum() * last * cell).sum(), (gates, h, c, w)))
    same(*found, 1e-12)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"gates": torch.ones(4, 8)}, "expected gates of shape"),
        ({"w": torch.ones(8, 3)}, "expected w_hh of shape"),
        ({"c": None}, "cell state for LSTM alone"),
        ({"sizes": [2, 3]}, "batch sizes from 2 down"),
        ({"sizes": [1, 2, 2]}, "batch sizes from 2 down"),
        ({"mode": 4}, "mode from 0 to 3"),
        ({"b": torch.ones(8)}, "bias of its own for GRU"),
    ],
)
def test_what_does_not_fit_is_refused(change, text):
    given = {"gates": torch.ones(5, 8), "h": torch.ones(2, 2), "c": torch.ones(2, 2),
             "w": torch.ones(8, 2), "b": None, "sizes": [2, 2, 1], "reverse": False, "mode": 2,
             "keep": False} | change  # fmt: skip
    with pytest.raises(RuntimeError, match=text):
        steps(*given.values())
