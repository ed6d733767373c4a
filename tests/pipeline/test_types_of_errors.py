"""A `PipelineError` is of the type of its cause as well: ``except`` clauses for the op catch it."""

import copy
import pickle

import pytest

import mindtorch_core as torch

GOOD, BAD = torch.tensor([0, 1]), torch.tensor([0, 7])
# Its type: an op, what it succeeds on, and what it fails on.
FAILING = {
    IndexError: (lambda i: torch.ones(3)[i] + 1, GOOD, BAD),
    torch.linalg.LinAlgError: (torch.linalg.inv, torch.eye(2), torch.zeros(2, 2)),
    RuntimeError: (lambda i: GOOD // i, GOOD + 1, GOOD),
}


def _in_a_block(fn, good, bad):
    with torch.pipeline():
        return fn(bad)


def _through_backward(fn, good, bad):
    with torch.pipeline(through_backward=True):
        return fn(bad)


def _later(fn, good, bad):
    with pytest.raises(torch.PipelineError), torch.pipeline():
        made = fn(bad)
    made + 1


def _recorded(fn, good, bad):
    torch.pipeline.capture(fn)(bad)


def _captured(fn, good, bad):
    step = torch.pipeline.capture(fn)
    step(good)
    step(bad)


@pytest.mark.parametrize("kind", FAILING)
@pytest.mark.parametrize("way", [_in_a_block, _through_backward, _later, _recorded, _captured])
def test_the_type_of_the_op_catches_it(way, kind):
    with pytest.raises(kind):
        FAILING[kind][0](FAILING[kind][2])
    with pytest.raises(kind, match=r"recorded at: .*test_types_of_errors\.py") as raised:
        way(*FAILING[kind])
    assert isinstance(raised.value, torch.PipelineError)
    assert type(raised.value).__name__ == "PipelineError"


class Odd(KeyError):
    """An error that wants two arguments, and shows one of them."""

    def __init__(self, first, second):
        super().__init__(first)


class Proud(Exception):
    """A class that nothing else may be derived from."""

    def __init_subclass__(cls):
        raise TypeError("this is the last one")


@pytest.mark.parametrize(
    ("kind", "args", "caught"),
    [
        (Odd, ("k", 2), True),
        (OSError, (2, "not there"), True),
        (UnicodeDecodeError, ("utf8", b"", 0, 1, "odd"), True),
        (torch.OutOfMemoryError, ("all is used",), True),
        (AttributeError, ("hasattr() would take it for its own",), False),
        (StopIteration, ("the end",), False),
        (Proud, (), False),
    ],
)
def test_errors_of_all_kinds(kind, args, caught):
    cause = kind(*args)  # made here: its traceback holds what has failed

    def fails(x):
        raise cause

    with torch.library._scoped_library("types_of_errors", "FRAGMENT") as lib:
        lib.define("fails(Tensor x) -> Tensor")
        lib.impl("fails", fails, "CPU")
        lib.impl("fails", torch.empty_like, "Meta")
        with (
            pytest.raises(torch.PipelineError, match="fails failed when") as raised,
            torch.pipeline(),
        ):
            made = torch.ops.types_of_errors.fails(torch.ones(2))
        with pytest.raises(torch.PipelineError, match="fails failed when"):
            made.tolist()
    error = raised.value
    assert error.__cause__ is cause
    assert isinstance(error, type(cause)) is caught
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert (str(again), again.op, again.location) == (str(error), error.op, error.location)
