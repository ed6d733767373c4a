"""`mindtorch_core.ecosystem.profiler` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.profiler import (
    ProfilerAction as ProfilerAction,
    ProfilerActivity as ProfilerActivity,
    kineto_available as kineto_available,
    profile as profile,
    record_function as record_function,
    schedule as schedule,
    supported_activities as supported_activities,
    tensorboard_trace_handler as tensorboard_trace_handler,
)
from mindtorch_core.profiler import (
    profiler as profiler,
)
