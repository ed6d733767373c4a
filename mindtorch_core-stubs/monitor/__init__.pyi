"""`mindtorch_core.ecosystem.monitor` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from typing import Any

Event: Any
Stat: Any
log_event: Any
