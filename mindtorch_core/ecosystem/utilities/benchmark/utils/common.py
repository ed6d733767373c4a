"""What was measured, and of which statement."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final

__all__ = [
    "Measurement", "TaskSpec", "ordered_unique", "select_unit", "set_torch_threads", "trim_sigfig",
    "unit_to_english",
]  # fmt: skip

_UNITS: Final = (("ns", 1e-9, "nanosecond"), ("us", 1e-6, "microsecond"), ("ms", 1e-3, "millisecond"),
                 ("s", 1.0, "second"))  # fmt: skip
_WIDE: Final = 0.1  # a spread above this share of the median is worth a warning
_WIDER: Final = 0.25


def select_unit(t: float) -> tuple[str, float]:
    """The unit in which seconds are shown, and how long that is."""
    fitting = [(name, size) for name, size, _ in _UNITS if t >= size]
    return fitting[-1] if fitting else _UNITS[0][:2]


def unit_to_english(u: str) -> str:
    """The word for a unit."""
    return {name: word for name, _, word in _UNITS}[u]


def trim_sigfig(x: float, n: int) -> float:
    """A number with so many significant digits."""
    if x == 0:
        return 0.0
    scale = 10 ** (math.floor(math.log10(abs(x))) + 1 - n)
    return float(round(x / scale) * scale)


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """Each element once, in the order in which they come."""
    return list(dict.fromkeys(elements))


@contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """A block in which ops use so many threads."""
    import mindtorch_core as torch

    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True)
class TaskSpec:
    """What is measured: a statement, what stands before it, and how tables name it."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """Its name: the labels, or the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        lines = self.stmt.splitlines()
        return self.stmt if len(lines) == 1 else "\n".join(["stmt:", *(f"  {x}" for x in lines)])

    def setup_str(self) -> str:
        """What stands before it, as a text of its own lines."""
        if self.setup in ("", "pass"):
            return ""
        lines = self.setup.splitlines()
        return (
            f"setup: {lines[0]}"
            if len(lines) == 1
            else "\n".join(["setup:", *(f"  {x}" for x in lines)])
        )

    def summarize(self) -> str:
        """Name, description and setup."""
        return "\n".join(filter(None, [self.title, self.description, self.setup_str()]))


class Measurement:
    """Times of a statement.

    Args:
        number_per_run: how often it ran for each time.
        raw_times: seconds.
        task_spec: what was measured.
        metadata: anything.
    """

    def __init__(
        self,
        number_per_run: int,
        raw_times: Sequence[float],
        task_spec: TaskSpec,
        metadata: dict[Any, Any] | None = None,
    ) -> None:
        self.number_per_run = number_per_run
        self.raw_times = list(raw_times)
        self.task_spec = task_spec
        self.metadata = metadata

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in TaskSpec.__dataclass_fields__:
            return getattr(self.task_spec, name)
        raise AttributeError(name)

    title = property(lambda self: self.task_spec.title, doc="Its name.")
    num_threads = property(lambda self: self.task_spec.num_threads, doc="How many threads it used.")

    @cached_property
    def times(self) -> list[float]:
        """Seconds of one run of the statement."""
        return [t / self.number_per_run for t in self.raw_times]

    def _known(self) -> list[float]:
        if not self.raw_times:
            raise ValueError("Measurement has no times: nothing was run")
        return self.times

    @property
    def median(self) -> float:
        """Median of the seconds."""
        return statistics.median(self._known())

    @property
    def mean(self) -> float:
        """Mean of the seconds."""
        return statistics.fmean(self._known())

    def _quartiles(self) -> tuple[float, float]:
        times = sorted(self._known())

        def at(share: float) -> float:
            place = share * (len(times) - 1)
            low = int(place)
            rest = times[min(low + 1, len(times) - 1)] - times[low]
            return times[low] + rest * (place - low)

        return at(0.25), at(0.75)

    @property
    def iqr(self) -> float:
        """Seconds between the first and the third quartile."""
        low, high = self._quartiles()
        return high - low

    @property
    def significant_figures(self) -> int:
        """How many digits of the median the spread leaves, from 1 to 5.

        The interval of 95 % that a normal distribution of such quartiles would give, for the mean.
        """
        n = len(self._known())
        spread = max(self.iqr * 1.645 / 1.349 / math.sqrt(n), 1e-300)
        relative = math.log10(self.median / spread) if self.median else 0
        return max(1, min(5, math.floor(relative)))

    @property
    def has_warnings(self) -> bool:
        """Whether the spread is wide."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = _WIDE) -> bool:
        """Whether the quartiles are nearer to each other than this share of the median."""
        return self.iqr / self.median < threshold

    @property
    def as_row_name(self) -> str:
        """Its row's name in a table."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """One for each statement, with all its times."""
        groups: dict[TaskSpec, list[Measurement]] = {}
        for each in measurements:
            groups.setdefault(each.task_spec, []).append(each)
        return [
            Measurement(1, [t for each in found for t in each.times], spec)
            for spec, found in groups.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """All of it in plain values."""
        return {
            "number_per_run": self.number_per_run,
            "raw_times": self.raw_times,
            "task_spec": asdict(self.task_spec),
            "metadata": self.metadata,
        }

    def __repr__(self) -> str:
        head = [f"<{type(self).__module__}.{type(self).__name__} object at {id(self):#x}>"]
        head.append(self.task_spec.summarize())
        if not self.raw_times:
            return "\n".join([*head, "  no measurements"])
        unit, size = select_unit(self.median)

        def shown(t: float) -> str:
            return f"{trim_sigfig(t / size, max(self.significant_figures, 3)):.4g}"

        count, runs = len(self.times), self.number_per_run
        name = "Median" if count > 1 else "Time"
        head.append(f"  {name}: {shown(self.median)} {unit}")
        if count > 3:
            low, high = self._quartiles()
            head.append(f"  IQR:    {shown(self.iqr)} {unit} ({shown(low)} to {shown(high)})")
        plural = [
            f"{n} {what}{'s' * (n > 1)}" for n, what in ((count, "measurement"), (runs, "run"))
        ]
        threads = f"{self.num_threads} thread{'s' * (self.num_threads > 1)}"
        head.append(
            f"  {plural[0]}, {plural[1]} {'per measurement, ' if count > 1 else ', '}{threads}"
        )
        share = self.iqr / self.median if self.median else 0.0
        if count > 3 and share > _WIDE:
            extent = "very wide" if share > _WIDER else "wide"
            head.append(f"  WARNING: the spread is {extent}: {share:.0%} of the median")
        return "\n".join(head)
