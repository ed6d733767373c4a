"""`mindtorch_core.ecosystem.ao.nn` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from typing import Any

