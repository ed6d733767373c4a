"""``torch.distributed.elastic``: training that goes on when a process dies.

`State` and `run` are mindtorch's own.
"""

from __future__ import annotations

from ....communication.elastic import State, run
from ...absent import names_of

__all__ = ["State", "run"]

__getattr__ = names_of(__name__)
