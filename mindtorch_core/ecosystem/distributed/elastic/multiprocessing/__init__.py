"""``torch.distributed.elastic.multiprocessing``: errors of processes that a launcher has started."""

from __future__ import annotations

from ....absent import names_of

__all__: list[str] = []

__getattr__ = names_of(__name__)
