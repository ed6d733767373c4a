"""Programs of one line that both libraries run, and what is compared of what they give."""

import re
import warnings
from importlib import import_module

import pytest
from refused_words import told

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome


def plain(found):
    """A result as numbers, texts and tuples, and tensors with dtype and shape."""
    if isinstance(found, list | tuple):
        return tuple(plain(each) for each in found)
    if isinstance(found, dict):
        return tuple((plain(key), plain(value)) for key, value in found.items())
    if hasattr(found, "detach"):
        t = found.detach()
        t = t.to_dense() if t.is_sparse else t
        return str(t.dtype).rpartition(".")[2], tuple(t.shape), tuple(t.flatten().tolist())
    if found is None or isinstance(found, bool | int | float | complex):
        return found
    return re.sub(
        "mindtorch_(core|nn[.])", lambda m: "torch" + ".nn." * (m[1] != "core"), str(found)
    )


def same(found, wanted):
    """Check results that `plain` gave: numbers nearly, all else exactly, `True` not as 1."""
    assert type(found) is type(wanted)
    if isinstance(wanted, tuple):
        assert len(found) == len(wanted)
        for ours, theirs in zip(found, wanted, strict=True):
            same(ours, theirs)
    elif isinstance(wanted, float):
        assert found == pytest.approx(wanted, rel=2e-5, abs=1e-6, nan_ok=True)
    else:
        assert found == wanted


def result(program, names):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return plain(eval(program, names))


def results_are(programs, names):
    """A test that programs, a line each, give what they give with PyTorch, or raise its words.

    Args:
        programs: the lines; after ``!`` those that are refused.
        names: what they may name, of a library.
    """
    pt = pytest.importorskip("torch")
    lines = [line.strip() for line in programs.strip().splitlines()]

    @pytest.mark.parametrize("program", lines)
    def test(program):
        if program.startswith("!"):
            program = program[1:].strip()
            assert told(torch, program, names) == told(pt, program, names)
        else:
            same(result(program, names(torch)), result(program, names(pt)))

    return test


def scenarios_are(*scenarios):
    """A test that functions of a library give, say in warnings or raise the same with both.

    Args:
        *scenarios: the functions. What an error or a warning says is compared as a whole.
    """
    pt = pytest.importorskip("torch")

    def done(scenario, lib):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = outcome(scenario, lib)
        told = [type(found).__name__, found] if isinstance(found, Exception) else found
        return plain([told, [(each.category.__name__, each.message) for each in said]])

    @pytest.mark.parametrize("scenario", scenarios, ids=lambda each: each.__name__)
    def test(scenario):
        same(done(scenario, torch), done(scenario, pt))

    return test


def names_of(*packages, **more):
    """A function that gives what programs may name: a library's packages by their last names, and more.

    Args:
        *packages: such as ``"distributions.transforms"``.
        **more: functions of a library.
    """

    def names(lib):
        found = {"torch": lib, "F": lib.nn.functional, "nn": lib.nn}
        for each in packages:
            found[each.rpartition(".")[2]] = import_module(f"{lib.__name__}.{each}")
        return found | {name: make(lib) for name, make in more.items()}

    return names
