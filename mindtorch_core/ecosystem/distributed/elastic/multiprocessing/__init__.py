"""``torch.distributed.elastic.multiprocessing``: errors and lines of processes that a launcher starts."""

from __future__ import annotations

from ....absent import names_of
from .api import DefaultLogsSpecs, LogsDest, LogsSpecs, SignalException, Std, to_map
from .errors import ProcessFailure

__all__ = [
    "DefaultLogsSpecs",
    "LogsDest",
    "LogsSpecs",
    "ProcessFailure",
    "SignalException",
    "Std",
    "to_map",
]

__getattr__ = names_of(__name__)
