"""Discrete Fourier transforms: the functions of ``torch.fft``, each defined with its op."""

from typing import TYPE_CHECKING

from .opdefs.namespaces import serve

if TYPE_CHECKING:
    from .stubs.fft import *  # noqa: F403
else:
    __getattr__, __dir__ = serve("fft", globals())
