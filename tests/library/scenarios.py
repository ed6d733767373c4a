"""Scenarios: written once, run with PyTorch and with mindtorch, and compared.

Ops with overloads have names of their own: PyTorch crashes where such an op is taken back and
another one of its name is defined.
"""

import functools
import inspect
import warnings

import numpy as np
import pytest

import mindtorch_core
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.testing.comparison import assert_close, outcome
from mindtorch_core.testing.facts import missing

try:
    import torch as pt
    import torch.library

    # A custom op tells the compiler to pass over it, which loads the compiler: a minute, for nothing.
    pt._disable_dynamo = lambda fn=None, recursive=True: fn or (lambda called: called)
except ImportError:
    pt = None

needs_pytorch = pytest.mark.skipif(pt is None, reason="PyTorch is not installed")
refused = outcome


def as_in_pytorch(scenario=None, *, facts=False):
    """Make a test of a scenario: it gets a library, and gives the same answers with both.

    Args:
        scenario: ``scenario(t, ...)`` with ``t`` the library; returns what is to be compared. Its
            other parameters are the test's.
        facts: exceptions must also have the same facts in their texts.
    """
    if scenario is None:
        return functools.partial(as_in_pytorch, facts=facts)

    def test(**values):
        with registry.scope(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = scenario(pt, **values)
            found = scenario(mindtorch_core, **values)
        problem = difference(found, expected, facts)
        assert not problem, problem

    test.__name__ = scenario.__name__
    test.__doc__ = scenario.__doc__
    parameters = list(inspect.signature(scenario).parameters.values())[1:]
    test.__signature__ = inspect.Signature(parameters)
    if hasattr(scenario, "pytestmark"):
        test.pytestmark = scenario.pytestmark
    return needs_pytorch(test)


def difference(found, expected, facts=False):
    """What differs between two results; empty if nothing does."""
    if isinstance(expected, Exception):
        return exceptions_differ(found, expected, facts)
    if isinstance(found, Exception):
        return f"raised {type(found).__name__}: {found}\nPyTorch gives {expected!r}"
    if hasattr(expected, "tolist"):
        problem = outcome(assert_close, found, expected)
        return str(problem or "")
    if isinstance(expected, dict) and isinstance(found, dict):
        found, expected = sorted(found.items()), sorted(expected.items())
    if isinstance(expected, list | tuple) and isinstance(found, list | tuple):
        if len(found) != len(expected):
            return f"{found}\nPyTorch gives {expected}"
        pairs = enumerate(zip(found, expected, strict=True))
        problems = [f"[{i}] {p}" for i, (f, e) in pairs if (p := difference(f, e, facts))]
        return "\n".join(problems)
    if type(expected).__module__.partition(".")[0] == "torch":
        found, expected = str(found), str(expected)
    return "" if found == expected else f"{found!r}\nPyTorch gives {expected!r}"


def exceptions_differ(found, expected, facts):
    """Whether one call raised what the other did."""
    theirs = f"PyTorch raises {type(expected).__name__}: {expected}"
    if not isinstance(found, Exception):
        return f"gave {found!r}\n{theirs}"
    theirs_own = type(expected).__module__.partition(".")[0] == "torch"
    if (
        type(found).__name__ != type(expected).__name__
        if theirs_own
        else not isinstance(found, type(expected))
    ):
        return f"{type(found).__name__}: {found}\n{theirs}"
    lacking = missing(str(found), str(expected)) if facts else []
    return f"lacks {lacking}: {found}\n{theirs}" if lacking else ""


# ---- what several test modules use --------------------------------------------------------------


def mode_class(t):
    """The class of dispatch modes."""
    if t is mindtorch_core:
        return mindtorch_core.DispatchMode
    from torch.utils._python_dispatch import TorchDispatchMode

    return TorchDispatchMode


def logger(t, log, name=None, handle=None):
    """A mode that writes what it sees into a list: the op's name, or its own name and the op's."""

    class Log(mode_class(t)):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append(str(func) if name is None else (name, str(func)))
            return (handle or (lambda f, a, k: f(*a, **k)))(func, args, kwargs or {})

    return Log()


def seen(t, body):
    """The ops that a mode sees while ``body()`` runs, and its result."""
    log = []
    with logger(t, log):
        result = body()
    return log, result


def numpy_sin(t, name, **options):
    """A custom op that no autograd looks into."""

    def sin(x: t.Tensor, scale: float = 1.0) -> t.Tensor:
        values = x.detach().numpy()
        return t.from_numpy(np.asarray(np.sin(values) * scale, values.dtype))

    return t.library.custom_op(f"custom_op_test::{name}", sin, mutates_args=(), **options)
