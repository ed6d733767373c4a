"""``torch.distributed.algorithms.model_averaging.hierarchical_model_averager``."""

from __future__ import annotations

from .....communication.local_sgd import HierarchicalModelAverager

__all__ = ["HierarchicalModelAverager"]
