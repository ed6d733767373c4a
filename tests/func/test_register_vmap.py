"""Custom ops whose samples are computed by a rule of their own; PyTorch says the same."""

import itertools

import pytest

import mindtorch_core as torch

NUMBERS = itertools.count()


def product(lib, rule=None):
    """An op of two operands, with a rule that notes what it is told."""
    name = f"own_vmap::product{next(NUMBERS)}"

    @lib.library.custom_op(name, mutates_args=(), schema="(Tensor x, Tensor y) -> Tensor")
    def op(x, y):
        return x * y

    told = []

    def of_samples(info, in_dims, x, y):
        told.append((info.batch_size, info.randomness, in_dims))
        x, y = (
            t.unsqueeze(-1) if dim is None else t.movedim(dim, -1)
            for t, dim in zip((x, y), in_dims, strict=True)
        )
        return (x * y).movedim(-1, 0), 0

    lib.library.register_vmap(name, rule or of_samples)
    return op, told


def test_the_rule_is_told_where_samples_lie(lib):
    op, told = product(lib)
    x, y = lib.arange(6.0).view(2, 3), lib.arange(3.0)
    assert lib.vmap(op)(x, x).tolist() == [[0, 1, 4], [9, 16, 25]]
    assert lib.vmap(op, (0, None))(x, y).tolist() == [[0, 1, 4], [0, 4, 10]]
    assert lib.vmap(op, (1, None), randomness="same")(x, x[:, 0]).tolist() == [
        [0, 9],
        [0, 12],
        [0, 15],
    ]
    assert told == [(2, "error", (0, 0)), (2, "error", (0, None)), (3, "same", (1, None))]


def test_keywords_and_levels_within_each_other(lib):
    op, told = product(lib)
    x = lib.arange(8.0).view(2, 2, 2)
    inner = lib.vmap(lambda a, b: op(x=a, y=b), (0, None))
    found = lib.vmap(inner, (0, None))(x, lib.tensor([1.0, 2.0]))
    assert found.tolist() == [[[0, 2], [2, 6]], [[4, 10], [6, 14]]]
    assert len(told) == 1  # the other level is in the ops that the rule calls


def test_without_samples_the_op_runs_as_it_is(lib):
    op, told = product(lib)
    y = lib.arange(3.0)
    assert op(y, y).tolist() == [0, 1, 4]
    assert lib.vmap(lambda a: a + op(y, y))(lib.zeros(2, 3)).tolist() == [[0, 1, 4]] * 2
    assert told == []


def test_lists_numbers_and_several_results(lib):
    name = f"own_vmap::sums{next(NUMBERS)}"
    schema = "(Tensor[] xs, float scale) -> (Tensor, Tensor)"

    @lib.library.custom_op(name, mutates_args=(), schema=schema)
    def op(xs, scale):
        return sum(xs) * scale, xs[0].sum(-1)

    told = []

    @op.register_vmap
    def of_samples(info, in_dims, xs, scale):
        told.append(in_dims)
        return op(list(xs), scale), (0, 0)

    x = lib.arange(6.0).view(2, 3)
    first, second = lib.vmap(lambda a, b: op([a, b], 2.0))(x, x)
    assert (first.tolist(), second.tolist()) == ((4 * x).tolist(), [3, 12])
    assert told == [([0, 0], None)]


def test_gradients_go_through_what_the_rule_calls(lib):
    op, _ = product(lib)
    x, y = lib.arange(6.0).view(2, 3).requires_grad_(), lib.arange(3.0)
    lib.vmap(op, (0, None))(x, y).sum().backward()
    assert x.grad.tolist() == [[0, 1, 2]] * 2


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        (lambda x: x, "two returns, an output and out_dims"),
        (lambda x: (x * 1, 0, 0), "Got 3 returns instead"),
        (lambda x: (x * 1, (0, 0)), "incompatible"),
    ],
)
def test_what_a_rule_returns_is_looked_at(lib, returned, text):
    op, _ = product(lib, lambda info, in_dims, x, y: returned(x))
    with pytest.raises(RuntimeError, match=text):
        lib.vmap(op)(lib.ones(2, 3), lib.ones(2, 3))


def test_a_later_rule_comes_in_the_place_of_the_first(lib):
    name = f"own_vmap::once{next(NUMBERS)}"

    @lib.library.custom_op(name, mutates_args=(), schema="(Tensor x) -> Tensor")
    def op(x):
        return x * 1

    op.register_vmap(lambda info, in_dims, x: (x * 2, 0))
    assert lib.vmap(op)(lib.ones(2)).tolist() == [2, 2]
    op.register_vmap(lambda info, in_dims, x: (x * 3, 0))
    assert lib.vmap(op)(lib.ones(2)).tolist() == [3, 3]


def test_what_cannot_be_registered(lib):
    own = lib.library.Library(f"own_vmap{next(NUMBERS)}", "DEF")
    own.define("keyword(Tensor x, *, Tensor y) -> Tensor")
    with pytest.raises(NotImplementedError, match="kwarg-only Tensor"):
        lib.library.register_vmap(f"{own.ns}::keyword", lambda *given: given)
    with pytest.raises(AttributeError):
        lib.library.register_vmap(f"{own.ns}::absent", lambda *given: given)
    with pytest.raises(ValueError, match="unexpected type for op"):
        lib.library.register_vmap(3, lambda *given: given)


def test_a_rule_goes_with_its_library():
    own = torch.library.Library(f"own_vmap{next(NUMBERS)}", "DEF")
    own.define("plain(Tensor x) -> Tensor")
    own.impl("plain", lambda x: x * 3, "CompositeExplicitAutograd")
    rules = torch.library.Library(own.ns, "FRAGMENT")
    torch.library.register_vmap(f"{own.ns}::plain", lambda info, dims, x: (x * 30, 0), lib=rules)
    op = getattr(torch.ops, own.ns).plain
    assert torch.vmap(op)(torch.ones(2)).tolist() == [30, 30]
    rules._destroy()
    with pytest.warns(UserWarning, match="batching rule"):
        assert torch.vmap(op)(torch.ones(2)).tolist() == [3, 3]
