"""`Timer`: measures a statement, as ``timeit`` does, with the device's queues waited for."""

from __future__ import annotations

import enum
import timeit
from collections.abc import Callable
from typing import Any, Final, NoReturn

from ....accelerator import is_available, synchronize
from .common import Measurement, TaskSpec, set_torch_threads

__all__ = ["Language", "Timer", "timer"]


class Language(enum.Enum):
    """What a statement is written in. Only Python can be measured."""

    PYTHON = 0
    CPP = 1


def timer() -> float:
    """Seconds, when what the accelerator was given is done."""
    if is_available():
        synchronize()
    return timeit.default_timer()


_SMALL_SHARE: Final = (
    10_000  # a reading of the clock should be no more of a run's time than 1 in these
)


class Timer:
    """Measures a statement.

    Args:
        stmt: what is measured.
        setup: what runs before, once for each time that is taken.
        global_setup: refused: it is for C++.
        timer: a clock in seconds; by default one that waits for the accelerator.
        globals: the names that the statement sees; ``torch`` is added.
        label, sub_label, description, env: for tables.
        num_threads: how many threads ops use.
        language: Python.

    Raises:
        NotImplementedError: for a statement in C++.
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language not in (Language.PYTHON, "py", "python"):
            raise NotImplementedError("Timer measures Python: mindtorch compiles no C++")
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be "
                f"moved to `setup`."
            )
        import mindtorch_core

        names = {"torch": mindtorch_core, **(globals or {})}
        stmt, setup = (_unindented(text) for text in (stmt, setup))
        self._timer = timeit.Timer(stmt, setup, timer, names)
        self._clock = timer
        self._task_spec = TaskSpec(
            stmt, setup, global_setup, label, sub_label, description, env, num_threads
        )

    def _run(self, number: int) -> float:
        """Seconds of so many runs."""
        with set_torch_threads(self._task_spec.num_threads):
            return max(self._timer.timeit(number), 1e-9)

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._task_spec)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Measure one time, of so many runs."""
        self._run(max(number // 100, 2))  # the first are slower
        return self._measured(number, [self._run(number)])

    def repeat(self, repeat: int = -1, number: int = -1) -> NoReturn:
        """Refuse, as PyTorch does.

        Raises:
            NotImplementedError: always; see `blocked_autorange`.
        """
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Callable[[int, float], NoReturn] | None = None) -> NoReturn:
        """Refuse, as PyTorch does.

        Raises:
            NotImplementedError: always; see `blocked_autorange`.
        """
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _block(self, min_run_time: float) -> int:
        """How many runs make a time against which reading the clock is nothing."""
        clock = sorted(timeit.Timer("c()", globals={"c": self._clock}).repeat(5, 1))[2]
        number = 1
        while True:
            taken = self._run(number)
            if clock / taken <= 1 / _SMALL_SHARE and taken >= min_run_time / 1000:
                return number
            if taken > min_run_time:
                return number
            number *= 10

    def blocked_autorange(
        self,
        callback: Callable[[int, float], Any] | None = None,
        min_run_time: float = 0.2,
    ) -> Measurement:
        """Measure for so many seconds at least, in blocks of runs.

        Args:
            callback: told the runs and the seconds of each block.
            min_run_time: seconds.
        """
        number = self._block(min_run_time)
        times: list[float] = []
        while sum(times) < min_run_time or not times:
            times.append(self._run(number))
            if callback is not None:
                callback(number, times[-1])
        return self._measured(number, times)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """Measure until the quartiles are nearer than a share of the median, or time is over."""
        number = self._block(min_run_time)
        times: list[float] = []
        while sum(times) < max_run_time:
            times.append(self._run(number))
            if callback is not None:
                callback(number, times[-1])
            made = self._measured(number, times)
            if len(times) > 3 and sum(times) >= min_run_time and made.meets_confidence(threshold):
                break
        return self._measured(number, times)

    def collect_callgrind(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "Timer.collect_callgrind is not part of mindtorch: run the program under valgrind yourself"
        )


def _unindented(text: str) -> str:
    """A text without the indentation that all its lines have, nor empty lines around."""
    import textwrap

    return textwrap.dedent(text).strip("\n")
