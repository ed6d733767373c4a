"""``torch.profiler``: where a program's time goes, by op and by the blocks that it names."""

from __future__ import annotations

import enum
import json
import os
import socket
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, Self

from ...values.user_warnings import warn_user
from ..accelerator import current_accelerator
from .events import EventList, FunctionEvent, write_chrome_trace
from .recording import Recorder, record_function

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


class ProfilerActivity(enum.Enum):
    """What is to be timed: the host, and, by whatever name of a device, the accelerator."""

    CPU = 0
    XPU = 1
    MTIA = 4
    CUDA = 2
    HPU = 3
    PrivateUse1 = 5


class ProfilerAction(enum.Enum):
    """What a profile does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


_RECORDING: Final = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def supported_activities() -> set[ProfilerActivity]:
    """What can be timed: the host, and the accelerator if the machine has one."""
    found = {ProfilerActivity.CPU}
    on = current_accelerator(check_available=True)
    if on is not None:
        known = {name.lower(): each for name, each in ProfilerActivity.__members__.items()}
        found.add(known.get(on.type, ProfilerActivity.PrivateUse1))
    return found


def kineto_available() -> bool:
    """False: PyTorch's library for traces of devices is not there."""
    return False


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """What to do in each step: wait, warm up, record, and again.

    Args:
        wait: steps in which nothing is done.
        warmup: steps whose record is thrown away.
        active: steps that are recorded.
        repeat: how many times; 0 for as long as the program runs.
        skip_first: steps before the first time.
        skip_first_wait: not 0 to begin the first time without waiting.

    Raises:
        AssertionError: for negative numbers, or nothing to record.
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
            f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warn_user(
            "Profiler won't be using warmup, this can skew profiler results",
        )
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        if repeat and step >= repeat * cycle:
            return ProfilerAction.NONE
        at = step % cycle
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def _has_accelerator() -> bool:
    return current_accelerator(check_available=True) is not None


def _default_schedule_fn(step: int) -> ProfilerAction:
    """Record every step."""
    return ProfilerAction.RECORD


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """What ``on_trace_ready`` may be: it writes each trace into a folder, in a file of its own."""

    def write(prof: profile) -> None:
        Path(dir_name).mkdir(parents=True, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return write


class profile:
    """A block whose ops, forward and backward, are timed; those of the thread that enters it.

    Args:
        activities: what to time; see `ProfilerActivity`.
        schedule: what to do in each step; the program calls `step` after each. By default all is
            recorded.
        on_trace_ready: called with the profile when a record is complete.
        record_shapes: write down the shapes of arguments.
        profile_memory: write down how much memory results take, on the host and on devices.
        with_stack, with_flops, with_modules: taken, and not recorded.
        options: others of PyTorch's, taken and ignored.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        **options: Any,
    ) -> None:
        self.activities = set(activities) if activities else supported_activities()
        self.schedule = schedule or _default_schedule_fn
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_flops = with_flops
        self.with_modules = with_modules
        self.step_num = 0
        self.current_action = self.schedule(0)
        self._metadata: dict[str, Any] = {}
        self._recorder: Recorder | None = None
        self._step: record_function | None = None
        self._events: EventList | None = None

    # ---- time ------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin with the first step."""
        self._turn(None)

    def stop(self) -> None:
        """End; what is being recorded is complete."""
        self._leave_step()
        if self._recorder is not None:
            self._finish()
            if self.on_trace_ready is not None:
                self.on_trace_ready(self)

    def step(self) -> None:
        """Go on to the next step."""
        self._leave_step()
        before, self.step_num = self.current_action, self.step_num + 1
        self.current_action = self.schedule(self.step_num)
        self._turn(before)

    def _turn(self, before: ProfilerAction | None) -> None:
        """Do what the step wants, after another."""
        wanted = self.current_action in _RECORDING
        if self._recorder is not None and (before is ProfilerAction.RECORD_AND_SAVE or not wanted):
            self._finish()
            if before is ProfilerAction.RECORD_AND_SAVE and self.on_trace_ready is not None:
                self.on_trace_ready(self)
        if wanted and self._recorder is None:
            devices = any(each is not ProfilerActivity.CPU for each in self.activities)
            self._recorder = Recorder(
                self.record_shapes, self.profile_memory, devices and _has_accelerator()
            )
            self._recorder.__enter__()
        if self.record_steps:
            self._step = record_function(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()

    def _leave_step(self) -> None:
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None

    def _finish(self) -> None:
        assert self._recorder is not None
        self._recorder.__exit__(None, None, None)
        spans = sorted(self._recorder.spans, key=lambda span: span.start)
        self._events = EventList(FunctionEvent(span) for span in spans)
        self._recorder = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    # ---- what was recorded -----------------------------------------------------------------------

    def events(self) -> EventList:
        """The last record's spans.

        Raises:
            AssertionError: before there is one.
        """
        if self._events is None:
            raise AssertionError(
                "Profiler must be initialized before getting events: nothing is recorded"
            )
        return self._events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, **options: Any
    ) -> EventList:
        """The last record's spans added up by name, and by shapes if asked for."""
        return self.events().key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the last record for Chrome's viewer or Perfetto; ``.gz`` compresses it."""
        write_chrome_trace(path, self.events(), self._metadata)

    def add_metadata(self, key: str, value: str) -> None:
        """Put a text into the traces that are written."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Put JSON into the traces that are written."""
        self._metadata[key] = json.loads(value)

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Put JSON into the traces that are written."""
        self.add_metadata_json(key, value)
