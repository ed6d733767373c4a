"""Whether encoders of transformers may skip steps in inference: remembered, and without effect."""

__all__ = ["get_fastpath_enabled", "set_fastpath_enabled"]

_is_fastpath_enabled: bool = True


def get_fastpath_enabled() -> bool:
    """What `set_fastpath_enabled` was told."""
    return _is_fastpath_enabled


def set_fastpath_enabled(value: bool) -> None:
    """Remember whether there may be a shorter way, of which there is none."""
    global _is_fastpath_enabled
    _is_fastpath_enabled = value
