"""Threads that allocate and compute at once, each with a current device of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import mindtorch_core as torch

from ...streams import Stream
from .base import ConformanceBase
from .checks import made, require

__all__ = ["ThreadTests"]

_THREADS = 6


def in_threads(work: Callable[[int], Any], count: int = _THREADS) -> list[Any]:
    """What calls in as many threads return, or the exceptions that they raise."""
    found: list[Any] = [None] * count
    start = threading.Barrier(count, timeout=60)

    def run(i: int) -> None:
        start.wait()
        try:
            found[i] = work(i)
        except Exception as error:  # noqa: BLE001 (the test says which)
            found[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return found


class ThreadTests(ConformanceBase):
    """Several threads use the device."""

    def test_threads_compute(self) -> None:
        """Threads allocate, compute, free and copy without disturbing each other."""

        def work(i: int) -> Any:
            total = made([0.0] * 50, self.device)
            for j in range(25):
                part = made([float(i)] * 50, self.device)
                total = total + part * 2
                total.add_(j % 2)
            return total.tolist()

        for i, found in enumerate(in_threads(work)):
            require(found == [i * 50.0 + 12] * 50, f"thread {i} of {_THREADS} got {found!r:.200}")

    def test_threads_share_a_tensor(self) -> None:
        """Threads read one tensor and see what was written before they started."""
        t = torch.zeros(200, device=self.device)
        for _ in range(20):
            t.add_(1)

        def work(i: int) -> Any:
            return [(t + i).sum().item() for _ in range(10)]

        for i, found in enumerate(in_threads(work)):
            require(found == [200 * (20 + i)] * 10, f"thread {i} read {found!r:.200}")

    def test_threads_have_a_current_device(self) -> None:
        """Setting the device in one thread does not change that of another."""
        runtime, count = self.runtime(), len(self.devices())
        if count < 2:
            pytest.skip(f"there is one {self.device} device")
        before = runtime.current_device()
        everyone_set_it = threading.Barrier(_THREADS, timeout=60)

        def work(i: int) -> Any:
            try:
                runtime.set_device(i % count)
            finally:
                everyone_set_it.wait()
            return [torch.zeros(1, device=self.device).device.index for _ in range(20)]

        for i, found in enumerate(in_threads(work)):
            require(found == [i % count] * 20, f"thread {i} made tensors on devices {found!r:.200}")
        require(runtime.current_device() == before, "threads changed each other's current device")

    def test_threads_have_a_current_stream(self) -> None:
        """Setting the stream in one thread does not change that of another."""
        runtime, on = self.runtime(), self.devices()[0]
        if runtime.stream_type is None:
            pytest.skip(f"{self.device} has no streams")
        main, side = runtime.current_stream(on), Stream(on)
        with side:
            found = in_threads(lambda _: runtime.current_stream(on), 1)[0]
            require(found == main, f"a thread begins on {found}, which another thread has set")
            in_threads(lambda _: runtime.set_stream(main), 1)
            found = runtime.current_stream(on)
            require(found == side, f"another thread changed the current stream to {found}")

    def test_device_context(self) -> None:
        """The current device is where tensors without an index are made; it is restored."""
        runtime, devices = self.runtime(), self.devices()
        if len(devices) < 2:
            pytest.skip(f"there is one {self.device} device")
        before = runtime.current_device()
        try:
            for on in devices:
                runtime.set_device(on.index or 0)
                t = torch.ones(2, device=self.device)
                require(t.device is on, f"with {on} current, a tensor is made on {t.device}")
                require((t + t).device is on, f"the sum of tensors on {on} is elsewhere")
        finally:
            runtime.set_device(before)
