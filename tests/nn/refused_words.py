"""What a library says of a program that it refuses."""

import re
import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome


def told(lib, program, names):
    """The type of error that a program raises, and its words without the library's name.

    ``names(lib)`` are what it may name.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # else they are the errors
        error = outcome(eval, program, names(lib))
    assert isinstance(error, Exception), f"{program} is not refused by {lib.__name__}"
    return type(error).__name__, re.sub(
        "mindtorch_(core|nn[.])", lambda m: "torch" + ".nn." * (m[1] != "core"), str(error)
    )


def words_are(programs, own, names):
    """A test of programs that are refused: as PyTorch does, or with its type and words of our own.

    Args:
        programs: lines of those that PyTorch's words are said of.
        own: by program, our words.
        names: see `told`.
    """
    pt = pytest.importorskip("torch")
    cases = [(line.strip(), None) for line in programs.strip().splitlines()] + [*own.items()]

    @pytest.mark.parametrize(("program", "words"), cases, ids=[program for program, _ in cases])
    def test(program, words):
        kind, text = told(pt, program, names)
        assert told(torch, program, names) == (kind, text if words is None else words)

    return test
