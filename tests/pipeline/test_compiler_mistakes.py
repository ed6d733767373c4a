"""Executables that do what they must not: the same error whether a block is new or replayed."""

# ruff: noqa: F811 (a fixture)

import inspect
import re
import warnings

import numpy as np
import pytest
from compilers import compiler, ones  # noqa: F401 (a fixture)

import mindtorch_core as torch
from mindtorch_core.backend import PROGRAMS, Check, Checked, Halted, StepFailed
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.values.devices import row_of

BACKEND = r"the plan of toy \(mindtorch-toy 1\.0\)"
RIGHT = {"a": [2.0, 2.0], "b": [6.0, 6.0], "c": [4.0, 4.0]}
replayed = pytest.mark.parametrize("times", [1, 5], ids=["at once", "replayed"])


class Block:
    """Runs a block at one place, the last time with an executable that is wrong."""

    def __init__(self, compiler, times):
        self.compiler, self.times = compiler, times
        self.found, self.said, self.error = {}, [], None
        self.x, self.x2 = ones(2), torch.full((2,), 2.0, device="toy")

    def once(self):
        with torch.pipeline() as pipe:
            self.found["a"] = self.x + 1
            self.found["b"] = self.x2 * 3
            self.found["c"] = self.found["a"] * 2
        return pipe

    @property
    def line(self):
        return inspect.getsourcelines(self.once)[1] + 2

    def run(self, around):
        right = self.compiler.around
        for _ in range(self.times - 1):
            pipe = self.once()
        assert self.times == 1 or pipe.stats()["replayed"] == 3
        self.compiler.around = around
        calls = len(self.compiler.calls)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                self.once()
            except torch.PipelineError as error:
                self.error = error
        self.said = [str(w.message) for w in said]
        assert len(self.compiler.calls) == calls + 1
        self.compiler.around = right

    def values(self):
        return {name: self.look(t) for name, t in self.found.items()}

    def look(self, t):
        try:
            return t.tolist()
        except torch.PipelineError as error:
            return error.op

    def check_afterwards(self):
        """The place is none the worse for it."""
        for _ in range(3):
            self.once()
            assert self.values() == RIGHT


def instead(first):
    """Gives something else for the first output."""

    def around(run, inputs, numbers):
        made = run(inputs, numbers)
        return [first(made[0]), *made[1:]]

    return around


def raising(make):
    def around(run, inputs, numbers):
        raise make()

    return around


def checked(make):
    return lambda run, inputs, numbers: Checked(run(inputs, numbers), make())


WRONG_OUTPUTS = {
    "shape": (lambda t: ones(7), r"gave \[7\] torch\.float32 where"),
    "dtype": (lambda t: t.double(), r"gave \[2\] torch\.float64 where"),
    "device": (lambda t: t.cpu(), "gave a tensor on cpu where one on toy"),
    "nothing": (lambda t: None, "left out a result that somebody can see"),
    "a text": (lambda t: "abc", "gave 'abc' where"),
    "an array": (lambda t: np.ones(2, np.float32), r"gave ndarray of shape \[2\], float32 where"),
}


@pytest.mark.parametrize("mistake", WRONG_OUTPUTS)
@replayed
def test_a_wrong_output_fails_alone(compiler, times, mistake):
    first, text = WRONG_OUTPUTS[mistake]
    block = Block(compiler, times)
    block.run(instead(first))
    assert (block.error.op, block.error.location) == ("aten::add", f"{__file__}:{block.line}")
    with pytest.raises(torch.PipelineError, match=f"{BACKEND} .*{text}"):
        raise block.error
    assert block.values() == RIGHT | {"a": "aten::add"}
    assert not block.said
    block.check_afterwards()


