"""Discrete Fourier transforms: the functions of ``torch.fft``, each defined with its op."""

from .operators.namespaces import serve

__getattr__, __dir__ = serve("fft", globals())
