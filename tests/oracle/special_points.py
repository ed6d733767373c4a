"""Gradients of both libraries at zeros, ties, infinities and NaN, and how they compare."""

import math

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

INF, NAN = math.inf, math.nan
SEEDS = [1.0, -2.0, 0.0, INF, NAN]  # incoming gradients


def gradients(lib, call, operands, seeds):
    """Gradients of operands; None where there are none at all."""
    leaves = [lib.from_numpy(a.copy()).requires_grad_() for a in operands]
    out = call(lib, *leaves)
    seed = lib.from_numpy(seeds.copy()).to(out.dtype)
    found = lib.autograd.grad(out, leaves, seed, allow_unused=True)
    return [g if g is None else g.detach().numpy(force=True) for g in found]


def compare(call, seeds, *operands, except_at=lambda *_: False):
    """Raise where gradients differ; ``except_at(gradient, *operands)`` says which elements to pass over."""
    found, wanted = (gradients(lib, call, operands, seeds) for lib in (torch, pt))
    atol = 1e-6 if operands[0].dtype == "float32" else 1e-12
    for i, (ours, theirs) in enumerate(zip(found, wanted, strict=True)):
        assert (ours is None) == (theirs is None), f"for operand {i}: {ours}, not {theirs}"
        if ours is None:
            continue
        places = np.argwhere(~np.isclose(ours, theirs, rtol=1e-5, atol=atol, equal_nan=True))
        wrong = [
            f"{seeds[tuple(at)] if seeds.shape == ours.shape else seeds.flat[0]} at "
            f"{[a[tuple(at)] for a in operands]} ({at}): {ours[tuple(at)]}, not {theirs[tuple(at)]}"
            for at in places
            if not except_at(*(a[tuple(at)] for a in (seeds, *operands) if a.shape == ours.shape))
        ]
        assert not wrong, f"for operand {i}, {len(wrong)}:\n" + "\n".join(wrong[:20])
