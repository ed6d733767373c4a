"""``torch.utils.dlpack``: sharing memory with other libraries."""

from ..frontend.foreign_arrays import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