V = ValueError("v")
NAMES = "IndexError: its executable names instruction"
# What an executable does, and what the warning says of it.
WITHOUT_LOSS = {
    "too many outputs": (
        lambda run, i, n: [*run(i, n), i[0]], "RuntimeError: its executable gave {0} results for {1} outputs"
    ),
    "too few outputs": (
        lambda run, i, n: run(i, n)[1:], "RuntimeError: its executable gave {2} results for {1} outputs"
    ),
    "no outputs": (lambda run, i, n: None, "TypeError: its executable gave None for {1} outputs"),
    "another error": (raising(lambda: ValueError("v")), "ValueError: v"),
    "a failure beyond": (
        raising(lambda: StepFailed(99, V)), NAMES + " 99 of {1}, which are counted from 0"
    ),
    "a failure before": (
        raising(lambda: StepFailed(-1, V)), NAMES + " -1 of {1}, which are counted from 0"
    ),
    "a failure nowhere": (
        raising(lambda: StepFailed("a", V)), NAMES + " 'a' of {1}, which are counted from 0"
    ),
    "a failure without a cause": (
        raising(lambda: StepFailed(0, None)), "TypeError: the cause of a StepFailed is an exception, not None"
    ),
    "a stop beyond": (raising(lambda: Halted(99, {}, V)), NAMES + " 99 of {1}, which are counted from 0"),
    "a stop without a cause": (
        raising(lambda: Halted(0, {}, None)), "TypeError: the cause of a Halted is an exception, not None"
    ),
    "one more under way than there are": (
        raising(lambda: Halted(1, {}, V, 3)),
        "IndexError: its executable has 3 instructions under way from 1 on, of {1}",
    ),
    "nothing under way": (
        raising(lambda: Halted(0, {}, V, 0)),
        "IndexError: its executable has 0 instructions under way from 0 on, of {1}",
    ),
    "a stop that made no dict": (
        raising(lambda: Halted(1, None, V)),
        "TypeError: what its executable has made is None, where a dict is expected",
    ),
    "a check beyond": (
        checked(lambda: [Check(99, lambda: True, IndexError())]), NAMES + " 99 of {1}, which are counted from 0"
    ),
    "a check without an error": (
        checked(lambda: [Check(0, all, None)]),
        "TypeError: its executable gave Check(instruction=0, passed=<built-in function all>, error=None) for a "
        "Check with an error",
    ),
    "no check": (checked(lambda: [5]), "TypeError: its executable gave 5 for a Check with an error"),
}  # fmt: skip


def without_loss(mistake, count):
    """What a mistake does, and what is said of it where the program has so many instructions and outputs."""
    around, text = WITHOUT_LOSS[mistake]
    told = text if "Check(" in text else text.format(count + 1, count, count - 1)
    return (
        around,
        f"the plan of toy (mindtorch-toy 1.0) failed, so its ops were launched one by one: {told}",
    )


@pytest.mark.parametrize("mistake", WITHOUT_LOSS)
@replayed
def test_other_mistakes_cost_a_warning(compiler, times, mistake):
    block = Block(compiler, times)
    around, said = without_loss(mistake, 3)
    block.run(around)
    assert block.values() == RIGHT
    assert block.error is None
    assert block.said == [said]
    block.check_afterwards()


@replayed
def test_outputs_may_come_one_after_the_other(compiler, times):
    block = Block(compiler, times)
    block.run(lambda run, inputs, numbers: iter(run(inputs, numbers)))
    assert block.values() == RIGHT
    assert not block.said


@replayed
def test_a_stop_that_leaves_out_what_was_made(compiler, times):
    block = Block(compiler, times)
    block.run(raising(lambda: Halted(1, {}, ValueError("v"))))
    assert block.error.op == "aten::mul"
    assert block.values() == {"a": "aten::add", "b": "aten::mul", "c": "aten::mul"}
    with pytest.raises(torch.PipelineError, match=f"{BACKEND} left out a result"):
        block.found["a"].tolist()


@replayed
def test_a_stop_with_a_wrong_value(compiler, times):
    block = Block(compiler, times)
    made = {}

    def around(run, inputs, numbers):
        made[compiler.programs[-1].outputs[0]] = ones(7)
        raise Halted(1, made, ValueError("v"))

    block.run(around)
    assert block.values() == {"a": "aten::add", "b": "aten::mul", "c": "aten::add"}
    with pytest.raises(torch.PipelineError, match=rf"{BACKEND} gave \[7\]"):
        block.found["a"].tolist()


@replayed
def test_an_interrupt_is_one_also_where_the_stop_is_nowhere(compiler, times):
    block = Block(compiler, times)
    with pytest.raises(KeyboardInterrupt):
        block.run(raising(lambda: Halted(99, {}, KeyboardInterrupt())))
    block.compiler.around = lambda run, inputs, numbers: run(inputs, numbers)
    assert block.values() == RIGHT


@replayed
def test_a_mistake_where_something_is_written(compiler, times):
    """Nobody knows whether it was, so nothing of the block has a value."""
    x, w, found = ones(2), ones(2), {}

    def block():
        with torch.pipeline():
            found["a"] = x + 1
            w.mul_(1)

    for _ in range(times - 1):
        block()
    compiler.around = raising(lambda: StepFailed(99, ValueError("v")))
    with pytest.raises(torch.PipelineError, match="names instruction 99 of"):
        block()
    for t in (found["a"], w):
        with pytest.raises(torch.PipelineError, match="names instruction 99 of"):
            t.tolist()


