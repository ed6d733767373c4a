"""Testing backends and programs: comparisons, sample calls, and the conformance suite.

`BackendConformance` needs pytest and is loaded when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..operators.recipes import DEVICE, LAYOUTS, Sample, TensorRecipe, build, tensor
from .allclose import assert_allclose
from .comparison import (
    assert_close,
    assert_same_outcome,
    default_tolerances,
    from_pytorch,
    outcome,
)
from .make_tensor import make_tensor
from .samples import WITHOUT_SAMPLES, sampler, samples

if TYPE_CHECKING:
    from .conformance import BackendConformance

__all__ = [
    "DEVICE",
    "LAYOUTS",
    "WITHOUT_SAMPLES",
    "BackendConformance",
    "Sample",
    "TensorRecipe",
    "assert_allclose",
    "assert_close",
    "assert_same_outcome",
    "build",
    "default_tolerances",
    "from_pytorch",
    "make_tensor",
    "outcome",
    "sampler",
    "samples",
    "tensor",
]


def _late(name: str) -> Any:
    if name == "BackendConformance":
        from .conformance import BackendConformance

        return BackendConformance
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = _late
