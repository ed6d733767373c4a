"""Plans that break the rules of the interface itself: nothing is lost without a word, and nothing hangs."""

import inspect
import re
import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core.backend import Plan, Step
from mindtorch_core.deferred.planning import _check_order
from mindtorch_core.dispatch.pipeline import Batch, Unsent
from mindtorch_core.values.devices import row_of

BACKEND = r"the plan of cpu \(mindtorch-cpu"


def eagerly(entry):
    return entry.op.impl(*entry.args, **entry.kwargs)


@pytest.fixture
def planned(monkeypatch):
    """Have pipelines on the CPU launched by a plan."""
    torch.ones(1)
    runtime = row_of("cpu").runtime
    monkeypatch.setattr(runtime, "planned_from", 0)
    return lambda plan: monkeypatch.setattr(runtime, "plan", plan)


def two_ops():
    """The results of a block, the error at its end, the warnings, and the line of its first op."""
    x, made, raised = torch.ones(2), [], None
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            with torch.pipeline():
                line = inspect.currentframe().f_lineno + 1
                made.append(x + 1)
                made.append(x * 3)
        except BaseException as error:  # noqa: BLE001 (interrupts too)
            raised = error
    return made, raised, [str(w.message) for w in said], line


def raising(make):
    def method(self):  # a new one each time: what it refers to is not kept by this module
        raise make()

    return method


class Silent(Batch):
    def start(self):
        pass

    def stop(self):
        pass

    def send(self):
        pass


def batch(**methods):
    made = type("Odd", (Silent,), {name: raising(make) for name, make in methods.items()})()
    return lambda entries: Plan(batch=made)


def cleared(entries):
    entries.clear()


def one_lost(entries):
    entries[0] = None


HARMLESS = {
    "steps that come once": lambda e: Plan(Step((i,), lambda i=i: [eagerly(e[i])]) for i in (0, 1)),
    "entries that come once": lambda e: Plan([
        Step((i for i in (0, 1)), lambda: [*map(eagerly, e)])
    ]),
    "positions that are no integers": lambda e: Plan([Step((0.0, 1.0))]),
    "all entries taken out": cleared,
    "an entry taken out": one_lost,
    "a batch that is none": lambda e: Plan(batch=17),
    "a batch that does not start": batch(start=lambda: ValueError("no luck")),
}  # fmt: skip


@pytest.mark.parametrize("plan", HARMLESS.values(), ids=HARMLESS)
def test_all_is_computed(planned, plan):
    planned(plan)
    made, raised, said, _ = two_ops()
    assert raised is None
    assert [t.tolist() for t in made] == [[2, 2], [3, 3]]
    assert not said or (len(said) == 1 and "failed, so its ops were launched one by one" in said[0])


UNSENT = {
    "an error": lambda: ValueError("no luck"),
    "of an entry that is none": lambda: Unsent(99, ValueError("no luck")),
    "of one before the first": lambda: Unsent(-1, ValueError("no luck")),
}


@pytest.mark.parametrize("error", UNSENT.values(), ids=UNSENT)
def test_what_a_batch_does_not_send_fails_by_op_and_line(planned, error):
    planned(batch(send=error))
    made, raised, _, line = two_ops()
    assert isinstance(raised, torch.PipelineError)
    assert (raised.op, raised.location) == ("aten::add", f"{__file__}:{line}")
    for t in made:
        with pytest.raises(torch.PipelineError, match=r"aten::add failed .* ValueError: no luck"):
            t.tolist()


def test_unsent_takes_positions_and_exceptions():
    with pytest.raises(TypeError, match="'first' is no whole number"):
        Unsent("first", ValueError())
    with pytest.raises(TypeError, match="the cause of a Unsent is an exception"):
        Unsent(0, "no luck")


