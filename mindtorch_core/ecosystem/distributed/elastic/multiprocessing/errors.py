"""``torch.distributed.elastic.multiprocessing.errors``: how a launcher tells of processes that failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["ChildFailedError", "ProcessFailure", "record"]

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass
class ProcessFailure:
    """How one process failed.

    Attributes:
        local_rank: its rank on this machine.
        pid: its id.
        exitcode: its exit status, or the negative number of a signal.
        error_file: where it wrote about it.
        message: what it said.
    """

    local_rank: int
    pid: int
    exitcode: int
    error_file: str = "<N/A>"
    message: str = ""


class ChildFailedError(Exception):
    """A process that a launcher has started failed.

    Attributes:
        name: of the script.
        failures: by rank, where they are known.
        exitcode: the first failure's.
    """

    def __init__(
        self, name: str, failures: Mapping[int, ProcessFailure], exitcode: int | None = None
    ) -> None:
        self.name, self.failures = name, dict(failures)
        first = next(iter(self.failures.values()), None)
        self.exitcode = first.exitcode if exitcode is None and first else exitcode
        super().__init__(f"{name} FAILED: exit status {self.exitcode}; what it said stands above")

    def get_first_failure(self) -> tuple[int, ProcessFailure]:
        """Rank and failure of the one that failed first.

        Raises:
            IndexError: if none is known.
        """
        if not self.failures:
            raise IndexError("which process failed stands in the output")
        return next(iter(self.failures.items()))


def record(fn: Function, error_handler: Any = None) -> Function:
    """Mark a script's main function. The launcher shows its exceptions without that, so it is as it was."""
    return fn
