"""Samples of further distributions, made of uniform and normal numbers.

Each composition transforms what `uniform_` draws. Two distributions have none that is short: Poisson
and binomial numbers are left to a numerical library.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs import rules
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING, bool_, float32, float64, int64
from .filling import (
    GENERATOR,
    filling,
    floating_only,
    in_single_at_least,
    refuse,
    usual_only,
)

__all__: list[str] = []


def _uniform(self: Tensor, generator: Any) -> Tensor:
    return in_single_at_least(self).uniform_(generator=generator)


def _above_zero(self: Tensor, generator: Any) -> Tensor:
    """Uniform numbers from (0, 1]: what has a finite logarithm."""
    return 1 - _uniform(self, generator)


def _continuous(name: str) -> Any:
    def refuse(self: Tensor, shown: str) -> None:
        if self._dtype.category != FLOATING:
            raise RuntimeError(
                f"{name} distribution is a continuous probability distribution. dtype must be a "
                f"floating point but you specified {shown}"
            )

    return refuse


def _check_exponential(self: Tensor, lambd: float = 1) -> None:
    _continuous("Exponential")(self, self._dtype.label)
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")


def _check_cauchy(self: Tensor, median: float = 0, sigma: float = 1) -> None:
    _continuous("Cauchy")(self, self._dtype.label)
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")


def _check_log_normal(self: Tensor, mean: float = 1, std: float = 2) -> None:
    floating_only("log_normal_cpu")(self)
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")


def _check_geometric(self: Tensor, p: float) -> None:
    if self._dtype is bool_:
        refuse("geometric_cpu", bool_)
    usual_only("geometric_cpu", self._dtype)
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")


filling(
    "exponential(Tensor self, float lambd=1",
    "Exponential numbers of rate ``lambd``.",
    _check_exponential,
    lambda self, lambd=1, *, generator: self.copy_(_above_zero(self, generator).log() / -lambd),
)
filling(
    "cauchy(Tensor self, float median=0, float sigma=1",
    "Cauchy numbers around ``median``, of scale ``sigma``.",
    _check_cauchy,
    lambda self, median=0, sigma=1, *, generator: self.copy_(
        ((_uniform(self, generator) - 0.5) * math.pi).tan() * sigma + median
    ),
)
filling(
    "log_normal(Tensor self, float mean=1, float std=2",
    "Exponentials of normal numbers.",
    _check_log_normal,
    lambda self, mean=1, std=2, *, generator: self.copy_(
        in_single_at_least(self).normal_(mean, std, generator=generator).exp()
    ),
)
filling(
    "geometric(Tensor self, float p",
    "Number of trials up to the first success, each of probability ``p``.",
    _check_geometric,
    lambda self, p, *, generator: self.copy_(
        (_above_zero(self, generator).log() / math.log1p(-p)).floor() + 1
    ),
)

# ---- choices ------------------------------------------------------------------------------------


def _multinomial_rule(
    self: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> TensorSpec:
    shape = self._shape
    if len(shape) not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if self._dtype.category != FLOATING:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {self._dtype.label}"
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    return TensorSpec((*shape[:-1], num_samples), int64)


def _multinomial(
    self: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Tensor:
    """Weights divided by exponential numbers: the largest win, and in the order of a lottery."""
    spec = _multinomial_rule(self, num_samples, replacement)
    if not self.numel():
        return fn.empty(spec.shape, dtype=int64, device=self._device)
    _check_weights(self)
    weights = self.unsqueeze(-2) if replacement else self
    if replacement:
        weights = weights.expand(*self._shape[:-1], num_samples, self._shape[-1])
    race = weights / fn.empty_like(weights).exponential_(generator=generator)
    if replacement or num_samples == 1:
        return race.argmax(-1, not replacement)
    return race.argsort(-1, True).narrow(-1, 0, num_samples).contiguous()


def _check_weights(weights: Tensor) -> None:
    """Refuse weights of a lottery that nobody can win.

    Raises:
        RuntimeError: if one is negative, infinite or NaN, or all of a row are zero.
    """
    if not bool(((weights >= 0) & (weights < math.inf)).all()):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not bool((weights.amax(-1) > 0).all()):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


op(
    f"multinomial(Tensor self, int num_samples, bool replacement=False, {GENERATOR}) -> Tensor",
    doc="Indices drawn with the weights that each row of ``input`` gives.",
    rule=_multinomial_rule,
    grad="nondiff",
    decomposition=_multinomial,
    random=True,
    out=True,
    out_needs=("any shape",),
)

# ---- counts -------------------------------------------------------------------------------------


def _poisson_rule(self: Tensor, generator: Any = None) -> TensorSpec:
    floating_only("poisson_cpu")(self)
    return TensorSpec(self._shape, self._dtype)


op(
    "poisson(Tensor self, Generator? generator=None) -> Tensor",
    doc="Poisson numbers of the rates that ``input`` gives.",
    rule=_poisson_rule,
    grad={"self": lambda g: fn.zeros_like(g)},
    random=True,
    host=True,
    namespaces=("torch",),
)


def _binomial_rule(count: Tensor, prob: Tensor, generator: Any = None) -> TensorSpec:
    for name, t in (("count", count), ("prob", prob)):
        if t._dtype.category != FLOATING:
            raise ValueError(
                f"binomial only supports floating-point dtypes for {name}, got: {t._dtype.label}"
            )
    if prob._dtype is not count._dtype:
        raise RuntimeError(f"Found dtype {prob._dtype.label} but expected {count._dtype.label}")
    if count._dtype.itemsize < 4:
        raise NotImplementedError(f"\"binomial_cpu\" not implemented for '{count._dtype.label}'")
    return TensorSpec(rules.pointwise_spec((count, prob), count._dtype).shape, count._dtype)


op(
    "binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor",
    doc="Numbers of successes in ``count`` trials, each of probability ``prob``.",
    rule=_binomial_rule,
    grad={
        "count": lambda g, count_shape: g.new_zeros(count_shape),
        "prob": lambda g, prob_shape: g.new_zeros(prob_shape),
    },
    random=True,
    host=True,
    namespaces=("torch",),
)

# ---- gamma and Dirichlet ------------------------------------------------------------------------


def _of_two_dtypes(kernel: str, *, drawn: bool = False) -> Callable[..., TensorSpec]:
    """A rule that refuses other dtypes; what is drawn is row-major."""

    def rule(self: Tensor, *_: Any, generator: Any = None) -> TensorSpec:
        if self._dtype not in (float32, float64):
            refuse(kernel, self._dtype)
        return TensorSpec(self._shape, self._dtype) if drawn else rules.same(self)

    return rule


op(
    "_standard_gamma(Tensor self, Generator? generator=None) -> Tensor",
    doc="Gamma numbers of the shapes that ``input`` gives and the rate 1; their gradient is implicit.",
    rule=_of_two_dtypes("gamma_cpu", drawn=True),
    grad={"self": lambda g, self, result: g * fn._standard_gamma_grad(self, result)},
    random=True,
    host=True,
    namespaces=("torch",),
)
op(
    "_standard_gamma_grad(Tensor self, Tensor output) -> Tensor",
    doc="How gamma numbers change with their shapes, at the same quantile.",
    rule=_of_two_dtypes("_standard_gamma_grad_cpu"),
    grad="nondiff",
    host=True,
    namespaces=("torch",),
)


def _sample_dirichlet(self: Tensor, generator: Any = None) -> Tensor:
    """Gamma numbers divided by their sum."""
    drawn = fn._standard_gamma(self.detach(), generator)
    return drawn / drawn.sum(-1, True)


def _dirichlet_gradient(g: Any, self: Any, result: Any) -> Any:
    """A share that grows takes from the others in proportion."""
    total = self.sum(-1, True).expand(self._shape)
    change = fn._dirichlet_grad(result, self, total)
    return change * (g - (result * g).sum(-1, True))


op(
    "_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor",
    doc="Shares that sum to 1 along the last dimension, with the concentrations that ``input`` gives.",
    rule=_of_two_dtypes("dirichlet", drawn=True),
    grad={"self": _dirichlet_gradient},
    decomposition=_sample_dirichlet,
    random=True,
    namespaces=("torch",),
)
op(
    "_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor",
    doc="How a share changes with its concentration at the same quantile, over what the others have.",
    rule=_of_two_dtypes("_dirichlet_grad_cpu"),
    grad="nondiff",
    host=True,
    namespaces=("torch",),
)
