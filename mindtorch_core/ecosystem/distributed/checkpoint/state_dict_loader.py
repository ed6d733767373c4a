"""``torch.distributed.checkpoint.state_dict_loader``."""

from __future__ import annotations

from ....communication.checkpoint.loading import load, load_all
from ....communication.checkpoint.loading import load_state_dict as _load_state_dict_of_old
from ..deprecated import warning

__all__ = ["load", "load_state_dict"]

load_state_dict = warning(
    _load_state_dict_of_old,
    "`load_state_dict` is deprecated and will be removed in future versions.Please use `load` instead.",
)
_load_state_dict = load_all
