"""Times of a collective call that were measured at some sizes, and those between them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping

__all__ = ["TimeTable"]


class TimeTable:
    """Seconds by bytes; straight lines between the measured points where both are logarithms.

    Below the smallest size the time is that of the smallest. Above the largest it grows as the largest
    two do, but never faster than the size. A longer time of a smaller size is noise: times never fall.

    Args:
        points: measured seconds by bytes, which are positive.

    Raises:
        ValueError: if there is no point, or one is not positive.
    """

    def __init__(self, points: Mapping[int, float]) -> None:
        if not points or min(points) <= 0 or min(points.values()) <= 0:
            raise ValueError("a table of times wants points, of positive sizes and times")
        self._sizes = sorted(points)
        self._times: list[float] = []
        lowest = math.inf
        for size in reversed(self._sizes):
            lowest = min(lowest, points[size])
            self._times.append(lowest)
        self._times.reverse()

    def __call__(self, size: float) -> float:
        """Seconds for a number of bytes."""
        sizes, times = self._sizes, self._times
        if size <= sizes[0] or len(sizes) == 1:
            return times[0] * max(size / sizes[0], 1.0)
        if size > sizes[-1]:
            slope = min(self._slope(len(sizes) - 1), 1.0)
            return times[-1] * math.pow(size / sizes[-1], slope)
        i = bisect_left(sizes, size)
        if size == sizes[i]:
            return times[i]
        return times[i - 1] * math.pow(size / sizes[i - 1], self._slope(i))

    def _slope(self, i: int) -> float:
        """Of the line that ends in a point."""
        rise = math.log(self._times[i] / self._times[i - 1])
        return rise / math.log(self._sizes[i] / self._sizes[i - 1])
