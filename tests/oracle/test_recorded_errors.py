"""Calls on record against PyTorch: the same outcome, exception type, warnings and facts in texts."""

import ast
import importlib
import warnings
from dataclasses import dataclass
from typing import Any

import pytest

import mindtorch_core as torch
from mindtorch_core.testing import assert_close, outcome
from mindtorch_core.testing.facts import missing
from recorded_calls import CALLS, definitions

pt = pytest.importorskip("torch", minversion="2.13", reason="earlier versions raise other types")

NOT_INSTALLED = (
    torch.BackendUnavailableError,
    "a device without a backend is one error everywhere, which names the package to install",
)
# What differs: what the call gives here, and why a user would want it so or what is missing.
DEVIATIONS: dict[str, tuple[type, str]] = {
    "index: str idx": (TypeError, "the error comes without a warning about sequences before it"),
    "device: mps without": NOT_INSTALLED,
    "device: xla": NOT_INSTALLED,
    "device: privateuseone": NOT_INSTALLED,
    "device: cpu:1": (RuntimeError, "there is one CPU device; PyTorch drops the index silently"),
    "device: mixed in-place": (
        RuntimeError,
        "writing a meta tensor's elements into a CPU tensor is refused; PyTorch silently does nothing",
    ),
    "autograd: grad len": (
        RuntimeError,
        "more gradients than outputs are refused; PyTorch drops those that are too many",
    ),
    "autograd: set mode error": (AttributeError, "torch._C is PyTorch's own"),
}


@dataclass
class Outcome:
    """What a call returned or raised, and the warnings it gave."""

    result: Any
    warned: list[tuple[type, str]]


def run(library, code):
    """Evaluate a call with the names it uses."""

    def R(*size):
        return library.ones(*size, requires_grad=True)

    names = {
        "torch": library,
        "F": library.nn.functional,
        "R": R,
        "a": library.ones(2, 3),
        "b": library.ones(4, 5),
    }
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = outcome(lambda: eval(code, names | definitions(library, R)))
    return Outcome(result, [(w.category, str(w.message)) for w in seen])


def texts_of(code):
    """The strings a call contains."""
    return {
        node.value
        for node in ast.walk(ast.parse(code, mode="eval"))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value
    }


def compare_texts(actual, expected, code):
    lacking = missing(actual, expected)
    lacking += [("value", v) for v in texts_of(code) if v in expected and v not in actual]
    assert not lacking, f"{lacking} of {expected!r} is missing in {actual!r}"


def compare(actual, expected, code):
    """Fail unless two outcomes agree."""
    if isinstance(expected.result, Exception):
        assert isinstance(actual.result, type(expected.result)), (
            f"{expected.result!r} was expected, not {actual.result!r}"
        )
        compare_texts(str(actual.result), str(expected.result), code)
    else:
        assert not isinstance(actual.result, Exception), f"raised {actual.result!r}"
        compare_values(actual.result, expected.result)
    assert len(actual.warned) == len(expected.warned), f"{actual.warned}, {expected.warned}"
    for (kind, text), (wanted, said) in zip(actual.warned, expected.warned, strict=True):
        assert issubclass(kind, wanted)
        compare_texts(text, said, code)


def compare_values(actual, expected):
    if isinstance(expected, pt.Tensor):
        assert actual.requires_grad == expected.requires_grad
        if expected.is_meta:
            found, wanted = ((t.shape, str(t.device), str(t.dtype)) for t in (actual, expected))
            assert found == wanted
        else:
            assert_close(actual, expected)
    elif isinstance(expected, tuple):
        assert type(actual).__name__ == type(expected).__name__
        assert len(actual) == len(expected)
        for pair in zip(actual, expected, strict=True):
            compare_values(*pair)
    elif isinstance(expected, pt.autograd.graph.Node):
        assert actual.name() == expected.name()
    elif isinstance(expected, pt.dtype | pt.device):
        assert repr(actual) == repr(expected)
    else:
        assert actual == expected


CASES = [
    pytest.param(f"{group}: {case}", code, id=f"{group}-{case}")
    for group, calls in CALLS.items()
    for case, code in calls.items()
]


@pytest.fixture(scope="module", autouse=True)
def _op_without_gradient():
    """``torch.ops.ag.f``, which nobody gave an Autograd kernel."""
    libraries = []
    for library in (torch, pt):
        made = library.library.Library("ag", "DEF")
        made.define("f(Tensor x) -> Tensor")
        made.impl("f", lambda x: x.clone(), "CPU")
        libraries.append(made)
    yield
    for made in libraries:
        made._destroy()


@pytest.fixture(scope="module", autouse=True)
def _loaded_for_tangents():
    """PyTorch's first dual tensor warns of what it imports."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.import_module("torch._decomp.decompositions_for_jvp")


@pytest.fixture(autouse=True)
def _every_warning():
    """PyTorch gives some warnings only once."""
    before = pt.is_warn_always_enabled()
    pt.set_warn_always(True)
    yield
    pt.set_warn_always(before)


@pytest.mark.parametrize(("name", "code"), CASES)
def test_recorded_call(name, code):
    actual, expected = run(torch, code), run(pt, code)
    if name not in DEVIATIONS:
        compare(actual, expected, code)
        return
    kind, _ = DEVIATIONS[name]
    assert isinstance(actual.result, kind)
    with pytest.raises(AssertionError):
        compare(actual, expected, code)


def test_deviations_are_of_recorded_calls():
    assert len(CASES) == 242
    assert DEVIATIONS.keys() <= {case.values[0] for case in CASES}
