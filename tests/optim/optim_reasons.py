"""Which entries of PyTorch's OptimizerInfo database differ here, and why."""

from __future__ import annotations

from typing import Final

__all__ = ["REASONS"]

# By optimizer: the tolerance that holds instead, and why; None where nothing can be compared.
REASONS: Final[dict[str, tuple[float | None, str]]] = {
    "SparseAdam": (
        None,
        "the samples have dense gradients, which it refuses; tests/sparse has sparse ones",
    ),
    "Muon": (
        5e-3,
        "its matrices are products in bfloat16, whose rounding depends on the order of summation",
    ),
    "LBFGS": (
        2e-3,
        "in float32 its curvature is a quotient of differences of nearly equal gradients once it has "
        "converged; float64 agrees",
    ),
}
