"""Every optimizer does what PyTorch's does, in every configuration of its OptimizerInfo database."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from optim_reasons import REASONS
from optim_survey import NAMES, TOLERANCE, cases, compare, has_npu, on_npu


@pytest.mark.parametrize("name", NAMES)
def test_steps_agree(name: str) -> None:
    """A third of the steps and one dtype of each configuration; `docs/make.py optiminfo` runs all."""
    tolerance, _ = REASONS.get(name, (TOLERANCE, ""))
    if tolerance is None:
        pytest.skip(REASONS[name][1])
    for case in cases(name):
        wanted = "float64" if case.impl != "forloop" else "float32"
        if case.dtype == wanted or (case.dtype == "complex64" and case.impl == "forloop"):
            found = compare(case, steps=16)
            assert found <= tolerance, (case, found)


@pytest.mark.parametrize("name", NAMES)
def test_steps_agree_on_an_npu(name: str) -> None:
    """The plain steps in float32, where there is a device or its simulator."""
    tolerance, reason = REASONS.get(name, (TOLERANCE, ""))
    if tolerance is None:
        pytest.skip(reason)
    if not has_npu():
        pytest.skip("there is no NPU, nor its simulator")
    assert on_npu(name, 3) <= max(tolerance, 1e-5)
