"""Random programs whose block comes again and again: what is replayed is what eager runs give."""

import contextlib
import weakref

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import programs, run

import mindtorch_core as torch
from mindtorch_core.deferred.replay.sites import Site

pytestmark = pytest.mark.filterwarnings("ignore")


def at(site, **options):
    pipe = torch.pipeline(**options)
    pipe.place = site
    return pipe


def same(found, wanted):
    assert found.errors == wanted.errors
    for i, (f, w) in enumerate(zip(found.values, wanted.values, strict=True)):
        assert (f is None) == (w is None), i
        if f is not None:
            assert f[:2] == w[:2], i
            np.testing.assert_array_equal(f[2], w[2], err_msg=str(i))


def test_a_block_that_comes_again():
    recorded = replayed = 0

    @settings(
        max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(programs, st.booleans())
    def check(program, through):
        nonlocal recorded, replayed
        eager, site = run(program, torch), Site(program)
        for _ in range(6):
            pipe = at(site, through_backward=through)
            same(run(program, torch, pipe), eager)
            recorded += pipe.stats()["recorded"]
            replayed += pipe.stats()["replayed"]

    check()
    assert replayed > 0.15 * recorded  # three of six runs at most


@settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(
    st.lists(programs, min_size=2, max_size=3), st.lists(st.integers(0, 2), min_size=6, max_size=12)
)
def test_other_programs_at_the_same_place(several, order):
    """They miss what is expected, at the first op or later, and are recorded as always."""
    site = Site(several)
    wanted = [run(program, torch) for program in several]
    for which in order:
        which %= len(several)
        same(run(several[which], torch, at(site)), wanted[which])


def test_a_look_at_the_pipeline():
    """What was followed is shown as recorded, and recorded on."""
    x = torch.ones(3)
    for i in range(6):
        with torch.pipeline() as pipe:
            y = x * 2
            z = y + 1
            if i == 5:
                assert repr(pipe) == "<Pipeline with 2 pending ops>"
                assert pipe.stats()["pending"] == pipe.stats()["recorded"] == 2
                assert [e.op.name for e in pipe.entries] == ["aten::mul", "aten::add"]
                assert pipe.entries[1].args[0] is y
                assert len(list(pipe.graph)) == 2
            w = z.exp()
        assert w.tolist() == torch.exp(x * 2 + 1).tolist()
        assert pipe.stats()["replayed"] == (3 if 3 <= i < 5 else 0)


def test_unloading_forgets_traces(toy):
    from mindtorch_core import plugins
    from mindtorch_core.deferred.replay import sites

    for _ in range(4):
        with torch.pipeline():
            torch.ones(2) + 1
    assert any(site.known for site in sites.SITES.values())
    plugins.unload("toy")
    assert not sites.SITES
    plugins.load("toy")


def test_inputs_that_are_viewed_wait_for_nothing_after_the_block():
    m, w = torch.ones(2, 2), torch.ones(2, 2, requires_grad=True)
    walked, viewed = Site(m), Site(w)
    for _ in range(6):
        with at(viewed):
            seen = m.t() * 1
        assert [t._pending for t in (m, seen)] == [False] * 2
        with at(walked, through_backward=True) as pipe:
            (w @ m).sum().backward()  # whose gradient reads a view of `m`
            w.grad = None
        assert [t._pending for t in (m, w)] == [False] * 2
    assert pipe.stats()["replayed"] == pipe.stats()["recorded"]
    gone = weakref.ref(pipe)
    del pipe
    assert gone() is None


def test_what_a_backward_pass_has_not_handed_out_is_made_where_the_block_goes_on_otherwise():
    w, x = torch.ones(3, 2, requires_grad=True), torch.arange(6.0).view(2, 3)

    def step(otherwise):
        hidden = (x @ w).tanh()
        (hidden * hidden).sum().backward()
        grad = w.grad.tolist() if otherwise == "look" else w.grad
        if otherwise == "go on":
            grad = grad * 2
        w.grad = None
        return (hidden @ hidden.t(), grad)

    site, walks = Site(step), []
    for otherwise in ["", "", "", "", "", "look", "", "go on", "", ""]:
        pipe = at(site, through_backward=True)
        results = []
        for block in (pipe, contextlib.nullcontext()):
            with block:
                made = [t if isinstance(t, list) else t.detach() for t in step(otherwise)]
            results.append([t if isinstance(t, list) else t.tolist() for t in made])
        assert results[0] == results[1]
        walks.append(pipe.stats()["replayed_walks"])
    assert walks[2:8] == [1] * 6


@pytest.mark.parametrize("written", ["x", "a view", "y"])
def test_a_look_at_memory_launches_what_writes_it_and_nothing_else(written):
    """In a block that is followed, whose ops are no entries yet, as in one that is recorded."""
    told = []
    x, y = torch.zeros(4), torch.zeros(4)
    for turn in range(1, 7):
        with torch.pipeline(through_backward=True) as pipe:
            other = y * 2
            {"x": x, "a view": x[:2], "y": y}[written].add_(1)
            shown = x.view(2, 2)
            seen = x.tolist()
        wanted = {"x": [turn] * 4, "a view": [turn, turn, 0, 0], "y": [0] * 4}[written]
        assert seen == shown.flatten().tolist() == wanted
        assert other.tolist() == [2 * (turn - 1 if written == "y" else 0)] * 4
        told.append((pipe.stats()["flushes"], sum(pipe.stats()["breaks"].values())))
    assert told == [(1, 0) if written == "y" else (2, 1)] * 6
