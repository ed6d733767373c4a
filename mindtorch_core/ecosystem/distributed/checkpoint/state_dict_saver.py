"""``torch.distributed.checkpoint.state_dict_saver``."""

from __future__ import annotations

from ....communication.checkpoint.saving import (
    AsyncCheckpointerType,
    AsyncSaveResponse,
    async_save,
    save,
)
from ....communication.checkpoint.saving import save_state_dict as _save_state_dict
from ..deprecated import warning

__all__ = [
    "AsyncCheckpointerType",
    "AsyncSaveResponse",
    "async_save",
    "save",
    "save_state_dict",
]

save_state_dict = warning(
    _save_state_dict,
    "`save_state_dict` is deprecated and will be removed in future versions.Please use `save` instead.",
)
