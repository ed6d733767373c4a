"""Queued work: reading waits for it, its memory is kept, streams and events order it."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch_core as torch

from ...streams import Stream
from ..comparison import outcome
from .base import ConformanceBase
from .checks import made, require

__all__ = ["QueueTests"]

_N = 64


class QueueTests(ConformanceBase):
    """A device may be asynchronous as long as nobody notices."""

    def _work(self, rounds: int = 40) -> Any:
        """A chain of ops, long enough not to be done at once; each element becomes ``rounds``."""
        t = torch.zeros(_N, _N, device=self.device)
        for _ in range(rounds):
            t = t + 1
        return t

    def test_reading_waits(self) -> None:
        """Every way to the host waits for the work before it."""
        for what, read in (
            ("tolist()", lambda t: t[0].tolist()[0]),
            ("item()", lambda t: t[0, 0].item()),
            ("bool()", lambda t: 40 if bool(t[0, 0] == 40) else None),
            ("nonzero()", lambda t: 40 if len((t == 40).nonzero().tolist()) == _N * _N else None),
            ("to_host", lambda t: memoryview(self.runtime().to_host(t)).cast("B").cast("f")[0]),
        ):
            found = read(self._work())
            require(found == 40, f"{what} does not wait for queued work: it read {found}, not 40")

    def test_synchronize(self) -> None:
        """After ``synchronize`` queued work is done on all streams, for one device and for all."""
        runtime, on = self.runtime(), self.devices()[0]
        streams = [runtime.default_stream(on)]
        if runtime.stream_type is not None:
            streams.append(Stream(on))
        for wanted, call in ((None, "synchronize()"), (on, f"synchronize({on})")):
            results = []
            for stream in streams:
                with stream:
                    results.append(self._work())
            marks = [s.record_event() for s in streams] if runtime.event_type is not None else []
            runtime.synchronize(wanted)
            for stream in streams:
                require(stream.query(), f"{call} does not wait: work is left on {stream}")
            require(all(m.query() for m in marks), f"{call} does not wait: events are not passed")
            for t in results:
                require(t.sum().item() == 40 * _N * _N, f"work is missing after {call}")

    def test_order(self) -> None:
        """Ops run in program order: in-place writes, reads before and after them, and copies."""
        t = torch.zeros(_N, device=self.device)
        seen = []
        for i in range(30):
            seen.append(t.clone())
            t.add_(1)
            t.mul_(1)
            if i % 10 == 9:
                t.copy_(made([i + 1.0] * _N, self.device))
        found = [each.tolist()[0] for each in seen]
        require(found == list(range(30)), f"reads and writes of one tensor changed places: {found}")

    def test_freed_memory_with_queued_work(self) -> None:
        """Memory of a tensor that dies while work on it is queued is not reused too early."""
        kept = []
        for i in range(60):
            scratch = made([float(i)] * _N, self.device)
            kept.append(scratch + 0)
            del scratch
            made([-1.0] * _N, self.device).add_(1)
        wrong = [i for i, t in enumerate(kept) if t.tolist() != [float(i)] * _N]
        require(not wrong, f"{len(wrong)} of 60 results were computed from memory that was reused")

    def test_default_stream(self) -> None:
        """The current stream is the default one; it is done after it was waited for."""
        runtime, on = self.runtime(), self.devices()[0]
        stream = runtime.current_stream(on)
        require(isinstance(stream, Stream), f"current_stream gave {type(stream).__name__}")
        require(
            stream == runtime.default_stream(on), "a thread does not begin on the default stream"
        )
        require(stream.device is on, f"the default stream of {on} is on {stream.device}")
        self._work()
        stream.synchronize()
        require(stream.query(), "a stream that was waited for says that work is left")

    def test_streams(self) -> None:
        """Work on a stream of its own is seen by others that wait for it."""
        if self.runtime().stream_type is None:
            pytest.skip(f"{self.device} has no streams")
        on = self.devices()[0]
        side, main = Stream(on), self.runtime().current_stream(on)
        base = self._work()
        side.wait_stream(main)
        with side:
            require(self.runtime().current_stream(on) == side, "the stream is not the current one")
            result = base * 2
            for _ in range(20):
                result = result + 1
        require(self.runtime().current_stream(on) == main, "leaving a stream does not go back")
        main.wait_stream(side)
        require((result + 0)[0, 0].item() == 100, "one stream does not wait for another")
        require(Stream(on) != side, "two streams are one")

    def test_events(self) -> None:
        """An event is passed when the work before it is done; two of them measure time."""
        if self.runtime().event_type is None:
            found = outcome(lambda: torch.Event(self.device).record())
            require(
                isinstance(found, RuntimeError),
                f"there are no events, yet one is recorded: {found}",
            )
            return
        events = [torch.Event(self.device, enable_timing=True) for _ in range(2)]
        require(events[0].query(), "an event that was not recorded is not passed")
        events[0].record()
        t = self._work()
        events[1].record()
        events[1].synchronize()
        require(events[0].query() and events[1].query(), "synchronize() returned too early")
        elapsed = events[0].elapsed_time(events[1])
        require(elapsed >= 0, f"{elapsed} milliseconds passed")
        require(t[0, 0].item() == 40, "the work before an event is not done")

    def test_events_order_streams(self) -> None:
        """Events and their stream agree on what is done; another stream waits for an event."""
        if None in (self.runtime().event_type, self.runtime().stream_type):
            pytest.skip(f"{self.device} has no streams and events")
        side = Stream(self.devices()[0])
        with side:
            later = self._work()
        mark = side.record_event()  # the last of its stream: they are done together
        passed = mark.query()
        require(side.query() or not passed, "an event says that it is passed while work is left")
        done = side.query()
        require(mark.query() or not done, "a stream says that it is done before its last event is")
        mark.synchronize()
        require(side.query(), "synchronize() of an event returns while work before it is left")
        with side:
            later = later + self._work()
        side.record_event().wait()
        require((later + 1)[0, 0].item() == 81, "a stream does not wait for an event")

    def test_memory_on_two_streams(self) -> None:
        """Memory used on a second stream stays until that stream is done with it."""
        if self.runtime().stream_type is None:
            pytest.skip(f"{self.device} has no streams")
        on = self.devices()[0]
        main, side = self.runtime().current_stream(on), Stream(on)
        kept = []
        for i in range(30):
            t = made([float(i)] * _N, self.device)
            side.wait_stream(main)
            with side:
                kept.append(t + 0)
                t.record_stream(side)
            del t
            made([-1.0] * _N, self.device)
        main.wait_stream(side)
        wrong = [i for i, t in enumerate(kept) if t.tolist() != [float(i)] * _N]
        require(not wrong, f"{len(wrong)} of 30 results were computed from memory that was reused")
