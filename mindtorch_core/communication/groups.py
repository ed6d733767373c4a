"""Groups of processes, and the ones that this process knows."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from datetime import timedelta
from functools import wraps
from types import FrameType
from typing import Any, Final, NamedTuple, TypeVar

from ..deferred import launch, telling
from ..tensors.tensor import Tensor
from ..values.user_warnings import warn_user
from .calls import Call, Place, Whole
from .engine import Communicator, Engine
from .failures import Watch
from .lending import check_list
from .listening import CALLED
from .stores import Store

__all__ = [
    "BEHALF",
    "NON_MEMBER",
    "WORLD",
    "GroupMember",
    "ProcessGroup",
    "Start",
    "World",
    "by_own_name",
    "chosen",
    "default_group",
    "group_named",
    "is_member",
    "outside",
    "place",
]

NON_MEMBER: Final = -100  # what PyTorch gives a process for a group that it is not in

F = TypeVar("F", bound=Callable[..., Any])


class _Said(NamedTuple):
    """What a block says of the calls that are made in it.

    Attributes:
        timeout: theirs; None for the group's.
        op: what the user has called, where that is made of other calls: they bear its name.
        contents: what they carry.
        whole: of a list, whose calls are one; it says what they carry.
    """

    timeout: timedelta | None = None
    op: str = ""
    contents: str = ""
    whole: Whole | None = None


_SAID: Final[ContextVar[_Said]] = ContextVar("_SAID", default=_Said())  # noqa: B039 (it cannot change)


@contextmanager
def _saying(**news: Any) -> Iterator[None]:
    before = _SAID.set(_SAID.get()._replace(**news))
    try:
        yield
    finally:
        _SAID.reset(before)


def by_own_name(function: F) -> F:
    """Decorator: the calls that a function is made of are told of by its name."""
    name = function.__name__

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with _saying(op=_SAID.get().op or name):
            return function(*args, **kwargs)

    return called  # type: ignore[return-value]  # its signature is the function's


class _Process:
    """This process's number, which the system takes longer to tell."""

    def __init__(self) -> None:
        self.look()
        os.register_at_fork(after_in_child=self.look)

    def look(self) -> None:
        """Ask for it: after a fork."""
        self.pid = os.getpid()


_PROCESS: Final = _Process()


