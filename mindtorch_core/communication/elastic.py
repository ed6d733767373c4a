"""Training that goes on when a process dies: what was committed, and how all return to it.

`run` calls a function that trains. When a process dies, the others start another in its place
(`mindtorch run --elastic`), and all call the function again: what it tracks is then as at the last commit.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import os
import pickle
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

from .. import random as generators
from ..serialization import load, save
from ..values.errors import PipelineError
from .beginning import renew, replaced
from .errors import DistBackendError, DistError, DistributedError
from .exchanges import barrier
from .groups import WORLD, default_group
from .objects import all_gather_object, broadcast_object_list

__all__ = ["State", "run"]

COMMAND: Final = (
    "MINDTORCH_ELASTIC"  # what starts a rank, where `mindtorch run --elastic` has started all
)
# How long the launcher may take to see that a process has ended, in seconds.
_SEEN: Final = timedelta(seconds=20)
# How long news of a death may take to come, in seconds.
_HEARD: Final = 2.0
Result = TypeVar("Result")


class _Commit:
    """What was at a commit: copies, which nothing changes.

    Attributes:
        number: how many commits there were before it.
    """

    def __init__(self, number: int, values: Any, tracked: Any) -> None:
        self.number, self.values, self.tracked = number, values, tracked
        self.random = _random_state()


class State:
    """What training goes on from: values such as the step, and the state of what is tracked.

    Values are attributes: ``State(step=0)`` has ``state.step``. They and the state of what is tracked are
    kept at each `commit`, with the generators of random numbers of the CPU and of `random`.

    Args:
        checkpoint: a file that commits are written to, from which a new start goes on; None for none.
        every: how many commits apart.
        **values: the first values.
    """

    def __init__(
        self, checkpoint: str | os.PathLike[str] | None = None, every: int = 1, **values: Any
    ) -> None:
        if every < 1:
            raise ValueError(f"every must be positive, got {every}")
        self._file = None if checkpoint is None else Path(checkpoint)
        self._every = every
        self._values = values
        self._tracked: dict[str, Any] = {}
        self._commits: list[_Commit] = []  # the last two: ranks may be one apart when one dies
        self._from: _Commit | None = None

    def __getattr__(self, name: str) -> Any:
        if name[:1] != "_" and name in self._values:
            return self._values[name]
        raise AttributeError(
            f"the state has no value {name!r}: it has {', '.join(self._values) or 'none'}"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if name[:1] == "_":
            super().__setattr__(name, value)
        else:
            self._values[name] = value

    def track(self, **objects: Any) -> None:
        """Keep the state of objects with ``state_dict`` and ``load_state_dict`` at each commit.

        They get the state that training goes on from, if there is one; then the generators of random
        numbers stand where they stood. So call it once, after they were made.

        Args:
            **objects: models, optimizers, schedules.

        Raises:
            TypeError: for an object without a state.
            KeyError: if that was not tracked when it was committed.
        """
        for name, each in objects.items():
            if not (hasattr(each, "state_dict") and hasattr(each, "load_state_dict")):
                raise TypeError(
                    f"{name} has no state_dict and load_state_dict: {type(each).__name__}"
                )
        self._tracked |= objects
        if self._from is not None and self._from.number:  # else it begins, and is as it was made
            for name, each in objects.items():
                each.load_state_dict(copy.deepcopy(self._from.tracked[name]))
            _set_random_state(self._from.random)

    def commit(self, **values: Any) -> None:
        """Keep what is: after a death, training goes on from here. All processes call it.

        Args:
            **values: to be set before.

        Raises:
            DistributedError: if a process has died.
        """
        self._values |= values
        if default_group().size() > 1:
            barrier()  # so that no process is more than one commit behind
        self._keep(self._commits[-1].number + 1 if self._commits else 1)
        number = self._commits[-1].number
        if self._file is not None and number % self._every == 0:
            self._write(self._file)

    # ---- keeping -----------------------------------------------------------------------------------

    def _keep(self, number: int) -> None:
        tracked = {name: copy.deepcopy(each.state_dict()) for name, each in self._tracked.items()}
        made = _Commit(number, copy.deepcopy(self._values), tracked)
        self._commits = [*self._commits[-1:], made]
        if (
            COMMAND in os.environ
        ):  # whoever replaces this process finds there where its generators stood
            rank = default_group().rank()
            _store().set(f"elastic/commit/{rank}/{number % 2}", pickle.dumps((number, made.random)))

    def _write(self, file: Path) -> None:
        """Write the last commit with all ranks' generators: whole, or not at all."""
        last = self._commits[-1]
        every: list[Any] = [None] * default_group().size()
        if len(every) > 1:
            all_gather_object(every, last.random)
        else:
            every = [last.random]
        if default_group().rank():
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        whole = {
            "number": last.number,
            "values": last.values,
            "tracked": last.tracked,
            "random": every,
        }
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.name)
        try:
            with open(handle, "wb") as opened:
                save(whole, opened)
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    # ---- going on ----------------------------------------------------------------------------------

    def _begin(self, generation: int) -> None:
        """Return to the last commit of all, or to the checkpoint, or begin."""
        if generation:
            self._return()
        elif self._commits:  # it was called before
            self._from = self._commits[-1]
        else:
            self._read()
        if self._from is None:
            self._keep(0)
            self._from = self._commits[-1]
        self._commits = [self._from]
        self._tracked.clear()
        self._values.clear()
        self._values.update(copy.deepcopy(self._from.values))
        _set_random_state(self._from.random)

    def _return(self) -> None:
        """After a death: the last commit that all had made, with those that have died."""
        group = default_group()
        have: list[Any] = [None] * group.size()
        all_gather_object(have, sorted(each.number for each in self._commits))
        ours = {each.number: each for each in self._commits}
        recorded = self._recorded()
        last: list[Any] = [None] * group.size()
        all_gather_object(last, max([*ours, *recorded], default=0))
        number = min(last)
        giver = next((rank for rank, numbers in enumerate(have) if number in numbers), None)
        if giver is None:
            raise DistBackendError(f"no process that is left has commit {number}")
        found = ours.get(number)
        whole = [None if found is None else (found.values, found.tracked)]
        if any(number not in numbers for numbers in have):
            broadcast_object_list(whole, src=giver)
        if found is None:
            values, tracked = whole[0]  # type: ignore[misc]  # the giver's
            found = _Commit(number, values, tracked)
            found.random = recorded.get(number, found.random)
        self._from = found

    def _recorded(self) -> dict[int, Any]:
        """Where the generators of this rank stood, by commit, whoever it was."""
        store, rank, found = _store(), default_group().rank(), {}
        for key in (f"elastic/commit/{rank}/{parity}" for parity in (0, 1)):
            if store.check([key]):
                number, state = pickle.loads(store.get(key))
                found[number] = state
        return found

    def _read(self) -> None:
        """Go on from the checkpoint, if there is one: rank 0 reads it."""
        group = default_group()
        if self._file is None:
            return
        whole: list[Any] = [None]
        if not group.rank() and self._file.exists():
            whole = [load(self._file, weights_only=False)]
        if group.size() > 1:
            broadcast_object_list(whole)
        if whole[0] is None:
            return
        values = {**self._values, **whole[0]["values"]}
        self._from = _Commit(whole[0]["number"], values, whole[0]["tracked"])
        if len(whole[0]["random"]) == group.size():  # else another number of processes goes on
            self._from.random = whole[0]["random"][group.rank()]


