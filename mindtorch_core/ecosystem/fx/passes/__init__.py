"""``torch.fx.passes``: what reads and rewrites whole graphs."""

from __future__ import annotations

from ...absent import names_of

__getattr__ = names_of(__name__)
