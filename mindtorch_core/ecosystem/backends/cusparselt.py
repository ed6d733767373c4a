"""Whether there is CUDA's library for matrices with two of four elements zero: no."""

__all__ = ["get_max_alg_id", "is_available", "version"]


def is_available() -> bool:
    """False: there is no such library."""
    return False


def version() -> int | None:
    """None: there is no such library."""
    return None


def get_max_alg_id() -> int | None:
    """None: there is no such library."""
    return None
