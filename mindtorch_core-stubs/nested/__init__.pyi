"""`mindtorch_core.ecosystem.nested` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from typing import Any

as_nested_tensor: Any
narrow: Any
nested_tensor: Any
nested_tensor_from_jagged: Any
