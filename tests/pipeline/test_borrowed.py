"""Steps that compute entries of later steps as well, so that nobody keeps their values until then."""

import pytest

import mindtorch_core as torch
from mindtorch_core.backend import Plan, Step


class Borrowing:
    """A plan of ``b = x + 1; c = b * 2; d = b * 3``: the step of c borrows b, which is d's.

    Attributes:
        raised: what the step of c, or that of d, raises.
    """

    def __init__(self, at=None, error=None):
        self.raised = {at: error}
        self.computed = []

    def plan(self, entries):
        b, c, d = entries

        def compute(name, last, gives):
            self.computed.append(name)
            if error := self.raised.pop(name, None):
                raise error
            made = {id(b.outs[0]): b.op.impl(*b.args)}
            args = [made.get(id(a), a) for a in last.args]
            return [*gives, last.op.impl(*args)]

        return Plan(
            [
                Step((1,), lambda: compute("c", c, []), (0,)),
                Step((0, 2), lambda: compute("d", d, [None])),
            ]
        )


@pytest.fixture
def planned(toy, monkeypatch):
    def use(plan):
        monkeypatch.setattr(
            toy.ToyRuntime, "plan", lambda self, entries: plan(entries), raising=False
        )

    return use


def block(x):
    with torch.pipeline():
        b = x + 1
        c, d = b * 2, b * 3
        del b
    return c, d


def operand():
    return torch.ones(2, device="toy")


def test_both_steps_compute_it_and_nobody_keeps_it(planned):
    steps = Borrowing()
    planned(steps.plan)
    assert [t.tolist() for t in block(operand())] == [[4, 4], [6, 6]]
    assert steps.computed == ["c", "d"]


@pytest.mark.parametrize(("at", "tried"), [("c", ["c"]), ("d", ["c", "d"])])
def test_a_step_that_raises_is_launched_one_by_one(planned, at, tried):
    """Where it was the borrower, the entry is launched then, and the later step one by one as well."""
    steps = Borrowing(at, ValueError("no luck"))
    planned(steps.plan)
    with pytest.warns(RuntimeWarning, match="no luck"):
        found = block(operand())
    assert [t.tolist() for t in found] == [[4, 4], [6, 6]]
    assert steps.computed == tried


@pytest.mark.parametrize("at", ["c", "d"])
def test_after_an_interrupt_what_is_left_is_computed_when_it_is_wanted(planned, at):
    steps = Borrowing(at, KeyboardInterrupt())
    planned(steps.plan)
    x, made = operand(), []
    with pytest.raises(KeyboardInterrupt), torch.pipeline():  # noqa: PT012 (its end raises)
        b = x + 1
        made += [b * 2, b * 3]
        del b
    planned(lambda entries: None)
    assert [t.tolist() for t in made] == [[4, 4], [6, 6]]


def test_an_operand_that_failed_fails_both(planned):
    planned(lambda entries: Plan([Step((0,), list)]))
    x = operand()
    with pytest.raises(torch.PipelineError), torch.pipeline():
        wrong = x + 1
    planned(Borrowing().plan)
    with pytest.raises(torch.PipelineError, match="gave 0 results"):
        block(wrong)


def test_a_position_that_there_is_not_is_named(planned):
    planned(lambda entries: Plan([Step((0, 1, 2), None, (7,))]))
    with pytest.warns(RuntimeWarning, match="a step has entry 7 of 3"):
        found = block(operand())
    assert [t.tolist() for t in found] == [[4, 4], [6, 6]]
