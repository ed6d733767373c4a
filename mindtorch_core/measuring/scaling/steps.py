"""A training step as a rank has noted it: when it sent what, and how long it waited for that."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = [
    "LEAST",
    "Event",
    "Message",
    "Step",
    "compute_spread",
    "lost_by_the_slowest",
    "read_steps",
    "typical",
]

# Steps that a script must take: the first ones are warm-up, and a median wants three.
LEAST: Final = 5
_NORMAL: Final = (
    1.4826  # from the median of absolute deviations to a normal distribution's deviation
)


@dataclass(frozen=True)
class Message:
    """A collective call.

    Attributes:
        op: ``all_reduce``, ``all_gather``, ``reduce_scatter``, ``broadcast`` or another.
        bytes: of the whole: what is reduced, the gathered output, the input that is scattered.
    """

    op: str
    bytes: int


@dataclass(frozen=True)
class Event:
    """Something that the program did with a message.

    Attributes:
        kind: ``queue``, or ``wait`` for having waited for it.
        message: which of the step's, from 0.
        at: when it began, in seconds after the step's beginning.
        blocked: how long it waited, in seconds.
    """

    kind: str
    message: int
    at: float
    blocked: float = 0.0


@dataclass(frozen=True)
class Step:
    """One step: from the end of an optimizer's step to the end of the next.

    Attributes:
        seconds: how long it took.
        messages: in the order in which they were queued.
        events: in the order of time.
        lost: of the time outside of waiting, in how much the program was ready and had no core.
        late: the same within waiting, such as from a message's end to the program's going on.
    """

    seconds: float
    messages: tuple[Message, ...] = ()
    events: tuple[Event, ...] = ()
    lost: float = 0.0
    late: float = 0.0

    @property
    def compute(self) -> float:
        """Seconds in which it did not wait, for messages or for a core."""
        return max(self.seconds - sum(event.blocked for event in self.events) - self.lost, 0.0)

    @property
    def running(self) -> float:
        """The share of computing in the time in which it did not wait for messages."""
        return self.compute / (self.compute + self.lost) if self.lost else 1.0

    @property
    def bytes(self) -> int:
        """What it sent, over all messages."""
        return sum(message.bytes for message in self.messages)

    def resembles(self, other: Step, limit: float) -> bool:
        """Whether it computes as long, up to a share, and sends as much."""
        return (
            self.bytes == other.bytes and abs(self.compute - other.compute) <= limit * other.compute
        )


def read_steps(report: Mapping[str, Any]) -> list[Step]:
    """The steps of a rank's report, without the two that warm up.

    Raises:
        ValueError: if there are fewer than `LEAST`.
    """
    rows = report["steps"]
    if len(rows) < LEAST:
        raise ValueError(
            f"the script has taken {len(rows)} optimizer steps: a prediction wants {LEAST} or more"
        )
    return [
        Step(
            row["seconds"],
            tuple(Message(op, count) for op, count in row["messages"]),
            tuple(Event(*event) for event in row["events"]),
            row.get("lost", 0.0),
            row.get("late", 0.0),
        )
        for row in rows[2:]
    ]


def typical(steps: Sequence[Step]) -> Step:
    """The step whose time of computing is in the middle."""
    return sorted(steps, key=lambda step: step.compute)[(len(steps) - 1) // 2]


def lost_by_the_slowest(ranks: Sequence[Sequence[Step]]) -> float:
    """The middle, over steps, of what the rank lost that came last: the others wait for it."""
    last = [
        max(row, key=lambda step: step.compute + step.lost) for row in zip(*ranks, strict=False)
    ]
    return float(statistics.median(step.lost + step.late for step in last))


def compute_spread(ranks: Sequence[Sequence[Step]]) -> float:
    """How far times of computing stray, over ranks and steps: a share of the median.

    Outliers, such as a step that saves a file, do not count.
    """
    times = [step.compute for steps in ranks for step in steps]
    middle = statistics.median(times)
    if not middle:
        return 0.0
    return _NORMAL * statistics.median(abs(each - middle) for each in times) / middle
