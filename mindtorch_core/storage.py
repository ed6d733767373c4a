"""``torch.storage``: memory by itself, counted in bytes or in elements."""

from .frontend.storages import UntypedStorage
from .frontend.typed_storage import TypedStorage, _LegacyStorage
from .tensors.storage import Storage  # which backends of old import from here

__all__ = ["Storage", "TypedStorage", "UntypedStorage", "_LegacyStorage"]
