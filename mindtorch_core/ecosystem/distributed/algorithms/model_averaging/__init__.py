"""``torch.distributed.algorithms.model_averaging``: means of parameters, now and then."""

from __future__ import annotations

from ....absent import names_of

__all__: list[str] = []

__getattr__ = names_of(__name__)
