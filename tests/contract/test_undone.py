"""Undoing what a call changed, whatever ends it."""

import pytest

from mindtorch_core.values.interrupts import undone


def test_results_and_errors_pass_and_the_undoing_is_done_once():
    done = []
    assert undone(lambda: done.append(1), lambda a, *, b: a + b, 1, b=2) == 3
    for error in (ValueError("call"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            undone(lambda: done.append(1), _raising(error))
    assert done == [1] * 3


def test_an_interrupt_of_the_undoing_has_it_done_all_the_same():
    done = []

    def undo():
        done.append(1)
        if len(done) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        undone(undo, lambda: None)
    assert done == [1, 1]


def test_an_error_of_the_undoing_is_raised():
    done = []

    def undo():
        done.append(1)
        raise ValueError("undo")

    with pytest.raises(ValueError, match="undo"):
        undone(undo, lambda: None)
    assert done == [1]


def _raising(error):
    def call():
        raise error

    return call
