"""``torch.distributed.checkpoint.hf_storage``."""

from __future__ import annotations

from ....communication.checkpoint.hugging_face import (
    HuggingFaceStorageReader,
    HuggingFaceStorageWriter,
)

__all__ = ["HuggingFaceStorageReader", "HuggingFaceStorageWriter"]
