"""Errors for files that are not what `load` reads."""

from __future__ import annotations

import pickle

__all__ = ["FileEndsError", "FormatError"]


class FormatError(RuntimeError, pickle.UnpicklingError):
    """A file is of no format of tensors: for PyTorch such a file is a pickle that it cannot read."""


class FileEndsError(pickle.UnpicklingError, EOFError):
    """The structure in a file ends before it is complete, which PyTorch tells by either class."""
