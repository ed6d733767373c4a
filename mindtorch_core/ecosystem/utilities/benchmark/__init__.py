"""``torch.utils.benchmark``: how long statements take, measured with care and compared in tables."""

from __future__ import annotations

from .utils.common import (
    Measurement,
    TaskSpec,
    select_unit,
    set_torch_threads,
    trim_sigfig,
    unit_to_english,
)
from .utils.compare import Compare
from .utils.timer import Language, Timer, timer

__all__ = [
    "Compare", "Language", "Measurement", "TaskSpec", "Timer", "select_unit", "set_torch_threads", "timer",
    "trim_sigfig", "unit_to_english",
]  # fmt: skip
