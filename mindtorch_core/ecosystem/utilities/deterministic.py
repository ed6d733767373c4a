"""``torch.utils.deterministic``: a setting for memory that nobody has written."""

from __future__ import annotations

__all__ = ["fill_uninitialized_memory"]

fill_uninitialized_memory = True  # remembered, without effect
