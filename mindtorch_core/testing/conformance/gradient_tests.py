"""Gradients: close to the CPU's in float64, and to differences of the device's own results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ...autograd.gradient_checks import GradcheckError, gradcheck
from ...gradients.differentiation import grad
from ...operators.recipes import Sample
from ...tensors.tensor import Tensor
from ..comparison import assert_close, outcome
from .base import ConformanceBase
from .cases import Case
from .checks import has_dtype, require, tensors_of
from .function_cases import FunctionCase

__all__ = ["GradientTests", "check_gradients"]

# Kernels of gradients go through more roundings than one op.
_RTOL, _ATOL = 1e-4, 1e-5


class GradientTests(ConformanceBase):
    """Gradients of every op that has them."""

    def test_gradients(self, case: Case) -> None:
        """Gradients are close to the CPU's in float64, of the inputs' dtype and on the device."""
        check_gradients(case, self.device, self.numerics().error_of(case.name))
        _check_expanded(case, self.device)

    def test_gradcheck(self, case: Case) -> None:
        """Gradients agree with differences of results, both computed on the device in float64."""
        if not has_dtype(self.device, "float64"):
            pytest.skip(f"{self.device} has no float64")
        sample = case.sample.in_float64()
        args, kwargs = sample.build(self.device)
        leaves = [t for t in _floating((*args, *kwargs.values())) if t.numel()]
        if not leaves or isinstance(outcome(_gradients, case, sample, self.device), Exception):
            pytest.skip("it has no gradients for these arguments")
        for t in leaves:
            t.requires_grad_()

        def run(*_: Tensor) -> tuple[Tensor, ...]:
            results = tensors_of(case.call(args, kwargs))
            return tuple(t for t in results if t.requires_grad)

        try:
            gradcheck(run, leaves)
        except GradcheckError as error:
            raise AssertionError(f"gradient of {case}: {error}") from error


def check_gradients(case: Case | FunctionCase, device: str, error: float = 0.0) -> None:
    """Compare a call's gradients with those of the CPU in float64; skip if there are none.

    Args:
        case: the call.
        device: where it is made.
        error: what the device declares of the op's precision.
    """
    wanted = outcome(_gradients, case, case.sample.in_float64(), "cpu")
    if isinstance(wanted, Exception) or not wanted:
        pytest.skip("it has no gradients for these arguments")
    found = outcome(_gradients, case, case.sample, device)
    if isinstance(found, Exception):
        raise AssertionError(f"{case}: its backward raised {found!r}") from found
    require(len(found) == len(wanted), f"{case} gave {len(found)} gradients, not {len(wanted)}")
    for (t, given), (_, want) in zip(found, wanted, strict=True):
        if given is None or want is None:
            require(given is want, f"{case} has a gradient only on one of the devices")
            continue
        require(
            (given.device, given._dtype, given._shape) == (t.device, t._dtype, t._shape),
            f"{case} gave a gradient {given.dtype}{list(given.shape)} on {given.device} for "
            f"{t.dtype}{list(t.shape)} on {t.device}",
        )
        rtol, atol = (_RTOL, _ATOL) if t._dtype.itemsize >= 4 else (2e-2, 2e-2)
        assert_close(
            given, want, rtol=max(rtol, error), atol=max(atol, error), equal_nan=True, check_dtype=False,
            check_device=False, msg=f"gradient of {case}",
        )  # fmt: skip


def _check_expanded(case: Case, device: str) -> None:
    """Compare the gradients for a gradient of the result that is expanded, as that of a sum is."""
    args, kwargs = case.sample.build(device)
    leaves = [t.requires_grad_() for t in _floating((*args, *kwargs.values()))]
    result = next((t for t in tensors_of(case.call(args, kwargs)) if t.requires_grad), None)
    if result is None or not result.dim() or not result.numel():
        return
    given = _weights(result.detach())[:1].expand(result._shape)
    found, wanted = (
        grad([result], leaves, [g], retain_graph=True, allow_unused=True)
        for g in (given, given.contiguous())
    )
    for t, want in zip(found, wanted, strict=True):
        if t is not None and want is not None:
            assert_close(
                t, want, equal_nan=True,
                msg=f"gradient of {case}, where that of its result is expanded from its first row",
            )  # fmt: skip


class _NotThere(Exception):
    """A call has no result that requires grad."""


def _floating(values: Sequence[Any]) -> list[Tensor]:
    """The tensors that may require grad, also those in lists."""
    found = []
    for value in values:
        if isinstance(value, list):
            found += _floating(value)
        elif isinstance(value, Tensor) and value.dtype.is_floating_point:
            found.append(value)
    return found


def _gradients(
    case: Case | FunctionCase, sample: Sample, device: str
) -> list[tuple[Tensor, Tensor | None]]:
    """The floating arguments of a call and their gradients, the results weighted unevenly.

    Raises:
        _NotThere: if no result requires grad.
    """
    args, kwargs = sample.build(device)
    leaves = _floating((*args, *kwargs.values()))
    for t in leaves:
        t.requires_grad_()
    results = [t for t in tensors_of(case.call(args, kwargs)) if t.requires_grad]
    if not results:
        raise _NotThere(str(case))
    total = None
    for t in results:
        part = (t * _weights(t)).sum()
        total = part if total is None else total + part
    assert total is not None
    (total.real if total.dtype.is_complex else total).backward()
    return [(t, t.grad) for t in leaves]


def _weights(t: Tensor) -> Tensor:
    """Weights that differ from element to element, the same on every device and in every dtype."""
    from ...operators.recipes import build, tensor

    n = t.numel()
    values = tuple((i * 5 % 7 + 1) / 4 for i in range(n))
    made = build(tensor(n, values=values), str(t.device))
    return made.reshape(t._shape).to(t.dtype)
