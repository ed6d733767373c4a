"""`mindtorch_core.ecosystem.utilities.cpp_extension` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.utilities.cpp_extension import (
    BuildExtension as BuildExtension,
    CUDAExtension as CUDAExtension,
    CppExtension as CppExtension,
    load as load,
    load_inline as load_inline,
)
