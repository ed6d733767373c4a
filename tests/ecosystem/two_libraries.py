"""A program with both libraries: what it gives, or raises, in the same words."""

import importlib
import re

import pytest

import mindtorch_core as mt
from mindtorch_core.testing.comparison import outcome

pt = pytest.importorskip("torch")

_OWN = re.compile(r"mindtorch_core\.ecosystem\b|mindtorch_core|mindtorch_nn\.modules|mindtorch")
_ADDRESS = re.compile(r"0x[0-9a-f]+")


def part(lib, path):
    """A module of a library, which is imported."""
    return importlib.import_module(f"{lib.__name__}.{path}")


def said(error):
    """An error's type and words."""
    text = _ADDRESS.sub("0x", _OWN.sub("torch", str(error)))
    return type(error).__name__, " ".join(text.split())


def told(program, lib):
    """What a program gives; the type and the words of an error."""
    found = outcome(program, lib)
    return said(found) if isinstance(found, Exception) else found


def agree(program):
    """A program gives the same with both libraries; returns what."""
    ours, theirs = told(program, mt), told(program, pt)
    assert ours == theirs
    return ours


def table(programs):
    """Parametrizes a test by a table of programs."""
    return pytest.mark.parametrize("program", programs.values(), ids=programs)


def numbers(value):
    """Tensors in a result as lists."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {key: numbers(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(numbers, value)]
    return value


def traced(lib, function, **options):
    return lib.fx.symbolic_trace(function, **options)
