"""Whether Apple's graphics processors can be used: no."""

__all__ = ["is_available", "is_built", "is_macos13_or_newer", "is_macos_or_newer"]


def is_built() -> bool:
    """False: nothing was built for them."""
    return False


def is_available() -> bool:
    """False: no backend here serves them."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """False: the question is only asked of such devices."""
    return False


def is_macos13_or_newer(minor: int = 0) -> bool:
    """False: the question is only asked of such devices."""
    return False
