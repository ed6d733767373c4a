"""``torch.utils.dlpack``: sharing memory with other libraries."""

from ..sharing import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
