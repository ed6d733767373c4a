"""``torch.__config__``: what this build is made of."""

from __future__ import annotations

from ..values.threads import get_num_threads
from .version import __version__

__all__ = ["parallel_info", "show"]


def show() -> str:
    """A line that names mindtorch: there are no settings of a compiler."""
    return f"mindtorch {__version__}: Python, kernels by the backends that are installed\n"


def parallel_info() -> str:
    """How many threads an op may use."""
    return f"torch.get_num_threads() : {get_num_threads()}\n"
