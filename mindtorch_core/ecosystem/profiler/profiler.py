"""``torch.profiler.profiler``: PyTorch's path of the same names."""

from . import ProfilerAction, _default_schedule_fn, profile, schedule, tensorboard_trace_handler

__all__ = [
    "ProfilerAction",
    "_default_schedule_fn",
    "profile",
    "schedule",
    "tensorboard_trace_handler",
]
