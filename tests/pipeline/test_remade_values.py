"""Values that a later group computes again, rather than have them kept for it."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.values.devices import row_of
from mindtorch_cpu.fusion import planning, remaking
from mindtorch_cpu.fusion.limits import LIMITS


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    """Plan and fuse tensors of a few elements, from no earlier plan."""
    monkeypatch.setattr(row_of("cpu").runtime, "planned_from", 1)
    monkeypatch.setattr(LIMITS, "min_elements", 4)
    monkeypatch.setattr(LIMITS, "tile_elements", 5)
    monkeypatch.setattr(planning, "_PLANS", planning._Plans(planning._PLANS._bound))


@pytest.fixture
def found(monkeypatch):
    """How many values each plan computes again."""
    counts = []

    def counted(blocks, entries, survey):
        again = remaking.computed_again(blocks, entries, survey)
        counts.append(len(again))
        return again

    monkeypatch.setattr(planning, "computed_again", counted)
    return counts


def gelu(x):
    return 0.5 * x * (1.0 + torch.tanh(0.8 * (x + 0.04 * x * x * x)))


def network(*inputs):
    w1, w2, x, y = inputs
    difference = gelu(x @ w1) @ w2 - y
    return (difference * difference).sum()


def leaves():
    torch.manual_seed(0)
    made = [torch.randn(*shape) for shape in ((4, 8), (8, 3), (6, 4), (6, 3))]
    return [t.requires_grad_(i < 2) for i, t in enumerate(made)]


def step(program, inputs, **options):
    """Gradients of a program, and the pipeline's count of bytes."""
    if not options:
        program(*inputs).backward()
        return [t.grad for t in inputs[:2]], 0
    with torch.pipeline(**options) as pipe:
        program(*inputs).backward()
    return [t.grad for t in inputs[:2]], pipe.stats()["peak_bytes"]


def test_a_step_keeps_less_and_has_the_same_bits(found, monkeypatch):
    wanted, _ = step(network, leaves())
    given, bytes_now = step(network, leaves(), through_backward=True)
    assert all(torch.equal(a, b) for a, b in zip(given, wanted, strict=True))
    assert max(found) >= 4
    monkeypatch.setattr(planning, "computed_again", lambda *_: {})
    monkeypatch.setattr(planning, "_PLANS", planning._Plans(8))
    _, bytes_before = step(network, leaves(), through_backward=True)
    assert bytes_now < 0.75 * bytes_before


@pytest.mark.parametrize("fails", [1, 2, 3])
def test_a_group_that_fails_is_launched_one_by_one(found, monkeypatch, fails):
    wanted, _ = step(network, leaves())
    compute, calls = planning.compute, []

    def failing(*given):
        calls.append(given)
        if len(calls) == fails:
            raise MemoryError("none left")
        return compute(*given)

    monkeypatch.setattr(planning, "compute_compiled", lambda *_: "not now")
    monkeypatch.setattr(planning, "compute", failing)
    with pytest.warns(RuntimeWarning, match="none left"):
        given, _ = step(network, leaves(), through_backward=True)
    assert all(torch.equal(a, b) for a, b in zip(given, wanted, strict=True))
    assert max(found) >= 4


def between(x, w, make):
    """Groups before and after a product, which is in none; the later one uses a value of the first."""
    kept = make(x)
    product = torch.exp(kept) @ w
    return torch.exp(product * kept * x)


def check(make, again, found):
    """Compare with eager calls; how many values were computed again is known."""
    x, w = torch.linspace(-1, 1, 36).view(6, 6), torch.linspace(0, 1, 36).view(6, 6)
    wanted = between(x, w, make)
    with torch.pipeline():
        given = between(x, w, make)
    np.testing.assert_array_equal(given.numpy(), wanted.numpy())
    assert max(found) == again


def test_what_follows_from_an_operand_is_computed_again(found):
    check(lambda x: x * 2 + x, 2, found)


def test_what_costs_much_is_kept(found):
    check(torch.tanh, 0, found)


def test_what_follows_from_what_costs_much_and_is_not_kept_is_kept(found):
    check(lambda x: torch.tanh(x) + 1, 0, found)


def test_what_somebody_sees_is_kept(found):
    seen = []

    def make(x):
        seen.append(x * 2)
        return seen[-1]

    check(make, 0, found)
    assert torch.equal(seen[0], seen[1])


def test_what_was_written_is_kept(found):
    """The operand is not what it was when the later group comes."""

    def program(x, w):
        source = x + 0
        kept = source * 3
        product = torch.exp(kept) @ w
        source.zero_()
        return torch.exp(product * kept * source), kept.sum(0)

    x, w = torch.linspace(-1, 1, 36).view(6, 6), torch.linspace(0, 1, 36).view(6, 6)
    wanted = program(x, w)
    with torch.pipeline():
        given = program(x, w)
    for a, b in zip(given, wanted, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    assert max(found) == 0


def test_a_value_in_another_shape_is_kept(found):
    """The later group has more elements than the value."""

    def program(x, w):
        kept = x * 2 + x
        product = torch.exp(kept) @ w
        return torch.exp(product.expand(3, 6, 6) * kept)

    x, w = torch.linspace(-1, 1, 36).view(6, 6), torch.linspace(0, 1, 36).view(6, 6)
    wanted = program(x, w)
    with torch.pipeline():
        given = program(x, w)
    np.testing.assert_array_equal(given.numpy(), wanted.numpy())
    assert max(found) == 0


def test_what_is_computed_of_something_that_would_be_kept_for_it_is_kept(found):
    """Two products would have to stay in memory instead of their sum."""

    def program(x, w):
        a, b = x @ w, w @ x
        kept = a + b
        product = torch.exp(kept) @ w
        return torch.exp(product * kept)

    x, w = torch.linspace(-1, 1, 36).view(6, 6), torch.linspace(0, 1, 36).view(6, 6)
    wanted = program(x, w)
    with torch.pipeline():
        given = program(x, w)
    np.testing.assert_array_equal(given.numpy(), wanted.numpy())
    assert max(found) == 0
