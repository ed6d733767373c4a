"""A pipeline that nobody holds when its block ends serves the next block, and is like a new one."""

import contextlib
import gc
import threading
import weakref

import pytest

import mindtorch_core as torch
from mindtorch_core.deferred.blocks import SPARE
from mindtorch_core.deferred.context import MAX_OPS
from mindtorch_core.dispatch import current_pipeline
from mindtorch_core.dispatch.keys import ACTIVE, PROCESS_INCLUDE
from mindtorch_core.values.references import LOOK, NEVER

pytestmark = pytest.mark.skipif(LOOK == NEVER, reason="counts of references tell nothing here")

X = torch.tensor([1.0, -2.0])


@pytest.fixture(autouse=True)
def none_spare():
    SPARE.clear()


def block(within=lambda: None, **options):
    with torch.pipeline(**options):
        y = (X * 2).relu() + 1
        within()
    return y


def test_blocks_take_the_pipeline_of_the_one_before():
    seen = []
    for _ in range(6):
        assert block(lambda: seen.append(id(current_pipeline()))).tolist() == [3, 1]
    assert len(SPARE) == 1
    assert {*seen} == {id(SPARE[0].of)}
    assert not ACTIVE
    assert not PROCESS_INCLUDE[0]


def test_one_that_somebody_holds_is_not_taken():
    kept = []
    for _ in range(6):
        block(lambda: kept.append(current_pipeline()))
    assert not SPARE
    assert len({*map(id, kept)}) == 6
    assert [pipe.stats()["recorded"] for pipe in kept] == [3] * 6
    with torch.pipeline() as named:
        X * 2
    assert named.stats()["flushes"] == 1
    assert not SPARE


def test_one_that_somebody_holds_weakly_is_not_taken():
    refs = []
    for _ in range(3):
        block(lambda: refs.append(weakref.ref(current_pipeline())))
    gc.collect()
    assert [ref() for ref in refs] == [None] * 3


def test_bounds_that_were_set_are_those_of_that_block_alone():
    def bound():
        current_pipeline().max_ops = 2

    for _ in range(5):
        assert block().tolist() == [3, 1]
    block(bound)
    assert len(SPARE) == 1
    with torch.pipeline() as pipe:
        assert pipe.max_ops == MAX_OPS


def test_a_trace_of_a_block_with_other_bounds_is_not_followed():
    pipe, flushes = torch.pipeline(), []
    for bound in (MAX_OPS,) * 6 + (2,) * 3:
        pipe.max_ops = bound
        before = pipe.stats()["flushes"]
        with pipe:
            y = (X * 2 + 1) * 1
        flushes.append(pipe.stats()["flushes"] - before)
        assert y.tolist() == (X * 2 + 1).tolist()
    assert flushes == [1] * 6 + [2] * 3


@pytest.mark.parametrize("part", [lambda pipe: None, lambda pipe: pipe.flush()], ids=["1", "2"])
def test_a_pipeline_that_is_entered_again_begins_with_the_first_part(part):
    pipe = torch.pipeline()
    for _ in range(5):
        with pipe:
            y = X * 2
            part(pipe)
            z = y + 1
        assert z.tolist() == (X * 2 + 1).tolist()
    assert pipe.stats()["replayed"] >= 2


@pytest.mark.parametrize(
    "options", [{"max_ops": 50}, {"max_bytes": 1 << 20}, {"trace": True}], ids=str
)
def test_one_of_other_bounds_is_not_taken(options):
    for _ in range(4):
        assert block(**options).tolist() == [3, 1]
    assert not SPARE


def test_counts_begin_anew():
    for _ in range(5):
        block()
    with torch.pipeline() as pipe:
        assert pipe.stats()["recorded"] == pipe.stats()["flushes"] == 0
        X * 2
    assert pipe.stats()["recorded"] == pipe.stats()["flushes"] == 1


def test_nested_blocks_and_other_threads_have_their_own():
    def inner():
        with torch.pipeline():
            return X * 3

    def several():
        for _ in range(20):
            assert block(inner).tolist() == [3, 1]

    for _ in range(5):
        assert block(inner).tolist() == [3, 1]
    assert len(SPARE) == 2
    threads = [threading.Thread(target=several) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert block(inner).tolist() == [3, 1]
    assert not ACTIVE
    assert len({id(end.of) for end in SPARE}) == len(SPARE)


@pytest.mark.parametrize("times", [1, 5])
def test_a_block_that_raises_leaves_nothing(times):
    def fails():
        raise KeyError

    for _ in range(times):
        block()
    with contextlib.suppress(KeyError):
        block(fails)
    assert not ACTIVE
    assert current_pipeline() is None
    assert block().tolist() == [3, 1]


def test_backward_is_recorded_where_that_block_asks_for_it():
    w = torch.ones(2, requires_grad=True)

    def reasons(through):
        with torch.pipeline(through_backward=through) as pipe:
            (w * X).sum().backward()
        w.grad = None
        return [*pipe.stats()["flush_reasons"]]

    for through in (True, False, True):
        block(through_backward=through)
        assert SPARE
        assert reasons(through) == (["end of block"] if through else ["backward()", "end of block"])


def test_a_pipeline_that_was_made_and_not_entered_is_let_go():
    block()
    ref = weakref.ref(torch.pipeline())
    gc.collect()
    assert ref() is None
    assert block().tolist() == [3, 1]


def test_an_exit_stack_ends_the_block_of_a_spare_pipeline():
    for _ in range(3):
        block()
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.pipeline())
            y = X * 2
            assert y._pending
        assert not y._pending
        assert not ACTIVE


def test_a_value_that_is_still_to_be_computed_keeps_its_pipeline():
    kept = []

    def interrupted():
        kept.append(X * 5)
        raise KeyboardInterrupt

    for _ in range(3):
        block()
        with contextlib.suppress(KeyboardInterrupt):
            block(interrupted)
        assert block().tolist() == [3, 1]
    assert [t.tolist() for t in kept] == [[5, -10]] * 3


def test_what_is_counted_later_does_not_grow():
    pipe = torch.pipeline()
    for _ in range(100):
        with pipe:
            (X * 2).relu() + 1
    assert len(pipe.uncounted) < 32
    assert pipe.stats()["flushes"] == 100