def _random_state() -> Any:
    """Where this process's generators of random numbers stand."""
    numpy = sys.modules.get("numpy")
    numbers = None if numpy is None else numpy.random.get_state()
    return generators.get_rng_state(), random.getstate(), numbers


def _set_random_state(state: Any) -> None:
    generators.set_rng_state(state[0])
    random.setstate(state[1])
    numpy = sys.modules.get("numpy")
    if numpy is not None and state[2] is not None:
        numpy.random.set_state(state[2])


def _store() -> Any:
    """The launcher's store."""
    return WORLD.start.found.store


def run(train: Callable[..., Result]) -> Callable[..., Result]:
    """Have a function that trains called again after a death, when another process has come.

    The function's first argument is a `State`. It makes model, optimizer and groups, gives them to
    `State.track`, and trains from the state's values on. `init_process_group` is called before it. Where
    processes are not replaced (see `mindtorch run --elastic`) it is called once, and goes on from the
    checkpoint if there is one.
    """

    @functools.wraps(train)
    def wrapped(state: State, *args: Any, **kwargs: Any) -> Result:
        generation = replaced()
        while True:
            try:
                state._begin(generation)
                return train(state, *args, **kwargs)
            except (DistributedError, PipelineError) as error:
                failed = _told(error)
                if failed is None or COMMAND not in os.environ or not _died():
                    raise
                generation += 1
            _replace(generation, failed)

    return wrapped


def _told(error: BaseException) -> DistributedError | None:
    """The error of a call that ranks make together, which a pipeline may have met in its block."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, DistributedError):
        found = found.__cause__
    return found


def _died() -> bool:
    """Whether a process has died, of which MPI may have told before the launcher's store did."""
    end = time.monotonic() + _HEARD
    while WORLD.watch is not None and time.monotonic() < end:
        if WORLD.watch.deaths():
            return True
        time.sleep(0.01)
    return False


def _replace(generation: int, failed: DistributedError) -> None:
    """Have other processes in place of those that died.

    Raises:
        DistributedError: the one that told of the death, if that cannot be.
    """
    began = time.monotonic()
    try:
        renew(generation, functools.partial(_commands, generation))
    except (DistBackendError, DistError) as error:
        raise failed from error
    if not default_group().rank():
        print(f"the group is whole again after {time.monotonic() - began:.1f} s", file=sys.stderr)


def _commands(generation: int, dead: Sequence[int]) -> list[list[str]]:
    """What starts the ranks that died again, if the launcher lets them be started.

    Raises:
        DistBackendError: if it does not.
    """
    store = _store()
    store.set(f"elastic/anew/{generation}", json.dumps([*dead]))
    start = json.loads(os.environ[COMMAND])
    at = next(i for i, word in enumerate(start) if word.endswith("rank.py")) + 1
    made = []
    for rank in dead:
        number = store.add(f"elastic/{rank}/asked", 1)
        key = f"elastic/{rank}/{number}"
        with contextlib.suppress(DistError):
            store.wait([key], _SEEN)
        if not store.check([key]) or store.get(key) != b"replace":
            raise DistBackendError(
                f"rank {rank} is not replaced: `mindtorch run` has done it often enough"
            )
        made.append([*start[:at], f"--instead={rank}/{generation}", *start[at:]])
    return made
