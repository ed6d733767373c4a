"""``torch.distributed.tensor.experimental``: what programs have beside DTensors."""

from __future__ import annotations

from ....communication.sharded.implied import implicit_replication
from ....communication.sharded.own_rules import local_map, register_sharding
from ...absent import names_of

__all__ = ["implicit_replication", "local_map", "register_sharding"]

__getattr__ = names_of(__name__)
