"""What PyTorch's pickles call the functions of `torch.linalg`."""

from ._functions import functions_of

__getattr__ = functions_of("linalg")