class ProcessGroup:
    """Processes that make calls together; `process_group.ProcessGroup` has the calls as methods.

    Attributes:
        name: unique among the groups of the process.
        ranks: the members' ranks in the default group, in order.
        timeout: of each call.
        backend: the name that it was asked for by.
        engines: by type of device, whose memory is moved by which engine.
        store: for what the members tell each other beside the calls.
        group_desc: what it is for.
        splits: how often parts of it were made groups: all members count alike.
    """

    def __init__(
        self,
        name: str,
        ranks: Sequence[int],
        position: int,
        *,
        backend: str,
        engines: dict[str, Engine],
        communicators: dict[str, Communicator],
        store: Store,
        timeout: timedelta,
        desc: str,
    ) -> None:
        self.group_name = name
        self.ranks = tuple(ranks)
        self.position = position
        self.backend = backend
        self.engines = engines
        self.communicators = communicators
        self.store = store
        self.timeout = timeout
        self.group_desc = desc
        self.bound_device_id = None
        # In a dict: a captured function that calls with the group is not one that changes by itself.
        self._made = {"call": 0, "message": 0}
        self.splits = 0
        self._lock = threading.RLock()
        self.closed = False
        self._process = _PROCESS.pid

    def rank(self) -> int:
        """This process's position."""
        return self.position

    def size(self) -> int:
        """How many processes there are."""
        return len(self.ranks)

    def name(self) -> str:
        """Name of the backend."""
        return self.backend

    def calls_made(self) -> int:
        """How many calls and messages there were."""
        return sum(self._made.values())

    def communicator_for(self, device: str) -> tuple[Engine, Communicator]:
        """What moves memory of a device; other devices' is staged through the CPU.

        Raises:
            ValueError: if the group was destroyed.
        """
        if self.closed:
            raise ValueError("Invalid process group specified: it was destroyed")
        key = device if device in self.communicators else next(iter(self.communicators))
        return self.engines[key], self.communicators[key]

    def limited(self, timeout: timedelta) -> AbstractContextManager[None]:
        """A block whose calls have a timeout of their own."""
        return _saying(timeout=timeout)

    def carrying(self, contents: str) -> AbstractContextManager[None]:
        """A block whose calls say what they carry: the ranks must have that alike, too."""
        return _saying(contents=contents)

    @contextmanager
    def as_list(self, tensors: Sequence[Tensor], op: str = "") -> Iterator[None]:
        """A block whose calls, one for each tensor of a list, are one call to the ranks.

        Args:
            tensors: each call's.
            op: what they are told of by, unless the user has called a function that is `by_own_name`.

        Raises:
            NotImplementedError: for an empty list, as PyTorch does: the others would wait for it.
            RuntimeError: for one over several devices, whose engines could not end it together.
        """
        check_list(tensors)
        whole = Whole(len(tensors))
        try:
            with _saying(op=_SAID.get().op or op, whole=whole):
                yield
        except BaseException:
            if (
                whole.number and whole.error is None
            ):  # of this rank's own: the others wait for the rest
                self._take_back(whole.number)
            raise

    def _take_back(self, number: int) -> None:
        """Let the next call have a number that was given: it meets what others make by that number."""
        with self._lock:
            if self._made["call"] == number:
                self._made["call"] -= 1

    def call(
        self,
        op: str,
        *,
        message: bool = False,
        apart: bool = False,
        timeout: timedelta | None = None,
        waits: bool = True,
        dtype: str = "",
        shape: tuple[int, ...] = (),
        reduction: str = "",
        root: int = -1,
        **facts: Any,
    ) -> Call:
        """The next call of the group.

        Args:
            op: the function's name; unless the user has called one that is `by_own_name`.
            message: whether it concerns two ranks alone.
            apart: whether calls of that name are counted by themselves, and not with the others.
            timeout: if it is not the group's.
            waits: whether the caller waits for it at once.
            dtype: as all further arguments, an attribute of `Call`.
            shape: of the tensor.
            reduction: such as ``sum``.
            root: a position, or -1.
            **facts: further attributes.

        Raises:
            RuntimeError: in a forked child, which has the group's connections without their other ends.
        """
        ranks = self.ranks
        if self._process != _PROCESS.pid and len(ranks) > 1:
            raise RuntimeError(
                f"{op}: process {_PROCESS.pid} was forked by rank {self.position} of the group "
                f"{self.group_name!r} and is no member: call it in the rank, or fork before "
                "init_process_group"
            )
        said = _SAID.get()
        if CALLED and len(ranks) > 1:
            for told in CALLED:
                told(said.op or op)
        kind = op if apart else "message" if message else "call"
        whole = said.whole
        contents = said.contents if whole is None else whole.next()
        with self._lock:
            number = whole.number if whole is not None else 0
            if not number:
                number = self._made[kind] = self._made.get(kind, 0) + 1
            if whole is not None:
                whole.number = number
        return Call(
            said.op or op,
            number,
            self.group_name,
            ranks,
            self.position,
            dtype=dtype,
            shape=shape,
            reduction=f"{reduction}, {contents}"
            if reduction and contents
            else reduction or contents,
            root=root,
            where=place(),
            seconds=(timeout or said.timeout or self.timeout).total_seconds(),
            waits=waits,
            whole=whole,
            **facts,
        )

    def __repr__(self) -> str:
        return f"<ProcessGroup {self.group_name!r} of {self.backend}: ranks {list(self.ranks)}>"


class Start(NamedTuple):
    """How the default group was begun: what it needs to begin anew."""

    backend: str | None
    engines: dict[str, Engine]
    found: Any  # a `rendezvous.Found`, which lies above
    limit: timedelta


