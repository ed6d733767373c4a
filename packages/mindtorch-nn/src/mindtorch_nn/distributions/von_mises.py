"""The von Mises distribution."""

from __future__ import annotations

import math
from typing import Any

import mindtorch_core as torch

from . import constraints
from .distribution import Distribution
from .utils import alias, broadcast_all, lazy_property

__all__ = ["VonMises"]


def _log_bessel(order: int, x: Any) -> Any:
    """Logarithm of the modified Bessel function of the first kind, of order 0 or 1."""
    return (torch.special.i0e(x) if order == 0 else torch.special.i1e(x)).log() + x


class VonMises(Distribution):
    """Angles around a mean direction.

    Args:
        loc: mean directions, in radians.
        concentration: how near to them angles are.
        validate_args: whether arguments are checked.
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _expanded = {"loc": 0, "concentration": 0}

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, (), validate_args)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        near = self.concentration * torch.cos(value - self.loc)
        return near - math.log(2 * math.pi) - _log_bessel(0, self.concentration)

    @lazy_property
    def _proposal_r(self) -> Any:
        """The parameter of the wrapped Cauchy distribution that is drawn from (Best and Fisher, 1979)."""
        kappa = self.concentration.double()
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        series = 1 / kappa + kappa
        return torch.where(kappa < 1e-5, series, (1 + rho**2) / (2 * rho))

    @torch.no_grad()  # type: ignore[untyped-decorator, attr-defined]  # mypy: in a circle of imports
    def sample(self, sample_shape: Any = ()) -> Any:
        """Samples, by rejection, in [-pi, pi)."""
        shape = self._extended_shape(sample_shape)
        loc, kappa, r = (t.double() for t in (self.loc, self.concentration, self._proposal_r))
        found = torch.zeros(shape, dtype=torch.float64, device=loc.device)
        done = torch.zeros(shape, dtype=torch.bool, device=loc.device)
        while not done.all():
            u1, u2, u3 = torch.rand((3, *shape), dtype=torch.float64, device=loc.device).unbind()
            z = torch.cos(math.pi * u1)
            f = (1 + r * z) / (r + z)
            c = kappa * (r - f)
            accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
            found = torch.where(accept, (u3 - 0.5).sign() * f.acos(), found)
            done = done | accept
        return ((found + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    mean = alias("loc", "The mean direction.")
    mode = alias("loc", "The most likely direction.")

    @lazy_property
    def variance(self) -> Any:
        """The circular variance."""
        kappa = self.concentration
        return 1 - (_log_bessel(1, kappa) - _log_bessel(0, kappa)).exp()
