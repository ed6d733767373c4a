"""`mindtorch_core.ecosystem.return_types` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.return_types import *
from typing import Any

def __getattr__(name: str) -> Any: ...