def test_a_kernel_alone_that_was_not_sent_has_failed(planned):
    planned(lambda entries: None)

    @torch.library.custom_op("hostile::unsent", mutates_args=())
    def unsent(x: torch.Tensor) -> torch.Tensor:
        raise Unsent(0, ValueError("no luck"))

    unsent.register_fake(torch.empty_like)
    with (  # noqa: PT012 (what fails is the end of the block)
        pytest.raises(torch.PipelineError, match=r"hostile::unsent failed .* no luck"),
        torch.pipeline(),
    ):
        after = unsent(torch.ones(2))
        other = torch.ones(2) * 2
    assert other.tolist() == [2, 2]
    with pytest.raises(torch.PipelineError, match="no luck"):
        after.tolist()


@pytest.mark.parametrize("method", ["send", "stop"])
def test_a_batch_that_is_interrupted_each_time_does_not_hang(planned, method):
    """What it may not have sent has failed; the interrupt goes on."""
    planned(batch(**{method: KeyboardInterrupt}))
    made, raised, _, _ = two_ops()
    assert isinstance(raised, KeyboardInterrupt)
    for t, right in zip(made, ([2, 2], [3, 3]), strict=True):
        if method == "stop":
            assert t.tolist() == right
        else:
            with pytest.raises(torch.PipelineError, match=r"aten::add failed .* KeyboardInterrupt"):
                t.tolist()


def in_one(change):
    """A plan of one step, which gives what a function makes of its right results."""

    def plan(entries):
        def compute():
            made, results = {}, []
            for e in entries:
                args = [made.get(id(a), a) for a in e.args]
                results.append(e.op.impl(*args, **e.kwargs))
                made[id(e.outs[0])] = results[-1]
            return change(results, entries)

        return Plan([Step(tuple(range(len(entries))), compute)])

    return plan


