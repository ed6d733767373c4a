"""The end of a backward pass, for packages that stand above the core."""

from __future__ import annotations

from ..gradients.endings import when_ended

__all__ = ["when_ended"]
