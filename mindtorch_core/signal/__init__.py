"""Signal processing: the functions of ``torch.signal``."""

from . import windows

__all__ = ["windows"]
