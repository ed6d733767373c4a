"""Lists of tensors that hold something else: the error names its place, as PyTorch's does."""

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome
from mindtorch_core.testing.facts import missing

pt = pytest.importorskip("torch")

CALLS = {
    "cat": lambda lib, given: lib.cat(given),
    "cat of columns": lambda lib, given: lib.cat(given, 1),
    "stack": lambda lib, given: lib.stack(given),
    "hstack": lambda lib, given: lib.hstack(given),
    "vstack": lambda lib, given: lib.vstack(given),
    "chain of products": lambda lib, given: lib.linalg.multi_dot(given),
    "column_stack": lambda lib, given: lib.column_stack(given),
    "by keyword": lambda lib, given: lib.cat(tensors=given),
    "foreach": lambda lib, given: lib._foreach_neg(given),
}
WRONG = {"a number": 3, "a text": "x", "none": None, "a list": [1.0], "an object": object}


@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("call", CALLS)
def test_the_place_is_named(call, wrong, at):
    def played(lib):
        given = [lib.ones(2, 2) for _ in range(3)]
        given[at] = WRONG[wrong]
        return CALLS[call](lib, given)

    found, expected = outcome(played, torch), outcome(played, pt)
    assert isinstance(expected, TypeError)
    assert isinstance(found, TypeError)
    assert not missing(str(found), str(expected))
