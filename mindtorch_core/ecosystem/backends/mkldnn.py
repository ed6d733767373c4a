"""Settings of oneDNN, which is not there: remembered, and without effect."""

from __future__ import annotations

from contextlib import AbstractContextManager

from .settings import Settings, remembered

__all__ = ["enabled", "flags", "is_acl_available", "is_available", "set_flags"]

enabled: bool = True
deterministic: bool = False
allow_tf32: bool = True
fp32_precision: str = "none"
matmul = Settings(fp32_precision="none")
conv = Settings(fp32_precision="none")
rnn = Settings(fp32_precision="none")


def is_available() -> bool:
    """False: there is no oneDNN."""
    return False


def is_acl_available() -> bool:
    """False: there is no such library."""
    return False


def set_flags(_enabled: bool | None = None) -> tuple[bool]:
    """Change the setting, and return what it was."""
    global enabled
    before = enabled
    enabled = before if _enabled is None else _enabled
    return (before,)


def flags(enabled: bool = False) -> AbstractContextManager[None]:
    """A setting while a block lasts."""
    return remembered(globals(), {"enabled": enabled})
