"""True is no position: a backend that says it of an instruction means something else than the second."""

# ruff: noqa: F811 (a fixture)

import pytest
from compilers import compiler, ones  # noqa: F401 (a fixture)

import mindtorch_core as torch
from mindtorch_core.backend import PROGRAMS, Check, Checked, Halted, Step, StepFailed, Unsent

NO_LUCK = ValueError("no luck")


def raising(make):
    def around(run, inputs, numbers):
        raise make()

    return around


MISTAKES = {
    "a failure": (
        raising(lambda: StepFailed(True, NO_LUCK)),
        "IndexError: its executable names instruction True of 2, which are counted from 0",
    ),
    "a stop": (
        raising(lambda: Halted(False, {}, NO_LUCK)),
        "IndexError: its executable names instruction False of 2, which are counted from 0",
    ),
    "a count under way": (
        raising(lambda: Halted(0, {}, NO_LUCK, True)),
        "TypeError: True is no whole number",
    ),
    "a check": (
        lambda run, i, n: Checked(run(i, n), [Check(True, lambda: True, IndexError())]),
        "IndexError: its executable names instruction True of 2, which are counted from 0",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_of_programs(compiler, mistake):
    compiler.around, told = MISTAKES[mistake]
    x = ones(2)
    said = f"ops were launched one by one: {told}$"
    with pytest.warns(RuntimeWarning, match=said), torch.pipeline():
        a, b = x + 1, x * 3
    assert (a.tolist(), b.tolist()) == ([2, 2], [3, 3])


def test_of_a_step():
    """As where it names an entry that there is none: it is not known which one failed."""
    assert Step((0, 1)).position(True, [None, None]) is None
    assert Step((0, 1)).position(1, [None, None]) == 1


def test_of_what_is_counted():
    with pytest.raises(TypeError, match=r"^True is no whole number$"):
        Unsent(True, NO_LUCK)
    with pytest.raises(TypeError, match=r"^True is no whole number$"):
        PROGRAMS.bound = True
