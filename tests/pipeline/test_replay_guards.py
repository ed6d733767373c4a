"""What a replay must notice: operands that lie elsewhere or otherwise, other numbers, who holds what."""

import itertools
import warnings
import weakref

import pytest

import mindtorch_core as torch
from mindtorch_core.deferred.replay import following, replaying
from mindtorch_core.deferred.replay.known import Known


def repeated(block, given, wanted, times=5):
    """Run a block at one place until it is replayed, and then with other operands, which is not."""
    for _ in range(times):
        pipe, _ = block(*given())
    assert pipe.stats()["replayed"] == pipe.stats()["recorded"] > 0
    pipe, found = block(*wanted())
    assert pipe.stats()["replayed"] == 0
    return found


def test_operands_that_share_memory():
    def block(x, y):
        with torch.pipeline() as pipe:
            x.add_(1)
            z = x + y
        return pipe, z

    def apart():
        return torch.zeros(2), torch.zeros(2)

    def together():
        base = torch.zeros(3)
        return base[:2], base[1:]

    assert repeated(block, apart, together).tolist() == [2.0, 1.0]


def test_where_they_lie_in_memory_that_they_share():
    def block(x, y):
        with torch.pipeline() as pipe:
            x.add_(1)
            z = x + y
        return pipe, z

    def parts(start):
        base = torch.zeros(4)
        return base[:2], base[start : start + 2]

    assert repeated(block, lambda: parts(2), lambda: parts(1)).tolist() == [2.0, 1.0]


def test_other_strides():
    def block(x):
        with torch.pipeline() as pipe:
            y = x * 2 + 1
        return pipe, y

    x = torch.arange(9.0).reshape(3, 3)
    found = repeated(block, lambda: (x,), lambda: (x.t(),))
    assert found.stride() == (x.t() * 2 + 1).stride() == (1, 3)
    assert found.t().view(-1).tolist() == (x * 2 + 1).view(-1).tolist()


def test_another_type_of_number():
    def block(x, n):
        with torch.pipeline() as pipe:
            y = x * n
        return pipe, y

    x = torch.tensor([1, 2])
    found = repeated(block, lambda: (x, 1.5), lambda: (x, 2))
    assert found.dtype is torch.int64
    assert found.tolist() == [2, 4]


@pytest.mark.parametrize("other", [(7, 0, -2), (0, 3, 1), (0.0, 1.0, 0.25), (1, 7, 1)])
def test_numbers_that_say_how_many(other):
    def block(*bounds):
        with torch.pipeline() as pipe:
            y = torch.arange(*bounds) * 2
        return pipe, y

    found = repeated(block, lambda: (2, 7, 1), lambda: other)
    assert found.tolist() == (torch.arange(*other) * 2).tolist()


@pytest.mark.parametrize(
    "other", [torch.ones(3), torch.ones(2, dtype=torch.float64), torch.ones(2, 1)]
)
def test_other_shapes_and_dtypes(other):
    def block(x):
        with torch.pipeline() as pipe:
            y = x + x
        return pipe, y

    found = repeated(block, lambda: (torch.ones(2),), lambda: (other,))
    assert torch.equal(found, other + other)


def test_a_result_that_somebody_has_come_to_hold():
    kept = []

    def block(hold):
        with torch.pipeline() as pipe:
            y = torch.ones(3) * 2
            z = y + 1
            if hold:
                kept.append(y)
            del y
        return pipe, z

    for _i in range(5):
        pipe, _ = block(False)
    assert pipe.stats()["replayed"]
    for _ in range(3):
        _, z = block(True)
        assert z.tolist() == [3.0] * 3
        assert (kept.pop() + 0).tolist() == [2.0] * 3


@pytest.mark.parametrize("through", [True, False])
def test_saved_results_that_somebody_keeps(through):
    """A hook is shown another tensor over the memory of a result."""
    for _ in range(6):
        kept = []
        x = torch.ones(3, requires_grad=True)
        with torch.pipeline(through_backward=through):
            with torch.autograd.graph.saved_tensors_hooks(
                lambda t: t, lambda t: kept.append(t) or t
            ):
                y = (x * 2).exp()
                z = y.tanh()
            (z * y).sum().backward()
        assert kept
        assert [(t + 0).shape for t in kept] == [t.shape for t in kept]
        assert any(torch.equal(t + 0, y) for t in kept)


@pytest.mark.parametrize("shape", [(3,), (2, 2)])
def test_results_that_hooks_have_seen_are_there_after_the_block(shape):
    """Also where backward comes later, and nothing in the block has read what they were shown."""
    kept, x = [], torch.ones(*shape, requires_grad=True)
    with (
        torch.pipeline(),
        torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t),
    ):
        z = (x * 2).exp().tanh()
    assert [(t + 0).shape for t in kept] == [t.shape for t in kept]
    z.sum().backward()
    plain = torch.ones(*shape, requires_grad=True)
    (plain * 2).exp().tanh().sum().backward()
    assert torch.equal(x.grad, plain.grad)


def test_a_kernel_whose_result_lies_otherwise():
    """It is laid out as the op's rule has said, as in a block that comes once."""
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there is a kernel already
        library.impl(
            "sinh", lambda x: torch.exp(x.t()).t().contiguous().t().contiguous().t(), "CPU"
        )
    try:
        x = torch.arange(6.0).reshape(2, 3) / 10
        for _ in range(5):
            with torch.pipeline() as pipe:
                y = torch.sinh(x) + 1
                z = y.view(-1)
            assert y.is_contiguous()
            assert torch.equal(z.reshape(2, 3), torch.exp(x) + 1)
        assert pipe.stats()["replayed"] == 3
    finally:
        library._destroy()


