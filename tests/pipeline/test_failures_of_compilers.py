"""Executables that fail, stop in the middle, or answer checks later."""

# ruff: noqa: F811, PT012, PT031, SIM117 (a fixture; a block fails at its end)

import inspect

import pytest
from compilers import Answer, checking, compiler, failing_at, names, ones  # noqa: F401 (a fixture)

import mindtorch_core as torch
from mindtorch_core.backend import Check, Checked, Halted
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.values.devices import row_of

# ---- what goes wrong ----------------------------------------------------------------------------


def test_an_instruction_that_fails_is_named(compiler):
    compiler.around = failing_at(1)
    x, y = ones(2), ones(2)
    with pytest.raises(torch.PipelineError, match=r"aten::mul failed .*no luck") as raised:
        with torch.pipeline():
            a = x + 1
            line = inspect.currentframe().f_lineno + 1
            b = y * 2
    assert raised.value.location == f"{__file__}:{line}"
    assert a.tolist() == [2.0, 2.0]
    with pytest.raises(torch.PipelineError, match="no luck"):
        b.tolist()


@pytest.mark.parametrize(
    "around",
    [
        lambda run, inputs, numbers: 1 // 0,
        lambda run, inputs, numbers: [],
        lambda run, inputs, numbers: run(inputs, numbers) * 2,
    ],
)
def test_an_executable_that_fails_costs_a_warning(compiler, around):
    compiler.around = around
    x = ones(2)
    with pytest.warns(RuntimeWarning, match="the plan of toy"), torch.pipeline():
        a = x + 1
        b = a * 2
    assert [a.tolist(), b.tolist()] == [[2.0, 2.0], [4.0, 4.0]]


def test_a_wrong_output_fails_by_op_and_line(compiler):
    compiler.around = lambda run, inputs, numbers: [t.double() for t in run(inputs, numbers)]
    x = ones(2)
    with (
        pytest.raises(torch.PipelineError, match=r"aten::mul failed .*float64 where"),
        torch.pipeline(),
    ):
        y = x * 2
    with pytest.raises(torch.PipelineError, match="aten::mul failed"):
        y.tolist()


def test_what_may_have_been_overwritten_is_not_computed_again(compiler, toy, monkeypatch):
    monkeypatch.setattr(toy.ToyRuntime, "donates", True)
    compiler.around = lambda run, inputs, numbers: 1 // 0
    x = ones(2) * 1
    with pytest.raises(torch.PipelineError, match="ZeroDivisionError"), torch.pipeline():
        y = x * 2
        del x
    with pytest.raises(torch.PipelineError):
        y.tolist()


def test_ops_that_failed_as_one_are_said_to_be_together(compiler):
    """Nobody knows which one it was: the first of them would be looked at in vain."""
    compiler.around = lambda run, inputs, numbers: 1 // 0
    x, kept = ones(2), ones(2)
    told = r"failed when the plan of toy .* launched it as one with \d more, any of which may be the cause: Z"
    with pytest.raises(torch.PipelineError, match=f"^aten::add {told}"), torch.pipeline():
        y = kept + 1
        x.mul_(3)
        z = x * y
    with pytest.raises(torch.PipelineError, match=f"^aten::mul {told}"):
        z.tolist()


def test_a_compiler_that_raises_costs_a_warning(compiler, toy, monkeypatch):
    def broken(self, program):
        raise KeyError("unknown op")

    monkeypatch.setattr(toy.ToyRuntime, "compile", broken, raising=False)
    x = ones(2)
    with pytest.warns(RuntimeWarning, match=r"the plan of toy .*unknown op"), torch.pipeline():
        y = x * 2
    assert y.tolist() == [2.0, 2.0]


def test_a_compiler_may_decline(compiler, toy, monkeypatch):
    asked = []
    monkeypatch.setattr(toy.ToyRuntime, "compile", lambda self, p: asked.append(p), raising=False)
    monkeypatch.setattr(toy.ToyRuntime, "plan", lambda self, e: asked.append(None), raising=False)
    for _ in range(2):
        with torch.pipeline():
            y = ones(2) * 2
        assert y.tolist() == [2.0, 2.0]
    assert [type(each).__name__ for each in asked] == ["Program", "NoneType", "NoneType"]


def test_ops_that_are_not_compiled_stand_between(compiler, toy, monkeypatch):
    """What does not depend on them is one program all the same."""
    monkeypatch.setattr(
        toy.ToyRuntime, "compiles", lambda self, op: op.name != "aten::relu", raising=False
    )
    x = ones(2)
    with torch.pipeline():
        a = x * 2
        r = x.relu()
        b = a + 1
        c = r + b
    assert c.tolist() == [4.0, 4.0]
    assert [names(p) for p in compiler.programs] == [["mul", "add"], ["add"]]


