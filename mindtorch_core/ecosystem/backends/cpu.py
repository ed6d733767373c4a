"""What the processor offers."""

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """``DEFAULT``: no kernels here are compiled for a processor's own instructions."""
    return "DEFAULT"
