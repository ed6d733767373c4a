"""`mindtorch_core.ecosystem.ao` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from typing import Any
from mindtorch_core.ao import (
    nn as nn,
    quantization as quantization,
)