def test_a_block_goes_on_after_a_part_that_failed(compiler):
    """What comes after a flush in its middle is found again, whether that failed or not."""
    x, found = ones(2), {}

    def block():
        with torch.pipeline() as pipe:
            found["a"] = x + 1
            try:
                pipe.flush()
            except torch.PipelineError:
                found["failed"] = True
            found["b"] = x * 3
        return pipe

    for _ in range(5):
        assert block().stats()["recorded"] == 2
    calls = []

    def around(run, inputs, numbers):
        calls.append(1)
        return [t.double() if len(calls) == 1 else t for t in run(inputs, numbers)]

    compiler.around = around
    assert block().stats()["replayed"] >= 1
    assert found["failed"]
    assert found["b"].tolist() == [3.0, 3.0]
    assert block().stats()["replayed"] == 2
    assert found["a"].tolist() == [2.0, 2.0]


# ---- memory of something else -------------------------------------------------------------------


SHARING = {
    "an input": lambda made, inputs: [inputs[0], *made[1:]],
    "a view of an input": lambda made, inputs: [inputs[0].view(2), *made[1:]],
    "a view that begins later": lambda made, inputs: [
        inputs[0].as_strided((2,), (0,), 1), *made[1:]
    ],
}  # fmt: skip


@pytest.mark.parametrize("mistake", SHARING)
@replayed
def test_an_output_that_shows_an_input_fails(compiler, times, mistake):
    block = Block(compiler, times)
    block.run(lambda run, inputs, numbers: SHARING[mistake](run(inputs, numbers), inputs))
    with pytest.raises(torch.PipelineError, match=f"{BACKEND} gave memory of an operand"):
        raise block.error
    assert block.values() == RIGHT | {"a": "aten::add"}
    block.check_afterwards()


@replayed
def test_one_tensor_for_two_outputs_fails(compiler, times):
    block = Block(compiler, times)

    def around(run, inputs, numbers):
        made = run(inputs, numbers)
        return [made[0], made[1], made[1]]

    block.run(around)
    with pytest.raises(torch.PipelineError, match=f"{BACKEND} gave memory of another result"):
        raise block.error
    assert block.values() == RIGHT | {"c": "aten::mul"}
    block.check_afterwards()


@replayed
def test_parts_of_one_memory_are_apart(compiler, times):
    """Where no write to one can reach another."""
    block = Block(compiler, times)

    def around(run, inputs, numbers):
        made, memory = run(inputs, numbers), torch.empty(6, device="toy")
        parts = [memory[i : i + 2] for i in (0, 2, 4)]
        return [part.copy_(t) for part, t in zip(parts, made, strict=True)]

    block.run(around)
    assert block.error is None
    assert block.values() == RIGHT
    for t in block.found.values():
        t.add_(1)
    assert block.values() == {n: [v + 1 for v in values] for n, values in RIGHT.items()}


@replayed
def test_an_output_in_other_strides_is_copied(compiler, times):
    x, found = ones(2, 3), {}

    def block():
        with torch.pipeline():
            found["a"] = x * 2

    for _ in range(times - 1):
        block()
    compiler.around = lambda run, i, n: [t.t().contiguous().t() for t in run(i, n)]
    block()
    assert found["a"].stride() == (3, 1)
    assert found["a"].tolist() == [[2.0] * 3] * 2


def test_memory_that_was_donated_may_be_that_of_outputs(compiler, toy, monkeypatch):
    monkeypatch.setattr(toy.ToyRuntime, "donates", True)
    compiler.around = lambda run, inputs, numbers: [inputs[0].mul_(2)]
    x = ones(2) * 1
    with torch.pipeline():
        y = x * 2
        del x
    assert y.tolist() == [2.0, 2.0]


def test_who_is_trusted_is_not_looked_at(compiler, toy, monkeypatch):
    def trusting(runtime, program):
        made = compiler(runtime, program)
        made.trusted = True
        return made

    block = Block(compiler, 1)
    block.x.fill_(2)
    monkeypatch.setattr(toy.ToyRuntime, "compile", trusting)
    block.run(lambda run, inputs, numbers: [inputs[0], *run(inputs, numbers)[1:]])
    assert block.error is None
    assert block.values()["a"] == [2.0, 2.0]


# ---- payloads -----------------------------------------------------------------------------------


