"""`mindtorch_core.ecosystem.profiler.profiler` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.profiler.profiler import (
    ProfilerAction as ProfilerAction,
    _default_schedule_fn as _default_schedule_fn,
    profile as profile,
    schedule as schedule,
    tensorboard_trace_handler as tensorboard_trace_handler,
)
