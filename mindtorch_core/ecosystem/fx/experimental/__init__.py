"""``torch.fx.experimental``: passes that programs use under this name."""

from __future__ import annotations

from ...absent import names_of

__getattr__ = names_of(__name__)
