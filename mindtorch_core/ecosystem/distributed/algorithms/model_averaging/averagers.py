"""``torch.distributed.algorithms.model_averaging.averagers``."""

from __future__ import annotations

from .....communication.local_sgd import ModelAverager, PeriodicModelAverager

__all__ = ["ModelAverager", "PeriodicModelAverager"]
