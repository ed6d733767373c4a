"""`torch.pipeline.capture` and lists that a function adds to: logs are no state, what it reads of them is."""

from collections import deque
from types import SimpleNamespace

import pytest

import mindtorch_core as torch


def closures(held):
    """Functions that read a list which is a variable around them."""

    def last(x):
        held.append(held[-1] + x)
        return held[-1] * 1

    def length(x):
        held.append(x.sum())
        return x * len(held)

    def total(x):
        held.append(x.sum())
        return x * sum(held)

    def truth(x):
        result = x * 2 if held[2:] else x
        held.append(x)
        return result

    return last, length, total, truth


def attributes(held):
    """The same of an attribute."""
    notes = SimpleNamespace(held=held)

    def last(x):
        notes.held.append(notes.held[-1] + x)
        return notes.held[-1] * 1

    def length(x):
        notes.held.append(x.sum())
        return x * len(notes.held)

    return last, length


def given(i):
    return torch.ones(2) + i


CASES = [(make, n) for make, count in ((closures, 4), (attributes, 2)) for n in range(count)]


@pytest.mark.parametrize(("make", "n"), CASES, ids=lambda v: getattr(v, "__name__", v))
def test_what_is_read_of_a_list_that_grows_is_no_log(make, n):
    step, plain = (make([torch.zeros(2)])[n] for _ in range(2))
    captured, refused = torch.pipeline.capture(step), 0
    for i in range(5):
        wanted = plain(given(i)).tolist()
        try:
            found = captured(given(i))
        except torch.CaptureError as error:
            found, refused = error.result, refused + ("else in each call" in str(error))
        assert found.tolist() == wanted
    assert refused == 2


def test_what_is_read_of_a_deque():
    held = deque([torch.zeros(2)], maxlen=2)

    def step(x):
        held.append(held[-1] + x)
        return held[-1] * 1

    captured = torch.pipeline.capture(step)
    assert captured(given(0)).tolist() == [1, 1]
    with pytest.raises(torch.CaptureError) as caught:
        captured(given(1))
    assert caught.value.result.tolist() == [3, 3]


@pytest.mark.parametrize("where", ["a variable", "an attribute"])
def test_logs_are_no_state(where):
    losses = []
    notes = SimpleNamespace(losses=losses)

    def of_a_variable(x):
        losses.append(x.sum())
        return x * 2

    def of_an_attribute(x):
        notes.losses.append(x.sum())
        return x * 2

    captured = torch.pipeline.capture(of_a_variable if where == "a variable" else of_an_attribute)
    for i in range(4):
        assert captured(given(i)).tolist() == [2 * (i + 1)] * 2
    assert len(losses) == 1
