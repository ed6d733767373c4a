"""Ops that are made of factorizations: the CPU computes them whole, with one copy there and back."""

from __future__ import annotations

import functools

from ..fallback import fallback
from .steps import KERNELS

__all__: list[str] = []

for _name in ("linalg_solve_ex", "linalg_inv_ex"):
    KERNELS[f"aten::{_name}"] = functools.partial(fallback, f"aten::{_name}")
