"""`mindtorch_core.ecosystem.backends` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.backends import (
    cusparselt as cusparselt,
    kleidiai as kleidiai,
    mha as mha,
    miopen as miopen,
    mkl as mkl,
    nnpack as nnpack,
    opt_einsum as opt_einsum,
    quantized as quantized,
)
from mindtorch_core.backends import (
    cpu as cpu,
    cuda as cuda,
    cudnn as cudnn,
    mkldnn as mkldnn,
    mps as mps,
    openmp as openmp,
)
