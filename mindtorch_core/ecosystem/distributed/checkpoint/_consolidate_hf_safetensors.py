"""``torch.distributed.checkpoint._consolidate_hf_safetensors``."""

from __future__ import annotations

from ....communication.checkpoint.consolidation import (
    consolidate_safetensors_files,
    consolidate_safetensors_files_on_every_rank,
)

__all__ = ["consolidate_safetensors_files", "consolidate_safetensors_files_on_every_rank"]