def test_an_interrupt_leaves_what_only_computes_for_later(compiler):
    def interrupted(run, inputs, numbers):
        raise KeyboardInterrupt

    compiler.around = interrupted
    x = ones(2)
    with pytest.raises(KeyboardInterrupt), torch.pipeline():
        y = x * 2
    compiler.around = lambda run, inputs, numbers: run(inputs, numbers)
    assert y.tolist() == [2.0, 2.0]


# ---- checks that are answered later -------------------------------------------------------------


def test_a_check_is_answered_at_the_next_look(compiler):
    answer = Answer(True)
    compiler.around = checking(answer, 0)
    x = ones(2)
    with torch.pipeline():
        y = x * 2
        z = x + 1
    assert not answer.asked
    assert z.tolist() == [2.0, 2.0]
    assert not answer.asked  # z does not depend on it
    assert y.tolist() == y.tolist() == [2.0, 2.0]
    assert answer.asked == 1
    assert not y._pending


@pytest.mark.parametrize("use", ["read", "op", "block", "write"])
def test_a_check_that_fails_says_op_and_line(compiler, use):
    answer = Answer(False)
    compiler.around = checking(answer, 0)
    x = ones(2)
    with torch.pipeline():
        line = inspect.currentframe().f_lineno + 1
        y = x * 2
        z = y + 1
        other = x + 1
    compiler.around = lambda run, inputs, numbers: run(inputs, numbers)
    with pytest.raises(torch.PipelineError, match=r"aten::mul failed .*out of range") as raised:
        if use == "read":
            z.tolist()
        elif use == "op":
            z + 1
        elif use == "write":
            z.add_(1)
        else:
            with torch.pipeline():
                z + 1
    assert raised.value.location == f"{__file__}:{line}"
    assert isinstance(raised.value.__cause__, IndexError)
    with pytest.raises(torch.PipelineError):
        y.tolist()
    assert other.tolist() == [2.0, 2.0]


def test_a_check_of_a_write(compiler):
    compiler.around = checking(Answer(False), 0)
    x = ones(2)
    with torch.pipeline():
        x.mul_(2)
    with pytest.raises(torch.PipelineError, match=r"aten::mul_ failed .*out of range"):
        x.tolist()


def test_two_checks_of_one_value(compiler):
    first, second = Answer(True), Answer(False)

    def around(run, inputs, numbers):
        found = run(inputs, numbers)
        wrong = IndexError("second"), IndexError("first")
        return Checked(found, [Check(0, first, wrong[1]), Check(1, second, wrong[0])])

    compiler.around = around
    x = ones(2)
    with torch.pipeline():
        y = x * 2
        z = y + 1
    with pytest.raises(torch.PipelineError, match=r"aten::add failed .*second"):
        z.tolist()
    assert [first.asked, second.asked] == [1, 1]
    assert y.tolist() == [2.0, 2.0]


# ---- blocks that come again ---------------------------------------------------------------------


def again(times, block):
    """Run a block at one place, the last time as what is replayed."""
    for _ in range(times):
        pipe = block()
    assert pipe.stats()["replayed"] == pipe.stats()["recorded"]


def halting_at(position, cause, kept, **under_way):
    """Computes what comes before an instruction, and stops there."""

    def around(run, inputs, numbers):
        raise Halted(position, kept(inputs), cause, **under_way)

    return around


@pytest.mark.parametrize("times", [1, 5], ids=["at once", "replayed"])
def test_what_was_made_before_a_failure_is_kept(compiler, times):
    x, found = ones(2), {}

    def block():
        with torch.pipeline():
            found["a"] = x * 2
            found["b"] = x + 1
            found["c"] = found["b"] * 3
            found["d"] = x * 5

    for _ in range(times - 1):
        block()
    compiler.around = halting_at(1, ValueError("no luck"), lambda inputs: {1: inputs[0] * 100})
    with pytest.raises(torch.PipelineError, match=r"aten::add failed .*no luck"):
        block()
    assert found["a"].tolist() == [100.0, 100.0]  # what the executable had made
    assert found["d"].tolist() == [5.0, 5.0]
    for name in "bc":
        with pytest.raises(torch.PipelineError, match=r"aten::add failed"):
            found[name].tolist()


@pytest.mark.parametrize("times", [1, 5], ids=["at once", "replayed"])
def test_an_interrupt_in_the_middle(compiler, times):
    x, found = ones(2), {}

    def block():
        with torch.pipeline():
            found["a"] = x * 2
            found["b"] = x + 1

    for _ in range(times - 1):
        block()
    compiler.around = halting_at(1, KeyboardInterrupt(), lambda inputs: {1: inputs[0] * 100})
    with pytest.raises(KeyboardInterrupt):
        block()
    compiler.around = lambda run, inputs, numbers: run(inputs, numbers)
    assert found["a"].tolist() == [100.0, 100.0]
    assert found["b"].tolist() == [2.0, 2.0]  # it only computes, so it runs now


