"""``torch.distributed.constants``."""

from __future__ import annotations

from ...communication.beginning import DEFAULT_PG_TIMEOUT

__all__ = ["default_pg_timeout"]

default_pg_timeout = DEFAULT_PG_TIMEOUT
