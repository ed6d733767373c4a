"""Whether there is Arm's library of numerical kernels: no."""

__all__ = ["is_available"]


def is_available() -> bool:
    """False: kernels here are NumPy's."""
    return False