def test_a_handler_that_launches_what_is_being_learned(monkeypatch):
    whole, w, running = replaying.without_aliases, torch.zeros(2), []

    def interrupted(entries):
        found = whole(entries)
        if not running:
            running.append(True)
            w.tolist()  # as a handler or finaliser may, which launches what is recorded
            running.clear()
        return found

    def block():
        with torch.pipeline():
            w.add_(1)
            return w * 2

    monkeypatch.setattr(replaying, "without_aliases", interrupted)
    for n in range(1, 8):
        assert block().tolist() == [2 * n] * 2
        assert w.tolist() == [n] * 2


@pytest.mark.parametrize(("where", "call"), [("entries_of", 1), ("_given", 2), ("retraced", 1)])
def test_a_handler_that_goes_on_as_expected_while_others_are_looked_for(monkeypatch, where, call):
    """What a handler has recorded once, at this place, is expected; there it comes, a moment too late."""
    inner, x = [], torch.tensor([1.0, -2.0])

    def handler():
        inner.append((x * 5 - 1).sum().item())

    def block(comes):
        with torch.pipeline():
            y = (x * 2).relu() + 1
            if comes:
                handler()
            return y.sum().item()

    for comes in [True] * 4 + [False] * 4 + [True] * 2:
        assert block(comes) == 4
    work, calls = getattr(following, where), []

    def interrupted(*args):
        calls.append(1)
        if len(calls) == call:
            handler()
        return work(*args)

    monkeypatch.setattr(following, where, interrupted)
    assert block(False) == 4
    assert len(calls) >= call
    monkeypatch.undo()
    assert block(True) == block(False) == 4
    assert {*inner} == {-7}


def test_a_handler_that_records_what_another_trace_goes_on_with_as_one_is_to_be_launched(
    monkeypatch,
):
    kept, x = [], torch.tensor([1.0, -2.0])

    def handler():
        kept.append(x * 5 - 1)

    def block(comes):
        with torch.pipeline():
            y = ((x * 2).relu() + 1).sum()
            if comes:
                handler()
            return y.item()

    for comes in [True] * 4 + [False] * 4 + [True] + [False] * 3:
        assert block(comes) == 4
    work, calls = Known.keep_spare, []

    def interrupted(*args):
        calls.append(1)
        if len(calls) == 1:
            handler()
        return work(*args)

    monkeypatch.setattr(Known, "keep_spare", interrupted)
    assert block(False) == 4
    assert calls
    assert kept[-1].tolist() == [4, -11]
    assert block(True) == block(False) == 4
    assert all(t.tolist() == [4, -11] for t in kept)


@pytest.mark.parametrize("comes_at", range(1, 5))
@pytest.mark.parametrize("write", [lambda w: w.add_(1), lambda w: w.neg_()], ids=["add_", "neg_"])
def test_what_a_handler_writes_while_a_trace_is_compiled_is_no_part_of_it(
    monkeypatch, write, comes_at
):
    w, runs, work = torch.ones(2), [], following.entries_of
    names = {"torch": torch, "w": w}
    text = "def block():\n    with torch.pipeline():\n        return w * 2 + 1"
    exec(compile(text, "<block>", "exec"), names)  # a place of its own, where nothing is known
    before, after = torch.ones(2), write(torch.ones(2))

    def interrupted(*args):
        if len(runs) == comes_at:
            runs.append("the handler")
            write(w)
        return work(*args)

    monkeypatch.setattr(following, "entries_of", interrupted)
    for _ in range(8):
        found = names["block"]()
        runs.append("a run")
        come = "the handler" in runs
        assert torch.equal(w, after if come else before)
        assert found.tolist() in [(t * 2 + 1).tolist() for t in (before, after)[: 1 + come]]
    assert found.tolist() == (w * 2 + 1).tolist()


PATTERNS = [(0, 0, 0), (0, 1, 2), (0, 0, 1), (0, 1, 0), (0, 1, 1)]
BLOCK = """
def block(x, y, z):
    with torch.pipeline():
        a = (x + 1) * 2 - y
        b = y / z
        c = a * 3 + z
        d = b - x
    return a, b, c, d
"""


@pytest.mark.parametrize("learned", PATTERNS)
def test_one_tensor_in_several_places(learned):
    """What is learned from one tensor twice, or from two, is called with two, or with one."""
    tensors = [torch.full((3,), float(n)) for n in range(1, 4)]
    for first, then in itertools.product(PATTERNS, PATTERNS):
        names = {"torch": torch}
        exec(compile(BLOCK, "<block>", "exec"), names)  # a place of its own, where nothing is known
        for pattern in (*(learned,) * 4, first, then, first, first, then):
            x, y, z = (tensors[n] for n in pattern)
            a, b = (x + 1) * 2 - y, y / z
            wanted = a, b, a * 3 + z, b - x
            assert all(map(torch.equal, names["block"](x, y, z), wanted))


def test_results_that_come_again_bear_no_marks_and_nobody_has_them():
    x, marks, seen = torch.ones(2), [], []
    for _ in range(8):
        with torch.pipeline():
            y = x * 2
            marks.append(getattr(y, "mark", None))
            y.mark = len(marks)
            z = y + 1
            del y
        assert z.tolist() == [3, 3]
    for _ in range(8):
        with torch.pipeline():
            y = x * 2
            seen.append(weakref.ref(y))
            z = y + 1
            del y
        assert z.tolist() == [3, 3]
    assert marks == [None] * 8
    assert [each() for each in seen] == [None] * 8
