"""``torch.distributed.checkpoint.storage``."""

from __future__ import annotations

from ....communication.checkpoint.storage import StorageReader, StorageWriter, WriteResult

__all__ = ["StorageReader", "StorageWriter", "WriteResult"]
