"""Plans that are wrong: what they get wrong fails by op and line, and nothing else is lost."""

import inspect
import sys
import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core import backend
from mindtorch_core.backend import Plan, Step, StepFailed
from mindtorch_core.values.devices import row_of

BACKEND = r"the plan of toy \(mindtorch-toy 1\.0\)"


def eagerly(entry):
    return entry.op.impl(*entry.args, **entry.kwargs)


def one_step_each(change):
    """A plan whose first step gives what a function makes of its right results."""

    def plan(self, entries):
        def step(i):
            entry = entries[i]
            right = lambda: [eagerly(entry)]  # noqa: E731
            return Step((i,), right if i else lambda: change(right()))

        return Plan([step(i) for i in range(len(entries))])

    return plan


def raises(error):
    def change(results):
        raise error

    return change


def other_device(results):
    return [results[0].cpu()]


def given_instead(entries, result):
    """A plan that gives something else for the first op."""
    return Plan([Step((0, 1), lambda: [result, eagerly(entries[1])])])


class Warns(str):
    """Of a mistake that nothing is lost by, what the warning says after the backend's name."""


MISTAKES = {
    "wrong shape": (one_step_each(lambda r: [r[0].reshape(2, 1)]), r"gave \[2, 1\] torch.float32 where"),
    "wrong dtype": (one_step_each(lambda r: [r[0].double()]), r"gave \[2\] torch.float64 where"),
    "wrong device": (one_step_each(other_device), "gave a tensor on cpu where one on toy"),
    "not a tensor": (one_step_each(lambda r: [3.0]), r"gave 3\.0 where"),
    "an operand": (lambda self, e: given_instead(e, e[0].args[0]), "gave memory of an operand"),
    "a view of an operand": (
        lambda self, e: given_instead(e, e[0].args[0].view(2)), "gave memory of an operand"
    ),
    "too few": (one_step_each(lambda r: []), "gave 0 results for the 1 entries of a step"),
    "too many": (one_step_each(lambda r: [*r, *r]), Warns(f"RuntimeError: {BACKEND} gave 2 results for 1 ent")),
    "too many for one": (one_step_each(lambda r: [(*r, r[0].clone())]), "gave 2 results where there are 1"),
    "none": (one_step_each(lambda r: [None]), "left out a result that somebody can see"),
    "not a list": (one_step_each(lambda r: None), Warns(f"TypeError: {BACKEND} gave None for the results of a")),
    "raises": (one_step_each(raises(ValueError("no luck"))), Warns("ValueError: no luck$")),
    "forgets": (lambda self, e: Plan([Step((1,), lambda: [eagerly(e[1])])]), "has no step for it"),
    "forgets all": (lambda self, e: Plan([None, Step((1,))]), "has no step for it"),
    "twice": (
        lambda self, e: Plan([Step((0, 1)), Step((1,))]),
        Warns(r"ValueError: two steps have entry 1, aten::mul recorded at .*test_plan_mistakes\.py:\d+: one may "
              r"have it as borrowed$"),
    ),
    "beyond": (
        lambda self, e: Plan([Step((0, 1, 2))]),
        Warns("ValueError: a step has entry 2 of 2, which are counted from 0$"),
    ),
    "before": (
        lambda self, e: Plan([Step((0, 1), borrowed=(-1,))]),
        Warns("ValueError: a step has entry -1 of 2, which are counted from 0$"),
    ),
    "a truth value for an entry": (
        lambda self, e: Plan([Step((0, True))]), Warns("TypeError: True is no whole number$")
    ),
    "plan raises": (lambda self, e: 1 // 0, Warns("ZeroDivisionError: integer division")),
    "no plan": (
        lambda self, e: 17, Warns("TypeError: it gave 17 where a Plan or None is expected$")
    ),
    "no batch": (
        lambda self, e: Plan(batch=17),
        Warns("TypeError: its batch is 17 where a Batch or None is expected$"),
    ),
}  # fmt: skip


@pytest.fixture
def planned(toy, monkeypatch):
    return lambda plan: monkeypatch.setattr(toy.ToyRuntime, "plan", plan, raising=False)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_a_plan_gets_wrong_is_named_and_nothing_else_is_lost(planned, mistake):
    """Mistakes before anything is lost end in one warning; others fail where they were made."""
    plan, text = MISTAKES[mistake]
    planned(plan)
    x, x2 = torch.ones(2, device="toy"), torch.full((2,), 2.0, device="toy")
    made = []

    def block():
        with torch.pipeline():
            made.append(x + 1)
            made.append(x2 * 3)

    line = inspect.getsourcelines(block)[1] + 2
    if isinstance(text, Warns):
        told = f"{BACKEND} failed, so its ops were launched one by one: {text}"
        with pytest.warns(RuntimeWarning, match=told) as said:
            block()
        assert len(said) == 1
        assert said[0].filename == __file__
        assert made[0].tolist() == [2, 2]
    else:
        with pytest.raises(torch.PipelineError, match=f"{BACKEND} {text}") as caught:
            block()
        assert (caught.value.op, caught.value.location) == ("aten::add", f"{__file__}:{line}")
        with pytest.raises(torch.PipelineError, match=text):
            made[0].tolist()
        with pytest.raises(torch.PipelineError, match=text):
            made[0] * 2
    assert made[1].tolist() == [6, 6]
    with torch.pipeline():
        after = x2 + 1
        planned(lambda self, entries: None)
    assert after.tolist() == [3, 3]


def test_an_op_launched_before_its_operand_is_named(planned):
    planned(lambda self, e: Plan([Step((1,)), Step((0,))]))
    x = torch.ones(2, device="toy")
    with (  # noqa: PT012 (what fails is the end of the block)
        pytest.raises(
            torch.PipelineError, match=r"aten::mul failed .* an operand has no value yet"
        ),
        torch.pipeline(),
    ):
        y = x + 1
        z = y * 2
    assert y.tolist() == [2, 2]
    with pytest.raises(torch.PipelineError, match="operand has no value"):
        z.tolist()


def test_one_tensor_for_two_results_fails(planned):
    def plan(self, entries):
        def compute():
            made = eagerly(entries[0])
            return [made, made]

        return Plan([Step((0, 1), compute)])

    planned(plan)
    x = torch.ones(2, device="toy")
    with (
        pytest.raises(torch.PipelineError, match=f"{BACKEND} gave memory of another result"),
        torch.pipeline(),
    ):
        a, b = x + 1, x * 2
    assert a.add_(1).tolist() == [3, 3]
    with pytest.raises(torch.PipelineError, match="aten::mul failed"):
        b.tolist()


def in_one_step(compute):
    return lambda self, e: Plan([Step(tuple(range(len(e))), lambda: compute(e))], groups=1)


@pytest.mark.parametrize("by", ["entry", "position"])
@pytest.mark.parametrize("writes", [False, True])
def test_a_step_says_which_of_its_ops_failed(planned, by, writes):
    def compute(entries):
        raise StepFailed(entries[1] if by == "entry" else 1, ZeroDivisionError("by nothing"))

    planned(in_one_step(compute))
    x = torch.ones(2, device="toy")
    with (  # noqa: PT012 (what fails is the end of the block)
        pytest.raises(
            torch.PipelineError, match=r"aten::mul failed .* ZeroDivisionError: by nothing"
        ),
        torch.pipeline(),
    ):
        a = x + 1
        b = x * 2
        c = b + 1
        if writes:
            x.fill_(5)
    for lost in (b, c):
        with pytest.raises(torch.PipelineError, match=r"aten::mul failed .* by nothing"):
            lost.tolist()
    if writes:  # whether the step has written, nobody knows
        for lost in (a, x):
            with pytest.raises(torch.PipelineError, match="by nothing"):
                lost.tolist()
    else:
        assert a.tolist() == [2, 2]


def test_too_few_results_fail_those_without_one(planned):
    planned(in_one_step(lambda e: [eagerly(e[0])]))
    x = torch.ones(2, device="toy")
    with (
        pytest.raises(torch.PipelineError, match=r"aten::mul failed .* none for this one"),
        torch.pipeline(),
    ):
        a, b = x + 1, x * 2
    assert a.tolist() == [2, 2]
    with pytest.raises(torch.PipelineError):
        b.tolist()


@pytest.fixture
def on_the_cpu(monkeypatch):
    runtime = row_of("cpu").runtime
    monkeypatch.setattr(type(runtime), "planned_from", 0)
    return lambda plan: monkeypatch.setattr(type(runtime), "plan", plan)


def test_what_nobody_sees_may_be_left_out_also_a_part(on_the_cpu):
    kept = []

    def compute(entries):
        kept.extend(entries)  # a plan may keep what it was given
        doubled = eagerly(entries[0])
        return [None, (entries[1].op.impl(doubled)[0], None)]

    on_the_cpu(in_one_step(compute))
    x = torch.tensor([3.0, 1.0])
    with torch.pipeline():
        values, positions = torch.sort(x * 2)
        del positions
    assert values.tolist() == [2, 6]
    assert len(kept) == 2


def test_a_part_that_somebody_sees_may_not_be_left_out(on_the_cpu):
    on_the_cpu(in_one_step(lambda e: [(eagerly(e[0])[0], None)]))
    x = torch.tensor([3.0, 1.0])
    with (
        pytest.raises(torch.PipelineError, match=r"aten::sort.stable failed .* left out a result"),
        torch.pipeline(),
    ):
        values, positions = torch.sort(x)
    assert values.tolist() == [1, 3]
    with pytest.raises(torch.PipelineError, match="left out a result"):
        positions.tolist()


def test_each_backend_plans_its_own_ops(planned):
    seen = []

    def compute(entries):
        made = {}
        for e in entries:
            args = [made.get(id(a), a) for a in e.args]
            made[id(e.outs[0])] = e.op.impl(*args, **e.kwargs)
        return [*made.values()]

    def plan(self, entries):
        seen.append([e.op.name for e in entries])
        step = Step(tuple(range(len(entries))), lambda: compute(entries))
        return Plan([step], fused=len(entries))

    planned(plan)
    x, h = torch.ones(3, device="toy"), torch.ones(3)
    with torch.pipeline() as pipe:
        first = h * 2
        a = x + 1
        second = first + 1
        b = x * 2
        third = second * second
        c = b * x
    assert seen == [["aten::add", "aten::mul", "aten::mul"]]
    assert pipe.stats()["fused_ops"] == 3
    assert [t.tolist() for t in (first, second, third)] == [[2] * 3, [3] * 3, [9] * 3]
    assert [t.tolist() for t in (a, b, c)] == [[2] * 3, [2] * 3, [2] * 3]


def test_what_one_backend_makes_for_another_comes_before(planned):
    """A number on the host is an operand elsewhere, and is changed after that."""
    seen = []

    def plan(self, entries):
        seen.append([e.op.name for e in entries])
        return Plan([Step((i,), lambda e=e: [eagerly(e)]) for i, e in enumerate(entries)])

    planned(plan)
    x, scale = torch.ones(3, device="toy"), torch.tensor(2.0)
    with torch.pipeline():
        y = x + 1
        scale.mul_(3)
        z = y * scale
        scale.add_(1)
        w = z + scale
    assert z.tolist() == [12] * 3
    assert w.tolist() == [19] * 3
    assert [name for names in seen for name in names] == ["aten::add", "aten::mul", "aten::add"]


def test_random_numbers_stay_in_program_order(planned):
    planned(lambda self, e: None)

    def program():
        torch.manual_seed(3)
        h, x = torch.ones(4), torch.ones(4, device="toy")
        a = h.clone().uniform_()
        y = x * a.sum()
        b = h.clone().uniform_()
        z = y + b.sum()
        return a, b, h.clone().normal_(), y, z

    wanted = [t.tolist() for t in program()]
    with torch.pipeline():
        made = program()
    assert [t.tolist() for t in made] == wanted


def test_the_names_are_public():
    assert {"Plan", "Step", "StepFailed", "Entry"} <= {*backend.__all__}


def test_a_big_step_is_launched_in_linear_time(planned):
    """By counting what is called, not by the clock."""

    def calls(ops):
        planned(in_one_step(lambda e: [*map(eagerly, e)]))
        count = 0

        def profile(frame, event, arg):
            nonlocal count
            count += 1

        x = torch.ones(2, device="toy")
        with torch.pipeline(max_ops=10**6) as pipe:
            made = [x + i for i in range(ops)]
            sys.setprofile(profile)
            try:
                pipe.flush()
            finally:
                sys.setprofile(None)
        assert made[-1].tolist() == [ops] * 2
        return count

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few, many = calls(200), calls(800)
    assert many < 4.5 * few