class World:
    """What this process knows: one object, `WORLD`.

    Attributes:
        group: the default group, of all processes.
        groups: all groups that this process is in, by name.
        assembled: by members, how many groups were made that only they know of.
        start: how the default group was begun.
        count: of the groups that all processes have made, who count alike; a name for the next one.
        watch: hears what happens to other processes; None in a process that stands alone.
    """

    def __init__(self) -> None:
        self.group: ProcessGroup | None = None
        self.groups: dict[str, ProcessGroup] = {}
        self.watch: Watch | None = None
        self.assembled: Counter[str] = Counter()
        self.start: Start
        self.count = 0


WORLD: Final = World()


class _Group(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The default group."""
        return WORLD.group

    @WORLD.setter
    def WORLD(cls, group: ProcessGroup | None) -> None:
        WORLD.group = group


class group(metaclass=_Group):
    """``group.WORLD`` is the default group."""


class GroupMember(metaclass=_Group):
    """``GroupMember.WORLD`` is the default group; the other stands for groups one is not in."""

    NON_GROUP_MEMBER: Final = NON_MEMBER


def default_group() -> ProcessGroup:
    """The group of all processes.

    Raises:
        ValueError: if `init_process_group` was not called.
    """
    if WORLD.group is None:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call "
            "init_process_group."
        )
    return WORLD.group


def chosen(given: ProcessGroup | None) -> ProcessGroup:
    """A group, or the default one for None.

    Raises:
        ValueError: if this process is not in it, it was destroyed, or there is none.
    """
    if given is None:
        return default_group()
    if not isinstance(given, ProcessGroup):
        raise ValueError(
            f"Invalid process group specified: {given!r}, which this process is not in"
            if given is NON_MEMBER
            else f"Invalid process group specified: {given!r}"
        )
    if given.closed:
        raise ValueError("Invalid process group specified: it was destroyed")
    return given


def group_named(name: str) -> ProcessGroup:
    """A group by its name.

    Raises:
        ValueError: if this process is in none of that name.
    """
    found = WORLD.groups.get(name)
    if found is None:
        raise ValueError(
            f"Group {name!r} is not registered: this process is in {list(WORLD.groups)}"
        )
    return found


def is_member(given: Any) -> bool:
    """Whether this process is in a group."""
    return given is None or isinstance(given, ProcessGroup)


def outside(given: Any, op: str) -> bool:
    """Whether this process is not in a group, so that a call of it does nothing; warns if so.

    Raises:
        ValueError: for what is no group.
    """
    if is_member(given):
        return False
    if given is not NON_MEMBER:
        raise ValueError(f"Invalid process group specified: {given!r}")
    rank = "" if WORLD.group is None else WORLD.group.position
    warn_user(
        f"Running {op} on global rank {rank} which does not belong to the given group.",
    )
    return True


# Modules whose frames are passed over, beside ours; functions that a pipeline has written are of none.
_PASSED: Final = {"contextlib", "threading", ""}
# Modules whose frames know where the op was recorded that they call.
_LAUNCHING: Final[dict[str, Callable[[FrameType], Place | None]]] = {
    each.__name__: each.recorded_by for each in (launch, telling)
}


# Where a thread of our own was asked for, which calls on behalf of that line.
BEHALF: Final[ContextVar[str | Place]] = ContextVar("BEHALF", default="")


def place() -> str | Place:
    """Where the code outside is calling, or has recorded the op that calls now.

    It is for functions that modules of ours alone call.
    """
    frame = sys._getframe(2)
    while (outer := frame.f_back) is not None:
        name = frame.f_globals.get("__name__", "")
        if name not in _PASSED:
            if (recorded_by := _LAUNCHING.get(name)) is not None:
                if (recorded := recorded_by(frame)) is not None:
                    return recorded
            elif not name.startswith("mindtorch"):
                break
            else:
                _PASSED.add(name)
        frame = outer
    else:
        if behalf := BEHALF.get():
            return behalf
    return frame.f_code, frame.f_lasti
