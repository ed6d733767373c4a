"""Tests of every op: results, layouts, in-place and ``out=`` forms, dtypes, edges, references."""

from __future__ import annotations

import math
from typing import Any

import pytest

from ...deferred import pipeline_context
from ...operators.recipes import LAYOUTS
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING, finfo
from ..comparison import assert_close, default_tolerances, outcome
from ..samples import named
from . import pytorch
from .base import ConformanceBase
from .cases import NEEDS_DTYPE, Case
from .checks import (
    check_pending,
    check_spec,
    fits,
    has_dtype,
    is_mutable,
    raised_alike,
    require,
    specs_of,
    strided_like,
    tensors_of,
    writes_first,
)
from .sweeps import with_equal_rows

__all__ = ["OpTests"]

_SIGNED_ZEROS = named("signed_zeros")


class OpTests(ConformanceBase):
    """Tests whose cases are ops and sample calls."""

    def same(self, case: Case, found: Any, wanted: Any, **options: Any) -> None:
        """Check that two results are equal: values too, where the op defines them."""
        if isinstance(wanted, tuple | list):
            require(len(found) == len(wanted), f"{case} gave {len(found)} results")
            for one, other in zip(found, wanted, strict=True):
                self.same(case, one, other, **options)
        elif wanted is None or found is None:
            require(found is wanted, f"{case} gave {found!r} and {wanted!r}")
        elif self.executes() and not case.op.traits.undefined:
            if self.numerics().error_of(case.name) and wanted.dtype.category >= FLOATING:
                rtol, atol = self.tolerances(case.name, *default_tolerances(wanted.dtype))
                options |= {"rtol": rtol, "atol": atol}
            assert_close(found, wanted, equal_nan=True, msg=str(case), **options)
        else:
            alike = (found._shape, found._dtype) == (wanted._shape, wanted._dtype)
            require(alike, f"{case} gave {found!r} and {wanted!r}")

    # ---- forms of a call -----------------------------------------------------------------------

    def test_forward(self, case: Case) -> None:
        """The op runs, and its result is what its rule says: shape, dtype, strides and device."""
        args, kwargs = case.sample.build(self.device)
        specs = specs_of(case.op, args, kwargs)
        result = outcome(case.call, args, kwargs)
        # A sample is a call that works: one that its rule refuses would test nothing.
        raised_alike(case, result, None)
        if writes_first(case.op):
            require(result is args[0], f"{case} returned another tensor than its first argument")
            require(result._version > 0, f"{case} counted no new version")
        for i, t in enumerate(tensors_of(result)):
            require(t.device.type == self.device, f"{case} gave a tensor on {t.device}")
            require(not t._pending, f"{case} gave a pending tensor outside a pipeline")
            if specs:
                check_spec(case, t, specs[i])
            if self.executes():
                t.tolist()

    def test_layouts(self, case: Case) -> None:
        """Elements count, not how they lie in memory: transposed, strided, offset and expanded inputs."""
        args, kwargs = case.sample.build(self.device)
        wanted = outcome(case.call, args, kwargs)
        self._laid_out_alike([case.variant(layout) for layout in LAYOUTS[1:]], wanted)
        if not is_mutable(case.op):  # what is expanded is not written
            alike, expanded = (Case(case.op, s) for s in with_equal_rows(case.op, case.sample))
            args, kwargs = alike.sample.build(self.device)
            self._laid_out_alike([expanded], outcome(alike.call, args, kwargs))

    def _laid_out_alike(self, variants: list[Case], wanted: Any) -> None:
        for variant in variants:
            args, kwargs = variant.sample.build(self.device)
            specs = specs_of(variant.op, args, kwargs)
            found = outcome(variant.call, args, kwargs)
            if raised_alike(variant, found, specs if isinstance(specs, Exception) else wanted):
                continue
            self.same(variant, found, wanted, rtol=1e-6, atol=1e-6)
            for t, spec in zip(tensors_of(found), specs or (), strict=False):
                check_spec(variant, t, spec)

    def test_inplace(self, case: Case) -> None:
        """``op_`` writes what ``op`` gives, returns the tensor itself and counts a new version."""
        functional = case.op.functional
        assert functional is not None  # the rule of this test chooses only such
        for layout in LAYOUTS:
            variant = case.variant(layout)
            args, kwargs = variant.sample.build(self.device)
            wanted: Any = outcome(Case(functional, variant.sample).call, args, kwargs)
            args, kwargs = variant.sample.build(self.device)
            target = args[0]
            if not isinstance(wanted, Exception) and not fits(target, wanted):
                wanted = RuntimeError("the result does not fit")
            version = target._version
            found = outcome(variant.call, args, kwargs)
            if raised_alike(variant, found, wanted):
                continue
            require(found is target, f"{variant} returned another tensor than its first argument")
            require(target._version > version, f"{variant} counted no new version")
            self.same(variant, target, wanted.to(target.dtype), rtol=1e-6, atol=1e-6)

    def test_out(self, case: Case) -> None:
        """``out=`` gets what the op gives: an empty tensor is resized, another one is filled."""
        args, kwargs = case.sample.build(self.device)
        wanted = case.call(args, kwargs)
        results = tensors_of(wanted)
        empty = [t.new_empty((0,)) for t in results]
        filled = [strided_like(t) for t in results]
        for outs in (empty, filled):
            out = outs[0] if len(outs) == 1 else tuple(outs)
            args, kwargs = case.sample.build(self.device)
            returned = case.call(args, {**kwargs, "out": out})
            for given, got, want in zip(outs, tensors_of(returned), results, strict=True):
                require(got is given, f"{case} with out= returned another tensor")
                self.same(case, given, want)

    def test_deferred(self, case: Case) -> None:
        """In a pipeline an op gives what it gives outside, from ready and from pending inputs."""
        args, kwargs = case.sample.build(self.device)
        wanted = outcome(case.call, args, kwargs)
        for pending in (False, True):
            mine, options = case.sample.build(self.device)
            found = outcome(self._deferred, case, mine, options, pending, wanted)
            if raised_alike(case, found, wanted):
                continue
            self.same(case, found, wanted)
            if is_mutable(case.op) and not pending:
                self.same(case, mine[0], args[0])

    def _deferred(
        self, case: Case, args: tuple[Any, ...], kwargs: dict[str, Any], pending: bool, wanted: Any
    ) -> Any:
        """Call in a pipeline and check what is known of the result before it is computed."""
        with pipeline_context():
            if pending:
                args = tuple(a.clone() if isinstance(a, Tensor) else a for a in args)
            result = case.call(args, kwargs)
            if not isinstance(wanted, Exception):
                check_pending(case, result, wanted)
        for t in tensors_of(result):
            require(not t._pending, f"{case} is pending after its pipeline has ended")
        return result

    # ---- references ----------------------------------------------------------------------------

    def test_agrees_with_meta(self, case: Case) -> None:
        """Shapes and dtypes are those that the meta device gives without computing."""
        args, kwargs = case.sample.build("meta")
        told = outcome(case.call, args, kwargs)
        if isinstance(told, NotImplementedError | RuntimeError):
            pytest.skip("the result depends on elements, which meta tensors have not")
        args, kwargs = case.sample.build(self.device)
        found = outcome(case.call, args, kwargs)
        if raised_alike(case, found, told):
            return
        for t, meta in zip(tensors_of(found), tensors_of(told), strict=True):
            require(
                (t._shape, t._dtype) == (meta._shape, meta._dtype),
                f"{case} gave {t.dtype}{list(t.shape)}, the meta device {meta.dtype}"
                f"{list(meta.shape)}",
            )

    def test_agrees_with_cpu(self, case: Case) -> None:
        """Shapes and dtypes are the CPU's, and values are close to the CPU's in float64."""
        args, kwargs = case.sample.build("cpu")
        like = outcome(case.call, args, kwargs)
        args, kwargs = case.sample.build(self.device)
        found = outcome(case.call, args, kwargs)
        if raised_alike(case, found, like):
            return
        exact = like
        if case.name not in NEEDS_DTYPE:
            exact = case.call(*case.sample.in_float64().build("cpu"))
        for t, cpu, want in zip(*map(tensors_of, (found, like, exact)), strict=True):
            require(
                (t._shape, t._dtype) == (cpu._shape, cpu._dtype),
                f"{case} gave {t.dtype}{list(t.shape)}, on the CPU {cpu.dtype}{list(cpu.shape)}",
            )
            if self.executes() and not case.random and not case.op.traits.undefined:
                rtol, atol = self.tolerances(case.name, *default_tolerances(t.dtype))
                assert_close(
                    t, want, rtol=rtol, atol=atol, equal_nan=True, check_dtype=False,
                    check_device=False, msg=str(case),
                )  # fmt: skip

    def test_agrees_with_pytorch(self, case: Case) -> None:
        """Shapes, dtypes and values are PyTorch's, for functions that it has."""
        told = pytorch.call(case)
        if told is None:
            pytest.skip("PyTorch has no such call")
        args, kwargs = case.sample.build(self.device)
        found = outcome(case.call, args, kwargs)
        if isinstance(found, Exception):
            raise AssertionError(f"{case} raised {found!r}, PyTorch does not") from found
        results = tensors_of(found)
        if len(results) != len(told):
            pytest.skip(f"PyTorch's function gives {len(told)} tensors, the op {len(results)}")
        for t, (want, exact) in zip(results, told, strict=True):
            shape, dtype = pytorch.kind(want)
            require(
                (tuple(t._shape), t._dtype.name) == (shape, dtype),
                f"{case} gave {t.dtype}{list(t.shape)}, PyTorch {dtype}{list(shape)}",
            )
            if self.executes() and not case.op.traits.undefined:
                rtol, atol = self.tolerances(case.name, *default_tolerances(t.dtype))
                assert_close(
                    t, exact, rtol=rtol, atol=atol, equal_nan=True, check_dtype=False,
                    check_device=False, msg=f"{case}, against PyTorch",
                )  # fmt: skip

    # ---- dtypes and edges ----------------------------------------------------------------------

    def test_dtypes(self, case: Case) -> None:
        """On each dtype that the CPU takes an op gives what the CPU gives."""
        if self.executes() and not has_dtype(self.device, case.sample.name):
            pytest.skip(f"{self.device} has no {case.sample.name}")
        self._as_on_cpu(case)

    def test_edges(self, case: Case) -> None:
        """Nan, infinities, zeros of both signs, limits of integers, ties, and sums of halves."""
        self._as_on_cpu(case)

    def _as_on_cpu(self, case: Case) -> None:
        args, kwargs = case.sample.build("cpu")
        wanted = outcome(case.call, args, kwargs)
        if isinstance(wanted, Exception):
            pytest.skip(f"the CPU refuses it: {wanted!r:.200}")  # another device may compute it
        args, kwargs = case.sample.build(self.device)
        found = outcome(case.call, args, kwargs)
        if isinstance(found, Exception):
            raise AssertionError(f"{case} raised {found!r}") from found
        if case.random:
            wanted, found = _kinds(wanted), _kinds(found)
            require(wanted == found, f"{case} gave {found}, on the CPU {wanted}")
            return
        self.same(case, found, wanted, check_device=False)
        if case.name in _SIGNED_ZEROS and self.executes():
            flushed = self.numerics().flushes_subnormals
            signs = [_zero_signs(t, flushed=flushed) for t in (found, wanted)]
            require(
                signs[0] == signs[1],
                f"{case} gave zeros with the signs {signs[0]}, on the CPU {signs[1]}",
            )


def _kinds(result: Any) -> list[tuple[tuple[int, ...], str]]:
    return [(tuple(t._shape), t._dtype.name) for t in tensors_of(result)]


def _zero_signs(t: Tensor, *, flushed: bool) -> list[float]:
    """The signs of those elements that are zero, or become zero; none for dtypes with one zero."""
    values = t.reshape(-1).tolist() if t.dtype.is_floating_point else []
    least = finfo(t.dtype).tiny if flushed and values else 0.0
    return [math.copysign(1.0, v) for v in values if v == 0 or abs(v) < least]
