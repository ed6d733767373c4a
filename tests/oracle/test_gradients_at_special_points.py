"""Gradients of element-wise ops at zeros, bounds, infinities and NaN, for gradients that are such numbers too.

Which ops there are says the registry. PyTorch's vectors and its last few elements differ at NaN in places,
so the sizes are those of whole vectors.
"""

import itertools
import math
import re

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs.define import definitions

pytest.importorskip("torch")

from special_points import INF, NAN, SEEDS, compare

POINTS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 6.0, -6.0, 1e-20, -1e20, INF, -INF, NAN,
]  # fmt: skip
WHOLE = 64  # elements, of vectors and of what PyTorch's loops take at once

# Numbers after the tensors: where the schema has no defaults, and others that are usual.
NUMBERS = {
    "add": [{}, {"alpha": 0}, {"alpha": INF}],
    "sub": [{}, {"alpha": 0}],
    "div": [{}, {"rounding_mode": "floor"}, {"rounding_mode": "trunc"}],
    "pow": [{}, *({"exponent": v} for v in (0, 1, 2, 0.5, -1, NAN, INF))],
    "pow.Scalar": [{"self": v} for v in (0, 1, 2.5, -1.0)],
    "float_power.Scalar": [{"self": 2.5}],
    "lerp.Scalar": [{"weight": v} for v in (0.0, 0.25, 1.0)],
    "xlogy.Scalar_Self": [{"self": 0}, {"self": 2.0}],
    "special_xlog1py.self_scalar": [{"self": 0}, {"self": 2.0}],
    "logit": [{}, {"eps": 0.25}, {"eps": 0.0}],
    "nan_to_num": [{}, {"nan": 1.0, "posinf": 2.0, "neginf": -2.0}],
    "round.decimals": [{"decimals": 1}],
    "threshold": [{"threshold": 1, "value": 0.5}],
    "threshold_backward": [{"threshold": 0}],
    "clamp": [{"min": -1, "max": 2}, {"min": 0}, {"max": 6.0}, {"min": NAN}, {"min": 2, "max": 1}],
    "clip": [{"min": -1, "max": 2}],
    "clamp_min": [{"min": 0}],
    "clamp_max": [{"max": 2}],
    "leaky_relu": [{}, {"negative_slope": 0}, {"negative_slope": -0.5}],
    "hardtanh": [{}, {"min_val": 0, "max_val": 6}],
    "hardshrink": [{}, {"lambd": 0}, {"lambd": 2.0}],
    "softshrink": [{}, {"lambd": 0}, {"lambd": 2.0}],
    "elu": [{}, {"alpha": 0.5}, {"alpha": 0}, {"scale": 2.0, "input_scale": 0.5}],
    "celu": [{}, {"alpha": 2.0}],
    "gelu": [{}, {"approximate": "tanh"}],
    "softplus": [{}, {"beta": 2.0, "threshold": 3.0}],
    "polygamma": [{"n": 1}, {"n": 2}],
    "mvlgamma": [{"p": 2}],
    "special_zeta.self_scalar": [{"self": 2.0}],
}

# Operands without a derivative, which is no elementary function.
NOT_DIFFERENTIABLE = dict.fromkeys(("special_zeta", "igamma", "igammac"), ("self",))

# Where squares in PyTorch's formulas are zero or infinite, which ours are not; sinc's is a series near 0, so
# that its second derivative is right.
ELSEWHERE = {
    "sinc": lambda g, x: not math.isfinite(g) and not 1e-9 < abs(x) < 1e9,
    "atan2": lambda g, y, x: abs(y) < 1e-9 and abs(x) < 1e-9,
}

NOT_IN_PYTORCH = re.compile(r"special_.*(bessel|polynomial)|_to_dtype|bitwise")
LEFT_OUT = {
    "frexp.Tensor": "of two results",
    "special_i1": "PyTorch's formulas forget a NaN: 0.5",
    "special_i1e": "likewise",
    "special_log_ndtr": "PyTorch's is NaN where its terms overflow",
    "special_i0e": "in PyTorch's float32 two terms of large numbers do not cancel",
    "special_zeta": "at infinity PyTorch's is NaN",
    "special_zeta.self_scalar": "likewise",
    "polygamma": "likewise",
    "mvlgamma": "PyTorch adds slopes before they are multiplied by the gradient",
    "digamma": "at its poles PyTorch's is what the sine of a rounded pi leaves",
}


def cases():
    """Ops that work element by element on one tensor or two, with their numbers."""
    for d in definitions():
        schema = registry.get(d.name).schema
        tensors = [a.name for a in schema.arguments if a.type == "Tensor"]
        if (
            "pointwise" in d.tags
            and d.grad != "nondiff"
            and "(a!)" not in d.schema
            and "backward" not in d.name
            and not d.name.startswith("_foreach")
            and len(tensors) in (1, 2)
            and d.name not in LEFT_OUT
            and not NOT_IN_PYTORCH.match(d.name)
        ):
            for numbers in NUMBERS.get(d.name, [{}]):
                words = ",".join(f"{k}={v}" for k, v in numbers.items())
                yield pytest.param(d.name, tensors, numbers, id=f"{d.name}({words})")


def grid(dtype, count):
    """Incoming gradients, then operands, in every combination; repeated to whole vectors."""
    rows = list(itertools.product(SEEDS, *[POINTS] * count))
    rows += rows[: -len(rows) % WHOLE]
    return np.array(rows, dtype=dtype).T.copy()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "tensors", "numbers"), list(cases()))
def test_element_wise(name, tensors, numbers, dtype):
    tensors = [n for n in tensors if n not in numbers]
    seeds, *operands = grid(dtype, len(tensors))

    def call(lib, *operands):
        given = dict(zip(tensors, operands, strict=True)) | numbers
        for n in NOT_DIFFERENTIABLE.get(name, ()):
            if n in given:
                given[n] = given[n].detach()
        return getattr(lib.ops.aten, name.partition(".")[0])(**given)

    compare(call, seeds, *operands, except_at=ELSEWHERE.get(name, lambda *_: False))


LOSSES = {
    "l1_loss": {},
    "mse_loss": {},
    "smooth_l1_loss": {"beta": 0.5},
    "huber_loss": {"delta": 2.0},
    "binary_cross_entropy_with_logits": {},
    "poisson_nll_loss": {"full": True},
    "poisson_nll_loss ": {"log_input": False},
    "kl_div": {},
    "kl_div ": {"log_target": True},
    "hinge_embedding_loss": {},
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses(name, dtype):
    seeds, *operands = grid(dtype, 2)

    def call(lib, x, y):
        function = getattr(lib.nn.functional, name.strip())
        return function(x, y, reduction="none", **LOSSES[name])

    compare(call, seeds, *operands)


def test_acosh_below_its_cut():
    """On either side of the cut the slope is the same; its parts differ by their signs."""
    points = np.array([complex(-2, -0.0), complex(-2, 0.0), complex(-1.5, -0.0), complex(3, -0.0)])
    compare(lambda lib, x: lib.acosh(x), np.ones(4, dtype=complex), points)
    parts = registry.get("acosh").definition.decomposition(torch.from_numpy(points))
    np.testing.assert_allclose(parts.numpy(), np.arccosh(points), rtol=1e-12)
