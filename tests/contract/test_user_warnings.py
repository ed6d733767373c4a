"""Warnings name the line that called mindtorch, from wherever in it they come."""

import inspect
import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core.func import vmap
from mindtorch_core.utils.checkpoint import checkpoint

CALLS = {
    "an op of old": lambda: torch.range(0, 3),
    "a checkpoint of constants": lambda: checkpoint(torch.sin, torch.ones(2), use_reentrant=True),
    "a variant that is not named": lambda: checkpoint(torch.sin, torch.ones(2, requires_grad=True)),
    "a loop over samples": lambda: vmap(lambda x: torch.histc(x, 2, 0, 1))(torch.ones(2, 3)),
    "words of old": lambda: torch.nn.functional.mse_loss(torch.ones(2), torch.ones(2), reduce=True),
}


@pytest.mark.parametrize("call", CALLS)
def test_where_they_point(call):
    lines, first = inspect.getsourcelines(CALLS[call])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CALLS[call]()
    assert {w.filename for w in caught} == {__file__}
    assert all(first <= w.lineno < first + len(lines) for w in caught)


def test_from_code_without_a_module():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        eval("range(0, 3)", {"range": torch.range})
    assert [w.filename for w in caught] == ["<string>"]


def test_once_a_line_unless_asked_for_more():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            torch.range(0, 3)
    assert len(caught) == 1
