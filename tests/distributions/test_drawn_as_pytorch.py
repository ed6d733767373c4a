"""What distributions draw from a seed, and how draws depend on parameters, is PyTorch's to the sign."""

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

# The class, and its parameters, of which two are drawn at once.
MADE = {
    "Normal": {"loc": [1.0, -2.0], "scale": [0.5, 3.0]},
    "LogNormal": {"loc": [0.5, -1.0], "scale": [0.5, 0.25]},
    "HalfNormal": {"scale": [0.5, 3.0]},
    "Uniform": {"low": [1.0, -2.0], "high": [2.0, 3.0]},
    "Exponential": {"rate": [0.5, 3.0]},
    "Laplace": {"loc": [1.0, -2.0], "scale": [0.5, 3.0]},
    "Cauchy": {"loc": [1.0, -2.0], "scale": [0.5, 3.0]},
    "HalfCauchy": {"scale": [0.5, 3.0]},
    "Gumbel": {"loc": [1.0, -2.0], "scale": [0.5, 3.0]},
    "Weibull": {"scale": [0.5, 3.0], "concentration": [1.5, 2.0]},
    "Pareto": {"scale": [0.5, 3.0], "alpha": [1.5, 2.0]},
    "Kumaraswamy": {"concentration1": [0.5, 3.0], "concentration0": [1.5, 2.0]},
    "MultivariateNormal": {"loc": [1.0, -2.0], "scale_tril": [[0.5, 0.0], [0.3, 2.0]]},
    "LowRankMultivariateNormal": {
        "loc": [1.0, -2.0], "cov_factor": [[0.5], [-0.3]], "cov_diag": [0.25, 2.0],
    },
    "LogisticNormal": {"loc": [1.0, -2.0], "scale": [0.5, 3.0]},
    "RelaxedBernoulli": {"temperature": [0.5], "probs": [0.25, 0.75]},
    "RelaxedOneHotCategorical": {"temperature": [0.5], "probs": [0.25, 0.5, 0.25]},
}  # fmt: skip


@pytest.mark.parametrize("count", [(), (3,), (2, 4)])
@pytest.mark.parametrize("name", MADE)
def test_draws_and_their_gradients(name, count):
    def played(lib):
        leaves = {
            key: lib.tensor(value, dtype=lib.float64, requires_grad=True)
            for key, value in MADE[name].items()
        }
        made = getattr(lib.distributions, name)(**leaves, validate_args=False)
        lib.manual_seed(7)
        drawn = made.rsample(count)
        weights = lib.arange(1.0, drawn.numel() + 1, dtype=lib.float64).reshape(drawn.shape)
        found = [drawn]
        found += lib.autograd.grad((drawn * weights).sum(), [*leaves.values()])
        lib.manual_seed(7)
        return [t.detach().numpy() for t in (*found, made.sample(count))]

    for mine, theirs in zip(played(torch), played(pt), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)
