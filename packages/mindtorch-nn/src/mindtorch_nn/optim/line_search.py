"""A line search for Wolfe's strong conditions (Nocedal and Wright, algorithms 3.5 and 3.6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import mindtorch_core as torch

__all__ = ["Point", "strong_wolfe"]

_CONDITIONS: Final = (1e-4, 0.9)  # by how much the loss falls, and the slope is left


class Point(NamedTuple):
    """A place on the line.

    Attributes:
        t: how far along the direction.
        loss: the function there.
        gradient: its gradient.
        slope: the gradient along the direction.
    """

    t: Any
    loss: Any
    gradient: Any
    slope: Any

    def kept(self) -> Point:
        """The same point, with a gradient of its own."""
        copy = self.gradient.clone(memory_format=torch.contiguous_format)
        return self._replace(gradient=copy)


def _interpolated(a: Point, b: Point, bounds: tuple[Any, Any] | None = None) -> Any:
    """The minimum of the cubic through two points with their slopes, within bounds."""
    low, high = bounds or ((a.t, b.t) if a.t <= b.t else (b.t, a.t))
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1**2 - a.slope * b.slope
    if square < 0:
        return (low + high) / 2.0
    d2 = square.sqrt()
    if a.t <= b.t:
        found = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    else:
        found = a.t - (a.t - b.t) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2))
    return min(max(found, low), high)


class _Search:
    """One line search.

    Attributes:
        evaluations: how often the function was computed.
    """

    def __init__(
        self, evaluate: Callable[[Any], tuple[float, Any]], direction: Any, start: Point, most: int,
        tolerance: float, conditions: tuple[float, float],
    ) -> None:  # fmt: skip
        self.armijo, self.curvature = conditions
        self.evaluate, self.direction, self.start = evaluate, direction, start
        self.most, self.tolerance = most, tolerance
        self.evaluations = 0
        self.steps = 0

    def at(self, t: Any) -> Point:
        """The point at a distance."""
        loss, gradient = self.evaluate(t)
        self.evaluations += 1
        return Point(t, loss, gradient, gradient.dot(self.direction))

    def too_high(self, p: Point) -> Any:
        """Whether the function has not fallen enough."""
        return p.loss > self.start.loss + self.armijo * p.t * self.start.slope

    def flat(self, p: Point) -> Any:
        """Whether the slope has become small enough."""
        return abs(p.slope) <= -self.curvature * self.start.slope

    def bracket(self, t: Any) -> list[Point]:
        """One point that satisfies both conditions, or two with such a point between them."""
        before, now = self.start, self.at(t)
        while self.steps < self.most:
            if self.too_high(now) or (self.steps > 1 and now.loss >= before.loss):
                return [before, now.kept()]
            if self.flat(now):
                return [now]
            if now.slope >= 0:
                return [before, now.kept()]
            bounds = now.t + 0.01 * (now.t - before.t), now.t * 10
            t = _interpolated(before, now, bounds)
            before, now = now.kept(), self.at(t)
            self.steps += 1
        return [self.start, now]

    def zoom(self, ends: list[Point]) -> Point:
        """The point between two; the lower of them where the search comes to no end."""
        slow = False
        low, high = (0, 1) if ends[0].loss <= ends[1].loss else (1, 0)
        width = self.direction.abs().max()
        while self.steps < self.most:
            first, last = sorted((ends[0].t, ends[1].t))
            if (last - first) * width < self.tolerance:
                break
            t = _interpolated(ends[0], ends[1])
            margin = 0.1 * (last - first)
            if min(last - t, t - first) < margin:  # too near an end to get ahead
                if slow or t >= last or t <= first:
                    t = last - margin if abs(t - last) < abs(t - first) else first + margin
                    slow = False
                else:
                    slow = True
            else:
                slow = False
            now = self.at(t)
            self.steps += 1
            if self.too_high(now) or now.loss >= ends[low].loss:
                ends[high] = now.kept()
                low, high = (0, 1) if ends[0].loss <= ends[1].loss else (1, 0)
                continue
            done = self.flat(now)
            if not done and now.slope * (ends[high].t - ends[low].t) >= 0:
                ends[high] = ends[low]
            ends[low] = now.kept()
            if done:
                break
        return ends[low]


def strong_wolfe(
    evaluate: Callable[[Any], tuple[float, Any]], t: Any, direction: Any, start: Point,
    *, most: int = 25, tolerance: float = 1e-9, conditions: tuple[float, float] = _CONDITIONS,
) -> tuple[Point, int]:  # fmt: skip
    """Find a point where the function has fallen enough and become flat enough.

    Args:
        evaluate: gives loss and gradient at a distance along the direction.
        t: the first distance to try.
        direction: the direction.
        start: where the line begins.
        most: number of steps at most.
        tolerance: width of a bracket that is not worth dividing.
        conditions: by which factors the loss has fallen enough, and the slope is small enough.

    Returns:
        The point, and how often the function was computed.
    """
    search = _Search(evaluate, direction, start.kept(), most, tolerance, conditions)
    ends = search.bracket(t)
    return ends[0] if len(ends) == 1 else search.zoom(ends), search.evaluations


# ---- the names that libraries take ---------------------------------------------------------------


def _cubic_interpolate(
    x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: Any = None
) -> Any:
    return _interpolated(Point(x1, f1, None, g1), Point(x2, f2, None, g2), bounds)


def _strong_wolfe(
    obj_func: Callable[..., Any], x: Any, t: Any, d: Any, f: Any, g: Any, gtd: Any,
    c1: float = 1e-4, c2: float = 0.9, tolerance_change: float = 1e-9, max_ls: int = 25,
) -> tuple[Any, Any, Any, int]:  # fmt: skip
    found, computed = strong_wolfe(
        lambda t: obj_func(x, t, d), t, d, Point(0, f, g, gtd),
        most=max_ls, tolerance=tolerance_change, conditions=(c1, c2),
    )  # fmt: skip
    return found.loss, found.gradient, found.t, computed
