"""``torch.distributed.algorithms.ddp_comm_hooks``: hooks of `DistributedDataParallel`."""

from __future__ import annotations

from ....absent import names_of

__all__: list[str] = []

__getattr__ = names_of(__name__)
