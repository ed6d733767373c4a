"""`mindtorch_core.ecosystem.futures` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.futures import (
    Future as Future,
    collect_all as collect_all,
    wait_all as wait_all,
)
