"""Kullback-Leibler divergences, by pairs of distributions: the names of ``torch.distributions.kl``."""

from __future__ import annotations

from .kl_registry import _KL_REGISTRY as _KL_REGISTRY  # libraries read it
from .kl_registry import kl_divergence, register_kl

__all__ = ["kl_divergence", "register_kl"]
