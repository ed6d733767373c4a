"""`mindtorch_core.ecosystem.futures` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from typing import Any

Future: Any
collect_all: Any
wait_all: Any
