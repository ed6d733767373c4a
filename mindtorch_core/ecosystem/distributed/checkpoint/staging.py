"""``torch.distributed.checkpoint.staging``."""

from __future__ import annotations

from ....communication.checkpoint.default_stager import DefaultStager, StagingOptions
from ....communication.checkpoint.staging import AsyncStager, BlockingAsyncStager

__all__ = ["AsyncStager", "BlockingAsyncStager", "DefaultStager", "StagingOptions"]
