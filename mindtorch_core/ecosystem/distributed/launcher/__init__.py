"""``torch.distributed.launcher``: a function in several processes."""

from __future__ import annotations

from .api import LaunchConfig, elastic_launch

__all__ = ["LaunchConfig", "elastic_launch"]
