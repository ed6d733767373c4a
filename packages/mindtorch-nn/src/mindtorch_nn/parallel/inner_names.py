"""What wrappers put into the names of parameters, and states leave out."""

from __future__ import annotations

from typing import Final

__all__ = ["CHECKPOINTED", "SHARDED"]

CHECKPOINTED: Final = "_checkpoint_wrapped_module."
SHARDED: Final = "_fsdp_wrapped_module."
