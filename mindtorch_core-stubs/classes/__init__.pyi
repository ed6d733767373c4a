"""`mindtorch_core.ecosystem.classes` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.classes import (
    load_library as load_library,
    loaded_libraries as loaded_libraries,
)
