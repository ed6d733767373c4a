"""What PyTorch's pickles call the functions of `torch.fft`."""

from ._functions import functions_of

__getattr__ = functions_of("fft")
