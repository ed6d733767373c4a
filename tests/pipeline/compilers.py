"""A compiler for the toy device, which computes programs op by op."""

import pytest

import mindtorch_core as torch
from mindtorch_core.backend import PROGRAMS, Check, Checked, Number, Ref, StepFailed

__all__ = ["Answer", "Compiler", "checking", "compiler", "failing_at", "ones"]


class Compiler:
    """Computes programs op by op, and remembers what it was given."""

    def __init__(self):
        self.programs, self.calls = [], []
        self.around = lambda run, inputs, numbers: run(inputs, numbers)

    def __call__(self, runtime, program):
        self.programs.append(program)

        def run(inputs, numbers):
            made = dict(zip(program.inputs, inputs, strict=True))

            def given(v):
                if isinstance(v, Ref):
                    return made[v]
                if isinstance(v, Number):
                    return numbers[v]
                return type(v)(map(given, v)) if isinstance(v, list | tuple) else v

            for i in program.instructions:
                kwargs = {k: given(v) for k, v in i.kwargs.items()}
                results = i.op.impl(*map(given, i.args), **kwargs)
                results = results if isinstance(results, tuple) else (results,)
                made.update(zip(i.outs, results, strict=True))
            return [made[n] for n in program.outputs]

        def executable(inputs, numbers):
            self.calls.append((inputs, numbers))
            return self.around(run, inputs, numbers)

        return executable


@pytest.fixture
def compiler(toy, monkeypatch):
    made = Compiler()
    monkeypatch.setattr(toy.ToyRuntime, "compile", lambda self, p: made(self, p), raising=False)
    PROGRAMS.forget("toy")
    return made


def ones(*shape, **options):
    return torch.ones(*shape, device="toy", **options)


def names(program):
    return [i.name.removeprefix("aten::") for i in program.instructions]


def failing_at(position):
    def around(run, inputs, numbers):
        raise StepFailed(position, ValueError("no luck"))

    return around


class Answer:
    """What a device says later of a check on data."""

    def __init__(self, passed):
        self.passed, self.asked = passed, 0

    def __call__(self):
        self.asked += 1
        return self.passed


def checking(answer, position):
    def around(run, inputs, numbers):
        return Checked(run(inputs, numbers), [Check(position, answer, IndexError("out of range"))])

    return around
