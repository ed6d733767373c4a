"""Numbers evenly spaced by their logarithms, ranges that include their end, single numbers."""

from __future__ import annotations

import math
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...values.dtypes import COMPLEX, FLOATING, complex128, dtype, float64, get_default_dtype
from ...values.user_warnings import warn_user
from .factory import OF_ENDS, OPTIONS, held, numbers_of, spaced

__all__: list[str] = []


def _logspace_rule(
    start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None, device: Any = None
) -> TensorSpec:
    return spaced("logspace", start, end, steps, dtype)


def _logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: dtype | None = None,
    device: Any = None,
) -> Any:
    d = spaced("logspace", start, end, steps, dtype).dtype
    start, end, device = numbers_of(start, end, device)
    whole = d.category < FLOATING
    if steps > 1 or (steps and whole):
        # For integers the first and last exponent are whole; those between them are not rounded.
        start, end = held(start, d), held(end, d)
    if steps == 1 and whole:
        try:
            return fn.full((1,), float(base) ** start, dtype=d, device=device)
        except ArithmeticError:
            held(math.inf, d)
    wide = complex128 if d.category == COMPLEX else float64
    exponents = fn.linspace(start, end, steps, dtype=wide, device=device)
    return fn.pow(base, exponents).to(d)


for _overload, _start, _end in OF_ENDS:
    op(
        f"logspace{_overload}({_start} start, {_end} end, int steps, float base=10.0, {OPTIONS}) "
        "-> Tensor",
        doc="``steps`` powers of ``base``, from ``base ** start`` to ``base ** end``, with evenly spaced "
        "exponents.",
        rule=_logspace_rule,
        decomposition=_logspace,
        out=True,
        namespaces=("torch",),
    )


def _range(start: Any, end: Any, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Any:
    warn_user(
        "torch.range is deprecated, because it includes its end, unlike Python's range. Use "
        "torch.arange, which makes values in [start, end)."
    )
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"upper bound and lower bound inconsistent with step sign (start={start}, end={end}, "
            f"step={step})"
        )
    d = dtype or get_default_dtype()
    wide = d if d.category < FLOATING else float64
    count = math.floor((end - start) / step) + 1
    numbers: Any = fn.arange(0, count, 1, dtype=wide, device=device)
    return (numbers * step + start).to(d)


op(
    f"range.step(Scalar start, Scalar end, Scalar step=1, {OPTIONS}) -> Tensor",
    doc="Numbers from ``start`` up to and including ``end``, ``step`` apart. Deprecated: use `arange`.",
    decomposition=_range,
    out=True,
    namespaces=("torch",),
)
op(
    f"scalar_tensor(Scalar s, {OPTIONS}) -> Tensor",
    doc="A number as a tensor without dimensions, in the default dtype unless another is given.",
    decomposition=lambda s, *, dtype=None, device=None: fn.full(
        (), s, dtype=dtype or get_default_dtype(), device=device
    ),
    out=True,
    namespaces=("torch",),
)
