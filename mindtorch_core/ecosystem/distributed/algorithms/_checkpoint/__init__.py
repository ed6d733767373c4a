"""``torch.distributed.algorithms._checkpoint``: modules whose activations are computed again."""

from __future__ import annotations

from ....absent import names_of

__all__: list[str] = []

__getattr__ = names_of(__name__)
