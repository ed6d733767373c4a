"""Run a script as one rank and note what each training step computes, sends and waits for.

``python -m mindtorch_core.measuring.scaling.noting FOLDER SCRIPT ARGS...``; the report is
``FOLDER/<rank>.json``. A step ends when an optimizer's ``step()`` returns. Where `IMAGINED` names a number,
each process runs the script as the first of so many ranks that do not exist, beside the others: they take
memory and cores from each other.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from ...communication import engines
from ...communication.engine import Communicator, Engine, Finished, Ticket
from ...communication.fake import FAKE
from ...communication.groups import ProcessGroup
from ...tensors.tensor import Tensor
from .lost_time import LostTime

__all__ = ["IMAGINED", "Notes", "main"]

IMAGINED: Final = "MINDTORCH_SCALING_IMAGINED"
_WARM: Final = 2  # steps, after which copies wait for each other
_PATIENCE: Final = 30.0  # seconds, at most

# Calls that are noted, and which of their arguments after the call is the whole that is moved.
_WHOLE: Final = {
    "all_reduce": 0,
    "broadcast": 0,
    "reduce": 0,
    "all_gather": 0,
    "reduce_scatter": 1,
    "gather": 0,
    "scatter": 1,
    "barrier": None,
    "all_to_all": 0,
}


class Notes:
    """What a rank has noted, in rows as `read_steps` takes them.

    Args:
        meet: waits for other copies of the script, after the steps that warm up.
    """

    def __init__(self, meet: Callable[[], None] = lambda: None) -> None:
        self._meet = meet
        self.steps: list[dict[str, Any]] = []
        self._pid = os.getpid()
        self._lost_time = LostTime()
        self._begun, self._lost = time.perf_counter(), self._lost_time()
        self._late = 0.0
        self._messages: list[tuple[str, int]] = []
        self._events: list[tuple[str, int, float, float]] = []

    def end_step(self, *_: Any) -> None:
        """An optimizer's step is over."""
        now, lost = time.perf_counter(), self._lost_time()
        self.steps.append(
            {"seconds": now - self._begun, "lost": lost - self._lost, "late": self._late,
             "messages": self._messages, "events": self._events}
        )  # fmt: skip
        if len(self.steps) == _WARM:
            self._meet()
            now, lost = time.perf_counter(), self._lost_time()
        self._begun, self._lost, self._late = now, lost, 0.0
        self._messages, self._events = [], []

    def imagined(self, begun: float) -> None:
        """What was done since a time is what stands for a message: no part of the step."""
        self._begun += time.perf_counter() - begun

    def queued(self, op: str, size: int, ticket: Ticket) -> Ticket:
        """A message was given to the communicator; returns the ticket to be waited for."""
        if os.getpid() != self._pid:  # a fork that loads data
            return ticket
        at = time.perf_counter() - self._begun
        self._messages.append((op, size))
        self._events.append(("queue", len(self._messages) - 1, at, 0.0))
        return _Noted(self, ticket, len(self._messages) - 1, self._messages)

    def lost(self) -> float:
        """Seconds that the training thread has lost so far."""
        return self._lost_time()

    def waited(self, number: int, step: list[tuple[str, int]], begun: float, lost: float) -> None:
        """A message was waited for since a time; one of an earlier step does not count.

        What the thread has lost since then is a part of waiting.
        """
        late = self._lost_time() - lost
        self._lost += late
        self._late += late
        if step is self._messages:
            seconds = time.perf_counter() - begun
            self._events.append(("wait", number, begun - self._begun, seconds))


class _Noted(Ticket):
    """A ticket that says how long it is waited for."""

    def __init__(
        self, notes: Notes, ticket: Ticket, number: int, step: list[tuple[str, int]]
    ) -> None:
        self._notes, self._ticket, self._number, self._step = notes, ticket, number, step
        self._told = False

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self._ticket.done

    def wait(self, deadline: float | None = None) -> None:
        """Wait as the ticket does."""
        begun, lost = time.perf_counter(), self._notes.lost()
        self._ticket.wait(deadline)
        if not self._told:
            self._told = True
            self._notes.waited(self._number, self._step, begun, lost)


class _Listening:
    """A communicator whose collective calls are noted."""

    def __init__(self, notes: Notes, inner: Communicator) -> None:
        self._notes, self._inner = notes, inner

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        if name not in _WHOLE:
            return method
        notes, index = self._notes, _WHOLE[name]

        def noted(call: Any, *args: Any) -> Ticket:
            whole = None if index is None else args[index]
            if whole is None and index is not None:  # of gather and scatter, away from the root
                part = next(arg for arg in args if isinstance(arg, Tensor))
                size = part.numel() * part.element_size() * self._inner.size
            else:
                size = whole.numel() * whole.element_size() if whole is not None else 0
            begun = time.perf_counter()
            ticket = method(call, *args)
            if isinstance(ticket, Finished):
                notes.imagined(begun)
            return notes.queued(name, size, ticket)

        return noted


def _listen(notes: Notes) -> None:
    """Note the calls of every group."""
    found: Callable[..., tuple[Engine, Communicator]] = ProcessGroup.communicator_for

    def communicator_for(group: ProcessGroup, device: str) -> tuple[Engine, Any]:
        engine, inner = found(group, device)
        return engine, _Listening(notes, inner)

    patched: Any = ProcessGroup  # in this process, which runs nothing else
    patched.communicator_for = communicator_for


def _imagine(count: int, folder: Path) -> Callable[[], None]:
    """Be the first of so many ranks, without the others; returns what waits for other copies."""
    rank, copies = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE"))
    os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE=str(count))
    patched: Any = engines
    patched.engine = lambda name: FAKE
    patched.installed = lambda: [FAKE.name]

    def meet() -> None:
        (folder / f"{rank}.here").touch()
        end = time.monotonic() + _PATIENCE
        while len(list(folder.glob("*.here"))) < copies and time.monotonic() < end:
            time.sleep(0.001)

    return meet


def main(folder: Path, script: str, args: list[str]) -> None:
    """Run the script, and write the report whatever becomes of it."""
    rank = os.environ["RANK"]
    count = os.environ.get(IMAGINED)
    notes = Notes(_imagine(int(count), folder)) if count else Notes()
    _listen(notes)
    optimizers: Any = importlib.import_module("torch.optim.optimizer")
    optimizers.register_optimizer_step_post_hook(notes.end_step)
    sys.argv = [script, *args]
    sys.path[0] = str(Path(script).resolve().parent)
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        if os.getpid() == notes._pid:
            report = {"rank": int(rank), "steps": notes.steps}
            (folder / f"{rank}.json").write_text(json.dumps(report), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
