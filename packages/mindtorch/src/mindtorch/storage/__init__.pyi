"""`mindtorch_core.storage` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.storage import (
    Storage as Storage,
    TypedStorage as TypedStorage,
    UntypedStorage as UntypedStorage,
    _LegacyStorage as _LegacyStorage,
)
