"""Who moves an engine's calls on: one thread at a time does so for all of them.

It is for engines that ask their library again and again whether something has happened.

A task is a generator that yields while it waits: True while data moves, False while it waits for other
ranks to come. A thread that wants a task done moves the tasks on itself; where nobody does, a thread of
the process does it. So a small call costs no change of threads, and an asynchronous one goes on beside
the program.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Generator
from typing import Final

from .engine import Source

__all__ = ["Lane", "Progress", "Steps", "Task"]

Steps = Generator[bool, None, None]
# How long to ask again and again before the processor is left to others, in seconds; then how long
# to sleep between two questions, from the shortest to the longest.
_SPIN: Final = 200e-6
# How long a task that is alone is asked for before it takes its place among others.
_BRIEF: Final = 50e-6
_SHORTEST: Final = 20e-6
_LONGEST: Final = 1e-3


class Task(Source):
    """One call, and its ticket."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.steps: Steps | None = None
        self.error: BaseException | None = None
        self.ended = False
        self._heard: threading.Event | None = None  # only where a thread waits for another one

    @property
    def done(self) -> bool:
        """Whether it has ended, well or not."""
        return self.ended

    def end(self) -> None:
        """Be at the end, and tell who waits."""
        self.steps = None
        self.ended = True
        heard = self._heard
        if heard is not None:
            heard.set()

    def await_other(self, seconds: float) -> None:
        """Wait until another thread has brought it to its end, at most so long."""
        heard = self._heard
        if heard is None:
            heard = self._heard = threading.Event()
        if not self.ended:  # asked after the event is there, which `end` looks for afterwards
            heard.wait(seconds)

    def wait(self, deadline: float | None = None) -> None:
        """Wait for the end; see `Ticket.wait`."""
        if not self.ended:
            self._progress.finish(self, deadline)
        if self.error is not None:
            raise self.error.with_traceback(None)  # at the user's line, not in here

    def step(self) -> bool | None:
        """Go on; None once it has ended, else whether data is moving."""
        assert self.steps is not None, "a task that runs has steps"
        try:
            return next(self.steps)
        except StopIteration:
            pass
        except (KeyboardInterrupt, SystemExit) as error:  # of the thread that is waiting
            self.error = error
            self.end()
            raise
        except BaseException as error:  # noqa: BLE001 (given to whoever waits for the ticket)
            self.error = error
        self.end()
        return None


class Lane:
    """Tasks that run one after the other: a communicator's collective calls, or one message."""

    def __init__(self) -> None:
        self.tasks: deque[Task] = deque()


class Progress:
    """The tasks of an engine in this process, and who moves them on.

    Args:
        name: of the thread that does it where nobody waits.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lanes: list[Lane] = []
        self._lock = threading.Lock()  # of the lanes; that of a condition is slower to take
        self._changed = threading.Condition(self._lock)
        self._driving = threading.Lock()  # held by the thread that moves tasks on
        self._thread: threading.Thread | None = None
        self._closed = False

    def queue(self, task: Task, lane: Lane, *, now: bool) -> None:
        """Take a task.

        Args:
            task: what is to be done.
            lane: after what of it.
            now: whether the caller is about to wait for it. Where nothing else is under way it is moved
                on at once, and mostly done then.
        """
        if now and not self._lanes and self._driving.acquire(False):
            try:
                if not self._alone(task):
                    with self._lock:
                        lane.tasks.appendleft(task)  # it has begun
                        self._use(lane)
            finally:
                self._driving.release()
            return
        with self._lock:
            lane.tasks.append(task)
            self._use(lane)
            if now:
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._changed.notify()

    def _use(self, lane: Lane) -> None:
        if lane not in self._lanes:
            self._lanes.append(lane)

    def _alone(self, task: Task) -> bool:
        """Move a task on while there is no other one, for a while; whether it has ended."""
        until = 0.0
        while task.step() is not None:
            now = time.monotonic()
            until = until or now + _BRIEF
            if self._lanes or now > until:
                return False
        return True

    def finish(self, task: Task, deadline: float | None) -> None:
        """Return when a task has ended.

        Raises:
            TimeoutError: if the deadline passes before.
        """
        while not task.ended:
            if self._driving.acquire(False):
                try:
                    self._drive(task, deadline)
                finally:
                    self._driving.release()
                    self._hand_over()
            else:
                task.await_other(0.01)
            if deadline is not None and time.monotonic() > deadline and not task.ended:
                raise TimeoutError("the call is not done yet")

    def _hand_over(self) -> None:
        """Leave what is not done to the process's thread."""
        with self._lock:
            if self._lanes and self._thread is not None:
                self._changed.notify()

    def _run(self) -> None:
        while not self._closed:
            with self._changed:
                while not self._lanes and not self._closed:
                    self._changed.wait()
            with self._driving:
                self._drive(None, None)

    def _drive(self, task: Task | None, deadline: float | None) -> None:
        """Move all tasks on until one has ended, or all; or until a deadline."""
        idle, pause = 0.0, _SHORTEST
        while self._lanes and not (task is not None and task.ended):
            moving, ended = self._round()
            if ended:
                idle, pause = 0.0, _SHORTEST
                continue
            now = time.monotonic()
            if deadline is not None and now > deadline:
                return
            idle = idle or now
            if now - idle < _SPIN:
                continue
            time.sleep(0 if moving else pause)
            if not moving:
                pause = min(2 * pause, _LONGEST)
            if self._closed:
                return

    def _round(self) -> tuple[bool, bool]:
        """Move each lane's first task on; whether data is moving, and whether a task has ended."""
        moving = ended = False
        for lane in tuple(self._lanes):
            task, result = lane.tasks[0], None
            try:
                result = task.step()
            finally:
                if task.ended:
                    ended = True
                    with self._lock:
                        lane.tasks.popleft()
                        if not lane.tasks:
                            self._lanes.remove(lane)
            moving = moving or bool(result)
        return moving, ended

    def stop(self) -> None:
        """End the thread; what is queued stays undone."""
        self._closed = True
        with self._changed:
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(1.0)
