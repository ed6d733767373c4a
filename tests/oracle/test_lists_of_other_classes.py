"""Tensors in a named tuple, or in a list of a class of one's own, are found as in plain ones."""

from collections import namedtuple

import pytest

import mindtorch_core as mt
from mindtorch_core.dispatch.dispatcher import dispatch

torch = pytest.importorskip("torch")

Pair = namedtuple("Pair", "first second")


class Own(list):
    pass


class Fixed(tuple):
    pass


KINDS = {"named": lambda a, b: Pair(a, b), "list": lambda *t: Own(t), "tuple": lambda *t: Fixed(t)}
COMPLEX, PLAIN = [1 + 2j, 3 - 1j], [1.0, 2.0]


def made_by(t, call, values):
    x = t.tensor(values)
    return lambda kind: call(t, x, kind)


CALLS = {
    "conjugates": (lambda t, x, kind: t.cat(kind(x.conj(), x.conj())), COMPLEX),
    "stacked": (lambda t, x, kind: t.stack(kind(x.conj(), x)), COMPLEX),
    "negatives": (lambda t, x, kind: t.cat(kind(x.conj().imag, x.imag)), COMPLEX),
    "lists": (lambda t, x, kind: t._foreach_add(kind(x, x), kind(x, x * 2))[1], PLAIN),
    "indices": (
        lambda t, x, kind: t.index_put(x, kind(t.tensor([1]), t.tensor([0]))[:1], x[:1] * 5),
        PLAIN,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_as_in_a_plain_list(name, kind):
    call, values = CALLS[name]
    ours, theirs = (made_by(t, call, values)(KINDS[kind]).tolist() for t in (mt, torch))
    assert ours == theirs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("join", [mt.cat, mt.stack])
def test_tangents(join, kind):
    x = mt.tensor(PLAIN)
    found = mt.func.jvp(lambda v: join(KINDS[kind](v, v * v)), (x,), (x,))[1]
    assert found.flatten().tolist() == [1, 2, 2, 8]


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_and_samples(kind):
    def call(v):
        return mt.stack(KINDS[kind](v, v * v)).sum()

    x = mt.tensor(PLAIN)
    assert mt.func.grad(call)(x).tolist() == [3, 5]
    assert mt.vmap(call)(x).tolist() == [2, 6]


def test_a_pipeline_keeps_what_was_in_a_list_of_ones_own():
    x = mt.ones(2)
    with mt.pipeline():
        given = Own([x + 1, x * 3])
        y = mt.cat(given)
        given[0] = x
    assert y.tolist() == [2, 2, 3, 3]


@pytest.mark.parametrize("given", [lambda t: iter([t]), lambda t: {"a": t}.values(), lambda t: t])
def test_what_is_no_list_is_refused(given):
    for t in (mt, torch):
        with pytest.raises(
            TypeError, match=r"argument 'tensors' \(position 1\) must be tuple of Tensors"
        ):
            t.cat(given(t.ones(2)))


@pytest.mark.parametrize("kind", KINDS)
def test_in_a_call_by_name(kind):
    x = mt.tensor(COMPLEX)
    found = dispatch("aten::cat", None, KINDS[kind](x.conj(), x))
    assert found.tolist() == mt.cat([x.conj(), x]).tolist()
    assert found[0] == 1 - 2j