WRONG_PAYLOADS = {
    "right": (lambda a: a.copy(), None),
    "shape": (lambda a: np.ones(7, np.float32), r"gave ndarray of shape \[7\], float32 where"),
    "dtype": (lambda a: np.ones(3), r"gave ndarray of shape \[3\], float64 where"),
    "a number": (lambda a: 3, "gave 3 where"),
    "nothing": (lambda a: None, "left out a result"),
}


@pytest.mark.parametrize("mistake", WRONG_PAYLOADS)
@replayed
def test_payloads_are_looked_at(monkeypatch, times, mistake):
    """On the CPU, with a compiler that gives arrays and says nothing of itself."""
    change, text = WRONG_PAYLOADS[mistake]
    runtime, wrong = type(row_of("cpu").runtime), []

    def compile(self, program):
        def run(inputs, numbers):
            (x,) = (t.raw_data for t in inputs)
            return [change(x + 1) if wrong else x + 1, x * numbers[1]]

        return run

    monkeypatch.setattr(runtime, "compile", compile)
    monkeypatch.setattr(runtime, "compiles_at_once", True)
    monkeypatch.setattr(runtime, "planned_from", 0)
    PROGRAMS.forget("cpu")
    registry.forget_computed()
    x, found = torch.ones(3), {}

    def block():
        with torch.pipeline():
            found["a"] = x + 1
            found["b"] = x * 3

    try:
        for _ in range(times - 1):
            block()
        wrong.append(True)
        if text is None:
            block()
            assert found["a"].tolist() == [2.0, 2.0, 2.0]
        else:
            with pytest.raises(torch.PipelineError, match=f"aten::add failed .*{text}"):
                block()
            with pytest.raises(torch.PipelineError, match=text):
                found["a"].tolist()
        assert found["b"].tolist() == [3.0, 3.0, 3.0]
    finally:
        registry.forget_computed()
        PROGRAMS.forget("cpu")


# ---- captured functions -----------------------------------------------------------------------------


class Captured:
    """A captured function whose executable is wrong in the second call."""

    def __init__(self, compiler, fn=lambda x, y: (x + 1, y * 3)):
        self.compiler, self.fn = compiler, torch.pipeline.capture(fn)
        self.x = ones(2), torch.full((2,), 2.0, device="toy")
        assert [t.tolist() for t in self.fn(*self.x)] == [[2.0, 2.0], [6.0, 6.0]]

    def again(self, around=lambda run, inputs, numbers: run(inputs, numbers)):
        self.compiler.around = around
        return [t.tolist() for t in self.fn(*self.x)]


@pytest.mark.parametrize("mistake", {k: v for k, v in WRONG_OUTPUTS.items() if k != "nothing"})
def test_a_wrong_output_of_a_captured_function(compiler, mistake):
    wrong, said = WRONG_OUTPUTS[mistake]
    f = Captured(compiler)
    with pytest.raises(torch.PipelineError, match=said) as caught:
        f.again(instead(wrong))
    assert caught.value.op == "aten::add"
    assert f.again() == [[2.0, 2.0], [6.0, 6.0]]


@pytest.mark.parametrize("mistake", WITHOUT_LOSS)
def test_other_mistakes_in_a_captured_function(compiler, mistake):
    f = Captured(compiler)
    around, said = without_loss(mistake, 2)
    with pytest.warns(RuntimeWarning, match=f"{re.escape(said)}$"):
        assert f.again(around) == [[2.0, 2.0], [6.0, 6.0]]


@pytest.mark.parametrize("mistake", SHARING)
def test_an_output_of_a_captured_function_that_shows_an_input(compiler, mistake):
    f = Captured(compiler)
    around = lambda run, inputs, numbers: SHARING[mistake](run(inputs, numbers), inputs)  # noqa: E731
    with pytest.raises(torch.PipelineError, match="gave memory of an operand"):
        f.again(around)


def test_mistakes_in_a_captured_function_that_writes(compiler):
    def fn(x, y):
        x.add_(1)
        return x * 1, y * 3

    f = Captured(compiler, fn)
    with pytest.raises(
        RuntimeError, match=f"{BACKEND} failed in a step that writes: ValueError: v"
    ):
        f.again(raising(lambda: ValueError("v")))


def test_an_output_of_a_captured_function_in_other_strides(compiler):
    f = torch.pipeline.capture(lambda x: x * 2)
    x = torch.arange(6.0).reshape(2, 3).to("toy")
    for turned in (False, True):
        if turned:
            compiler.around = lambda run, i, n: [t.t().contiguous().t() for t in run(i, n)]
        assert f(x).tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]
