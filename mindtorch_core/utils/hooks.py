"""``torch.utils.hooks``: handles of hooks."""

from ..autograd.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
