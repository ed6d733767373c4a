"""Functions that Python makes of ops give on the device what they give elsewhere."""

from __future__ import annotations

from ...deferred import pipeline_context
from ..comparison import assert_close, default_tolerances, outcome
from .base import ConformanceBase
from .checks import require, tensors_of
from .function_cases import FunctionCase
from .gradient_tests import check_gradients

__all__ = ["FunctionTests"]


class FunctionTests(ConformanceBase):
    """Losses, pooling, attention, ``einsum``, ``torch.masked`` and the like, one call of each."""

    def test_functions(self, case: FunctionCase) -> None:
        """Shapes and dtypes are the CPU's, and values are close to the CPU's in float64."""
        like = case.call(*case.sample.build("cpu"))
        exact = case.call(*case.sample.in_float64().build("cpu"))
        found = outcome(case.call, *case.sample.build(self.device))
        if isinstance(found, Exception):
            raise AssertionError(f"{case} raised {found!r}") from found
        for t, cpu, want in zip(*map(tensors_of, (found, like, exact)), strict=True):
            require(t.device.type == self.device, f"{case} gave a tensor on {t.device}")
            require(
                (t._shape, t._dtype) == (cpu._shape, cpu._dtype),
                f"{case} gave {t.dtype}{list(t.shape)}, on the CPU {cpu.dtype}{list(cpu.shape)}",
            )
            rtol, atol = self.tolerances(case.name, *default_tolerances(t.dtype))
            assert_close(
                t, want, rtol=rtol, atol=atol, equal_nan=True, check_dtype=False,
                check_device=False, msg=str(case),
            )  # fmt: skip

    def test_deferred_functions(self, case: FunctionCase) -> None:
        """In a pipeline a function gives what it gives outside."""
        wanted = case.call(*case.sample.build(self.device))
        args, kwargs = case.sample.build(self.device)
        with pipeline_context():
            found = case.call(args, kwargs)
        for t, want in zip(tensors_of(found), tensors_of(wanted), strict=True):
            assert_close(t, want, equal_nan=True, msg=f"{case}, deferred")

    def test_function_gradients(self, case: FunctionCase) -> None:
        """Gradients are close to the CPU's in float64."""
        check_gradients(case, self.device)
