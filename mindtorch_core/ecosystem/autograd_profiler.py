"""``torch.autograd.profiler``: the profiler's interface of old."""

from __future__ import annotations

import os
from typing import Any, Self

from .absent import names_of
from .profiler import profile as _profile
from .profiler.events import EventList, FunctionEvent, FunctionEventAvg
from .profiler.recording import profiled, record_function

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "profile", "record_function"]

__getattr__ = names_of(__name__)


def _profiler_enabled() -> bool:
    """Whether a profile of this thread is being taken."""
    return profiled()


def _disable_profiler() -> None:
    """Refuse: a profile ends with its block.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError("a profile ends where its block does: leave the block, or call stop()")


class profile:
    """A block whose ops are timed, as by `torch.profiler.profile` without a schedule.

    Args:
        enabled: False for a block that is not timed.
        record_shapes: write down the shapes of arguments.
        profile_memory: write down how much memory results take.
        options: others of PyTorch's, taken and ignored.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        record_shapes: bool = False,
        profile_memory: bool = False,
        **options: Any,
    ) -> None:
        self.enabled = enabled
        self._inner = _profile(record_shapes=record_shapes, profile_memory=profile_memory)

    def __enter__(self) -> Self:
        if self.enabled:
            self._inner.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self.enabled:
            self._inner.stop()

    def __repr__(self) -> str:
        return repr(self._inner.events())

    def __str__(self) -> str:
        return str(self._inner.events())

    @property
    def function_events(self) -> EventList:
        """The spans."""
        return self._inner.events()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all ops."""
        return self._inner.events().self_cpu_time_total

    def key_averages(self, group_by_input_shape: bool = False, **options: Any) -> EventList:
        """The spans added up by name, and by shapes if asked for."""
        return self._inner.key_averages(group_by_input_shape)

    def total_average(self) -> FunctionEventAvg:
        """All spans added up."""
        return self._inner.events().total_average()

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """The spans as text."""
        return self._inner.events().table(sort_by, row_limit, **options)

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the spans for Chrome's viewer or Perfetto."""
        self._inner.export_chrome_trace(path)
