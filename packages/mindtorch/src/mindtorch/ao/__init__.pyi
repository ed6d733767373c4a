"""`mindtorch_core.ao` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ao import *
from mindtorch_core.ao import (
    nn as nn,
    quantization as quantization,
)
