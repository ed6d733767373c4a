"""`mindtorch_core.signal.windows` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.signal.windows import (
    bartlett as bartlett,
    blackman as blackman,
    cosine as cosine,
    exponential as exponential,
    gaussian as gaussian,
    general_cosine as general_cosine,
    general_hamming as general_hamming,
    hamming as hamming,
    hann as hann,
    kaiser as kaiser,
    nuttall as nuttall,
)
