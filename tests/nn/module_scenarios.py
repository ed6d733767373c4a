"""Running a scenario with both libraries: each gives plain values, which are compared."""

import math
import warnings

import torch as oracle

import mindtorch_core as torch


def attempt(call):
    """The type and text of the error that a call raises, or what it returns."""
    try:
        return "returned", call()
    except Exception as error:  # noqa: BLE001  (whatever PyTorch raises)
        return type(error).__name__, str(error.args[0]) if error.args else ""


def warned(call):
    """The types and texts of what a call warns of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call()
    return [(each.category.__name__, str(each.message)) for each in told]


def values(t, *shape, scale=1.0):
    """Numbers that are not random."""
    return (t.linspace(-1, 1, math.prod(shape)).sin() * scale).reshape(shape)


def fill(t, model):
    """Parameters that do not depend on random numbers; returns the model."""
    for i, p in enumerate(model.parameters()):
        with t.no_grad():
            p.copy_(values(t, *p.shape, scale=(i + 2) / 5))
    return model


def numbers(x):
    """A tensor's elements."""
    return None if x is None else [float(v) for v in x.detach().reshape(-1).tolist()]


def assert_same(mine, theirs, at="result"):
    """Equal, but for digits and for the library's name in texts."""
    if isinstance(theirs, float):
        both_nan = mine != mine and theirs != theirs
        assert both_nan or math.isclose(mine, theirs, rel_tol=1e-3, abs_tol=1e-4), at
    elif type(theirs) in (list, tuple):
        assert len(mine) == len(theirs), at
        for i, (a, b) in enumerate(zip(mine, theirs, strict=True)):
            assert_same(a, b, f"{at}[{i}]")
    else:
        assert repr(mine).replace("mindtorch_core.", "torch.") == repr(theirs), at


def play(scenario):
    """Run a scenario with both libraries and compare."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(scenario(torch), scenario(oracle))
