"""`mindtorch_core.ecosystem.autograd_profiler` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.autograd_profiler import (
    EventList as EventList,
    FunctionEvent as FunctionEvent,
    FunctionEventAvg as FunctionEventAvg,
    profile as profile,
    record_function as record_function,
)
