"""``torch.storage``: memory by itself, counted in bytes or in elements."""

import importlib
from io import BytesIO
from typing import Any

from .frontend.storages import UntypedStorage
from .frontend.typed_storage import TypedStorage, _LegacyStorage
from .tensors.storage import Storage  # which backends of old import from here

__all__ = ["Storage", "TypedStorage", "UntypedStorage", "_LegacyStorage"]


def _load_from_bytes(data: bytes) -> Any:
    """A storage as PyTorch pickles it: in a file of its own, without its class's name."""
    files = importlib.import_module("mindtorch_core.serialization")
    return files.load(BytesIO(data), weights_only=False)