@pytest.mark.parametrize("cause", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("times", [1, 5], ids=["at once", "replayed"])
def test_what_was_under_way_together_may_all_have_written(compiler, times, cause):
    x, first, second, third, found = ones(2), ones(2), ones(2), ones(2), {}

    def block():
        with torch.pipeline():
            found["a"] = x * 3
            first.copy_(x)
            second.copy_(x)
            third.copy_(found["a"])

    for _ in range(times - 1):
        block()
    error = cause("no luck")  # of this test: its traceback holds what has failed
    compiler.around = halting_at(1, error, lambda inputs: {1: inputs[0] * 100}, under_way=2)
    with pytest.raises((KeyboardInterrupt, torch.PipelineError)):
        block()
    compiler.around = lambda run, inputs, numbers: run(inputs, numbers)
    assert found["a"].tolist() == third.tolist() == [100.0, 100.0]  # it was not begun, and runs now
    for t in (first, second):
        with pytest.raises(torch.PipelineError, match=r"KeyboardInterrupt|no luck"):
            t.tolist()


@pytest.mark.parametrize("times", [1, 5], ids=["at once", "replayed"])
def test_an_instruction_that_fails_is_named_each_time(compiler, times):
    x, w, found = ones(2), ones(2), {}

    def block(writes):
        with torch.pipeline():
            found["a"] = x + 1
            found["b"] = x * 2
            if writes:
                w.mul_(2)

    for writes in (False, True):
        compiler.around = lambda run, inputs, numbers: run(inputs, numbers)
        for _ in range(times - 1):
            block(writes)
        compiler.around = failing_at(1)
        with pytest.raises(
            torch.PipelineError, match=r"aten::mul failed .*ValueError: no luck"
        ) as raised:
            block(writes)
        assert raised.value.location.startswith(__file__)
        with pytest.raises(torch.PipelineError, match="no luck"):
            found["b"].tolist()
        if writes:  # what the program has written, nobody knows
            for t in (found["a"], w):
                with pytest.raises(torch.PipelineError, match="no luck"):
                    t.tolist()
        else:
            assert found["a"].tolist() == [2.0, 2.0]


def test_checks_of_a_replay_are_answered_later(compiler):
    x, found = ones(2), {}

    def block():
        with torch.pipeline() as pipe:
            found["y"] = x * 2
            found["z"] = x + 1
        return pipe

    again(5, block)
    passing, failing = Answer(True), Answer(False)
    compiler.around = checking(passing, 0)
    again(1, block)
    assert not passing.asked
    assert found["y"].tolist() == [2.0, 2.0]
    assert passing.asked == 1
    compiler.around = checking(failing, 0)
    again(1, block)
    assert not failing.asked
    assert found["z"].tolist() == [2.0, 2.0]
    with pytest.raises(torch.PipelineError, match=r"aten::mul failed .*out of range"):
        found["y"] + 1


def test_payloads_stand_for_tensors(monkeypatch):
    """On the CPU as if it compiled blocks at once: its executables give arrays."""
    runtime = type(row_of("cpu").runtime)
    monkeypatch.setattr(runtime, "compiles_at_once", True)
    monkeypatch.setattr(runtime, "planned_from", 0)
    registry.forget_computed()
    try:
        x = torch.arange(6.0).reshape(2, 3)
        with torch.pipeline() as pipe:
            y = (x * 2).t()
            z = y + y
        assert pipe.stats()["fused_ops"] == 3
        assert z.tolist() == (x.t() * 4).tolist()
        assert y.stride() == (1, 3)
        assert (y + 0).tolist() == (x.t() * 2).tolist()  # a view has its payload too
    finally:
        registry.forget_computed()


@pytest.mark.parametrize("times", [1, 4], ids=["at once", "replayed"])
def test_checks_may_come_one_after_the_other(compiler, times):
    error = IndexError("out of range")

    def around(run, inputs, numbers):
        return Checked(run(inputs, numbers), (c for c in [Check(0, lambda: False, error)]))

    compiler.around = around
    x = ones(2)
    for _ in range(times):
        with torch.pipeline():
            y = x + 1
    with pytest.raises(torch.PipelineError, match=r"aten::add failed .* IndexError: out of range"):
        y.tolist()


@pytest.mark.parametrize("times", [1, 4], ids=["at once", "replayed"])
def test_a_check_without_an_answer_says_op_and_line(compiler, times):
    def lost():
        raise OSError("the device is gone")

    compiler.around = checking(lost, 0)
    x = ones(2)
    for _ in range(times):
        with torch.pipeline():
            y = x + 1
            line = inspect.currentframe().f_lineno - 1
            z = x * 2
    for _ in range(2):
        with pytest.raises(torch.PipelineError, match=r"check of aten::add .* device is gone") as e:
            y.tolist()
        assert (e.value.op, e.value.location) == ("aten::add", f"{__file__}:{line}")
        assert isinstance(e.value.__cause__, OSError)
    assert z.tolist() == [2, 2]
