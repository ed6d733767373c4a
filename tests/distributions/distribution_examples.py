"""Distributions with parameters, as both libraries take them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import torch as pt

import mindtorch_core as torch

__all__ = ["EXAMPLES", "INFINITE", "build", "ours", "pairs"]


class Make:
    """A distribution to be built, as a parameter of another one."""

    def __init__(self, kind: str, *args: Any, **kwargs: Any) -> None:
        self.kind, self.args, self.kwargs = kind, args, kwargs


def _m(kind: str, *args: Any, **kwargs: Any) -> Make:
    return Make(kind, *args, **kwargs)


_P: Final = np.array([0.2, 0.5, 0.9])
_S: Final = np.array([[0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])
_L: Final = np.array([-0.7, 0.4, 2.0])
_A: Final = np.array([0.7, 1.6, 3.4])
_B: Final = np.array([2.3, 0.8, 1.9])
_COV: Final = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.4], [0.1, -0.4, 1.2]])
_TRIL: Final = np.linalg.cholesky(_COV)
_W: Final = np.array([[1.0, 0.2], [-0.5, 0.7], [0.3, 0.3]])
_T: Final = np.array(0.7)

EXAMPLES: Final[dict[str, list[Make]]] = {
    "Bernoulli": [_m("Bernoulli", _P), _m("Bernoulli", logits=_L), _m("Bernoulli", 0.3)],
    "Beta": [_m("Beta", _A, _B), _m("Beta", 2.0, 3.0)],
    "Binomial": [_m("Binomial", 5, _P), _m("Binomial", 4, logits=_L)],
    "Categorical": [_m("Categorical", _S), _m("Categorical", logits=_L)],
    "Cauchy": [_m("Cauchy", _L, _A)],
    "Chi2": [_m("Chi2", _A)],
    "ContinuousBernoulli": [
        _m("ContinuousBernoulli", _P),
        _m("ContinuousBernoulli", logits=_L),
        _m("ContinuousBernoulli", _P, lims=(0.2, 0.9)),
    ],
    "Dirichlet": [_m("Dirichlet", _A), _m("Dirichlet", _S * 4)],
    "Exponential": [_m("Exponential", _A), _m("Exponential", 0.5)],
    "FisherSnedecor": [_m("FisherSnedecor", _A, _B * 3)],
    "Gamma": [_m("Gamma", _A, _B), _m("Gamma", 2.0, 3.0)],
    "GeneralizedPareto": [_m("GeneralizedPareto", _L, _A, np.array([-0.3, 0.0, 0.4]))],
    "Geometric": [_m("Geometric", _P), _m("Geometric", logits=_L)],
    "Gumbel": [_m("Gumbel", _L, _A)],
    "HalfCauchy": [_m("HalfCauchy", _A)],
    "HalfNormal": [_m("HalfNormal", _A)],
    "Independent": [
        _m("Independent", _m("Normal", _S, _S + 1), 1),
        _m("Independent", _m("Gamma", _A, _B), 0),
    ],
    "InverseGamma": [_m("InverseGamma", _A + 2, _B)],
    "Kumaraswamy": [_m("Kumaraswamy", _A, _B)],
    "LKJCholesky": [_m("LKJCholesky", 3, _A), _m("LKJCholesky", 2, 1.5)],
    "Laplace": [_m("Laplace", _L, _A)],
    "LogNormal": [_m("LogNormal", _L, _A)],
    "LogisticNormal": [_m("LogisticNormal", _L, _A)],
    "LowRankMultivariateNormal": [_m("LowRankMultivariateNormal", _L, _W, _A)],
    "MixtureSameFamily": [
        _m("MixtureSameFamily", _m("Categorical", _P), _m("Normal", _L, _A)),
        _m("MixtureSameFamily", _m("Categorical", _S), _m("Normal", _S, _S + 0.5)),
    ],
    "Multinomial": [_m("Multinomial", 4, _S), _m("Multinomial", 3, logits=_L)],
    "MultivariateNormal": [
        _m("MultivariateNormal", _L, _COV),
        _m("MultivariateNormal", _L, precision_matrix=_COV),
        _m("MultivariateNormal", _S, scale_tril=_TRIL),
    ],
    "NegativeBinomial": [_m("NegativeBinomial", 3, _P), _m("NegativeBinomial", _A, logits=_L)],
    "Normal": [_m("Normal", _L, _A), _m("Normal", 0.5, 2.0)],
    "OneHotCategorical": [_m("OneHotCategorical", _S), _m("OneHotCategorical", logits=_L)],
    "OneHotCategoricalStraightThrough": [_m("OneHotCategoricalStraightThrough", _S)],
    "Pareto": [_m("Pareto", _A, _B + 2)],
    "Poisson": [_m("Poisson", _A), _m("Poisson", 2.5)],
    "RelaxedBernoulli": [_m("RelaxedBernoulli", _T, _P), _m("RelaxedBernoulli", _T, logits=_L)],
    "RelaxedOneHotCategorical": [_m("RelaxedOneHotCategorical", _T, _S)],
    "StudentT": [_m("StudentT", _A + 2, _L, _B)],
    "Uniform": [_m("Uniform", _L, _L + _A), _m("Uniform", -1.0, 2.0)],
    "VonMises": [_m("VonMises", _L, _A)],
    "Weibull": [_m("Weibull", _A, _B)],
    "Wishart": [_m("Wishart", np.array(5.0), _COV), _m("Wishart", 4.5, scale_tril=_TRIL)],
}

# What has no mean or no variance that a sample could show.
INFINITE: Final = {"Cauchy", "HalfCauchy", "Pareto", "GeneralizedPareto", "FisherSnedecor"}


def build(lib: Any, make: Make, *, grad: bool = False) -> Any:
    """A distribution of one library, with the tensors that its parameters are made of.

    Returns:
        The distribution, and its tensors in order.
    """
    tensors: list[Any] = []

    def value(v: Any) -> Any:
        if isinstance(v, Make):
            made, own = build(lib, v, grad=grad)
            tensors.extend(own)
            return made
        if isinstance(v, np.ndarray):
            # PyTorch compares this one's parameters with a float32 constant.
            single = make.kind == "GeneralizedPareto"
            dtype = lib.float32 if single else lib.float64
            t = lib.tensor(v.tolist(), dtype=dtype).requires_grad_(grad)
            tensors.append(t)
            return t
        return v

    args = [value(v) for v in make.args]
    kwargs = {k: value(v) for k, v in make.kwargs.items()}
    return getattr(lib.distributions, make.kind)(*args, **kwargs), tensors


def ours(t: Any) -> Any:
    """A tensor of PyTorch's as one of ours."""
    return torch.tensor(t.detach().tolist(), dtype=getattr(torch, str(t.dtype).split(".")[1]))


def pairs() -> list[tuple[str, str]]:
    """The kinds of distributions that PyTorch has a divergence for."""
    table = pt.distributions.kl._KL_REGISTRY
    return sorted(
        (p.__name__, q.__name__)
        for p, q in table
        if p.__name__ in EXAMPLES and q.__name__ in EXAMPLES
    )
