"""A step's time on more ranks: what one computes, replayed with the messages' times of another network."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from .formulas import slowest
from .steps import Message, Step

__all__ = ["Predicted", "predict", "replay"]


@dataclass(frozen=True)
class Predicted:
    """A step on a number of ranks.

    Attributes:
        ranks: how many.
        seconds: of the step.
        compute: of these, computing of the slowest rank.
        waiting: of these, waiting for messages.
        efficiency: the time that one of these ranks computes where nobody keeps it, divided by the step's.
    """

    ranks: int
    seconds: float
    compute: float
    waiting: float
    efficiency: float


def replay(step: Step, time: Callable[[Message], float], stretch: float, overlap: float) -> float:
    """Seconds that a step waits for its messages.

    Messages move one after the other. While the program computes they move on for a share of that time;
    while it waits they move, and nothing else does.

    Args:
        step: what the program did when.
        time: seconds of a message.
        stretch: by what its computing is longer.
        overlap: the share, 0 to 1.
    """
    lane: deque[list[float]] = deque()
    waited, clock = 0.0, 0.0
    for event in step.events:
        _move(lane, max(event.at - clock, 0.0) * step.running * stretch * overlap)
        clock = max(clock, event.at)
        if event.kind == "queue":
            lane.append([float(event.message), time(step.messages[event.message])])
        else:
            clock += event.blocked
            if any(number == event.message for number, _ in lane):
                while lane:
                    number, left = lane.popleft()
                    waited += left
                    if number == event.message:
                        break
    return waited


def _move(lane: deque[list[float]], seconds: float) -> None:
    """Let what is on its way go on for a while."""
    while lane and seconds > 0:
        gone = min(lane[0][1], seconds)
        lane[0][1] -= gone
        seconds -= gone
        if lane[0][1] <= 0:
            lane.popleft()


def predict(
    step: Step,
    ranks: int,
    time: Callable[[Message], float],
    *,
    spread: float,
    overlap: float,
    lost: float = 0.0,
) -> Predicted:
    """What a step of one rank becomes.

    Args:
        step: of a rank that waits for nobody.
        ranks: how many there are.
        time: seconds of a message at so many ranks.
        spread: how far ranks' times of computing stray, as a share.
        overlap: see `replay`.
        lost: seconds in which the slowest rank is ready and has no core.
    """
    stretch = slowest(ranks, spread)
    waiting = replay(step, time, stretch, overlap)
    compute = step.compute * stretch
    seconds = compute + waiting + lost
    return Predicted(ranks, seconds, compute, waiting, step.compute / seconds if seconds else 1.0)