WRONG = {
    "conjugate": (
        lambda r, e: [r[0].conj(), *r[1:]], "gave a conjugate or negative view where"
    ),
    "negative": (
        lambda r, e: [torch._neg_view(r[0]), *r[1:]], "gave a conjugate or negative view where"
    ),
    "pending": (lambda r, e: [e[1].outs[0], *r[1:]], "gave a tensor that has no value yet"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", WRONG)
def test_a_result_that_reads_as_something_else_fails(planned, mistake):
    change, text = WRONG[mistake]
    planned(in_one(change))
    x = torch.tensor([1 + 2j, 3])
    with (
        pytest.raises(torch.PipelineError, match=f"aten::mul failed .* {BACKEND} .* {text}"),
        torch.pipeline(),
    ):
        y, z = x * 2, x + 1
    assert z.tolist() == [2 + 2j, 4]
    with pytest.raises(torch.PipelineError, match=text):
        y.tolist()


def test_the_memory_of_a_result_is_nobody_elses(planned):
    """As when a compiler has one buffer for the outputs of all its calls."""
    buffer = torch.full((2,), 2.0)
    planned(lambda e: Plan([Step((i,), lambda: [buffer]) for i in range(len(e))]))
    x = torch.ones(2)
    for _ in range(2):
        with (  # noqa: PT012 (what fails is the end of the block)
            pytest.raises(
                torch.PipelineError, match=f"aten::mul failed .* {BACKEND} .* earlier result"
            ),
            torch.pipeline(),
        ):
            first = x + 1
            second = x * 2
        assert first.tolist() == [2, 2]
        with pytest.raises(torch.PipelineError, match="earlier result"):
            second.tolist()
        del first


def test_views_show_what_they_are_views_of(planned):
    """Whatever a plan gives for them: a copy, or a view of what was copied to lie as promised."""
    planned(in_one(lambda r, e: [t.clone() if x.op.view else t for t, x in zip(r, e, strict=True)]))
    x = torch.ones(4)
    with torch.pipeline():
        y = x + 1
        view = y.view(2, 2)
        rows = view.t()
    y.add_(10)
    assert view.tolist() == rows.tolist() == [[12, 12], [12, 12]]


def test_a_write_into_other_memory_fails(planned):
    planned(in_one(lambda r, e: [torch.full((2,), 7.0)]))
    x = torch.ones(2)
    shown = x[:1]
    with (
        pytest.raises(torch.PipelineError, match=f"aten::add_ failed .* {BACKEND} .* to write"),
        torch.pipeline(),
    ):
        x.add_(1)
    with pytest.raises(torch.PipelineError, match="aten::add_ failed"):
        shown.tolist()


def test_a_write_may_be_told_by_a_tensor_over_the_memory(planned):
    planned(in_one(lambda r, e: [r[0].detach()]))
    x = torch.ones(2)
    with torch.pipeline():
        x.add_(1)
    assert x.tolist() == [2, 2]


def test_an_operand_that_the_step_writes_is_no_result(planned):
    planned(in_one(lambda r, e: [r[0], e[0].args[0]]))
    x = torch.ones(2)
    with (  # noqa: PT012 (what fails is the end of the block)
        pytest.raises(torch.PipelineError, match=f"aten::exp failed .* {BACKEND} .* an operand"),
        torch.pipeline(),
    ):
        x.add_(1)
        y = x.exp()
    assert x.tolist() == [2, 2]
    with pytest.raises(torch.PipelineError, match="aten::exp failed"):
        y.tolist()


@pytest.mark.parametrize("given", [17, torch.ones(2)], ids=["a number", "a tensor"])
@pytest.mark.parametrize("writes", [False, True])
def test_what_is_no_list_of_results_is_told_with_the_backend(planned, given, writes):
    planned(lambda e: Plan([Step((0, 1), lambda: given)]))
    x = torch.ones(2)
    told = rf"{BACKEND}.* gave an object of \w+ for the results of a step"
    caught = (
        pytest.raises(
            torch.PipelineError, match=f"failed when {BACKEND}.*as one with 1 more.*{told}"
        )
        if writes
        else pytest.warns(RuntimeWarning, match=told)
    )
    with caught, torch.pipeline():
        y = x + 1
        z = y.mul_(2) if writes else y * 2
    if not writes:
        assert z.tolist() == [4, 4]


OTHER = torch.ones(2)
ORDERS = {
    "a read after the write": (lambda x: [x.add_(1), x * 3], True),
    "a read before the write": (lambda x: [x * 3, x.add_(1)], True),
    "two writes": (lambda x: [x.add_(1), x.mul_(3)], True),
    "a write through a view": (lambda x: [x * 3, x[:1].add_(1)], True),
    "random numbers": (lambda x: [torch.rand(2), torch.rand(2)], True),
    "reads": (lambda x: [x + 1, x * 3], False),
    "parts of two memories": (lambda x: [x[:1] + 1, OTHER.zero_()], False),
}


@pytest.mark.parametrize(("block", "matters"), ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("borrows", [False, True])
def test_writes_and_draws_stay_in_program_order(planned, block, matters, borrows):
    """What a plan puts elsewhere would be computed with other numbers, and nobody would know."""
    torch.manual_seed(0)
    wanted = [t.tolist() for t in block(torch.ones(2))]

    def plan(entries):
        last = len(entries) - 1
        rest = Step(tuple(range(last)))
        if borrows:
            return Plan([Step((), borrowed=(last,)), rest, Step((last,))])
        return Plan([Step((last,)), rest])

    planned(plan)
    x = torch.ones(2)
    torch.manual_seed(0)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with torch.pipeline():
            found = block(x)
    assert [t.tolist() for t in found] == wanted
    told = [str(w.message) for w in said]
    if matters:
        assert len(told) == 1
        where = rf"recorded at {__file__}:\d+"
        assert re.search(
            rf"{BACKEND}.*aten::\w+.* {where} stands before aten::\w+.* {where}", told[0]
        )
    else:
        assert told == []


def test_what_a_step_computes_for_itself_may_come_later():
    """A group may make a value that it reads before the step that hands it out."""
    x, other = torch.ones(2), torch.ones(2)
    with torch.pipeline() as pipe:
        a = x + 1
        made = a * 3, a - 5
        other.zero_()
        _check_order([Step((1,), borrowed=(0,)), *(Step((i,)) for i in (0, 2, 3))], pipe.entries)
    assert (made[0].tolist(), other.tolist()) == ([6, 6], [0, 0])
