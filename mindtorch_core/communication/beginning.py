"""Beginning and ending: the default group, further groups, and letting go of them."""

from __future__ import annotations

import atexit
import contextlib
import itertools
import multiprocessing.util
import operator
import os
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from ..values.errors import BackendUnavailableError
from . import engines
from .calls import Call
from .engine import Communicator, Engine
from .errors import DistBackendError
from .failures import Watch, await_keys, forget_failures
from .fake import FAKE, FakeStore
from .groups import (
    NON_MEMBER,
    WORLD,
    Start,
    chosen,
    default_group,
    place,
)
from .groups import ProcessGroup as Members
from .meeting import meet, shown_to_the_launcher
from .parts import known, parted
from .process_group import ProcessGroup
from .rendezvous import Found, alone, find, rendezvous
from .single import SINGLE
from .stores import PrefixStore, Store
from .tcp_store import TCPStore

__all__ = [
    "DEFAULT_PG_TIMEOUT",
    "WAITS",
    "destroy_process_group",
    "init_process_group",
    "limited",
    "new_group",
    "renew",
    "replaced",
]

DEFAULT_PG_TIMEOUT: Final = timedelta(minutes=30)
# Names of PyTorch's backends, for what they are there: what moves the CPU's tensors, or an accelerator's.
STAND_INS: Final = {"gloo": "cpu", "nccl": "cuda", "xccl": "xpu", "ucc": "cpu"}
_WATCHES: Final[list[Watch]] = []  # of groups that were
# Called before all groups end: they wait for what goes on beside the program and needs one.
WAITS: Final[list[Callable[[], None]]] = []
_STARTS: Final = itertools.count()  # how often a default group was made: all processes count alike


def replaced() -> int:
    """How often processes of the group had died when this one was started for one of them; else 0."""
    return int(os.environ.get("MINDTORCH_GENERATION", "0"))


def by_device(backend: str | None) -> dict[str, Engine]:
    """Engines by type of device, as a backend's name says: ``mpi``, ``cpu:mpi,npu:hccl``, ``gloo``.

    Raises:
        BackendUnavailableError: if one is not there.
        ValueError: for what is no such text, or names a device twice.
    """
    if not isinstance(backend, str | None):
        raise ValueError(f"Backend constructor parameter must be string-ish, got {backend!r}")
    text = (backend or "").lower() or "undefined"
    if text == "undefined":
        engine = for_device("cpu")
        return {"cpu": engine} if "cpu" in engine.devices else dict.fromkeys(engine.devices, engine)
    found: dict[str, Engine] = {}
    named: set[str] = set()
    for part in text.split(","):
        device, colon, name = part.strip().rpartition(":")
        if colon and not (device and name):
            raise ValueError(f"Invalid backend {backend!r}: say a name, or device:name,device:name")
        if colon and device in named:
            raise ValueError(f"Duplicate device type {device} in backend string: {backend}")
        named.add(device)
        if name in STAND_INS:
            engine = for_device(STAND_INS[name])
        else:
            engine = engines.engine(name)
        for each in (device,) if device else engine.devices:
            found[each] = engine
    return found


def for_device(device: str) -> Engine:
    """The installed engine that moves a device's memory; else that of the CPU; else any.

    Where there is none, it is that of a group of one process.
    """
    usable: list[Engine] = []
    for name in engines.installed():
        with contextlib.suppress(BackendUnavailableError):
            usable.append(engines.engine(name))
    for wanted in (device, "cpu"):
        for engine in usable:
            if wanted in engine.devices:
                return engine
    return usable[0] if usable else SINGLE


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
    _ranks: list[int] | None = None,
) -> None:
    """Connect all processes and make the default group.

    Args:
        backend: name of a communicator plugin such as ``mpi``, or several by device
            (``cpu:mpi,npu:hccl``); ``gloo`` and ``nccl`` mean what is installed for such tensors, ``fake``
            this process as one of many that do not exist.
        init_method: ``env://``, ``tcp://host:port`` or ``file:///path``; by default what has started
            the processes is asked: torchrun's variables, MPI, Slurm.
        timeout: of each call, 30 minutes by default.
        world_size: how many processes there are.
        rank: which of them this is.
        store: through which they find each other, in place of ``init_method``.
        group_name: taken for PyTorch's sake.
        pg_options: taken for PyTorch's sake.
        device_id: taken for PyTorch's sake.

    Without any communicator plugin ``gloo``, ``nccl`` and no name make a group of one process.

    Raises:
        ValueError: if it was called before, or rank and world size are not known.
        BackendUnavailableError: if the plugin is not there.
        DistBackendError: if the processes cannot be connected.
    """
    if WORLD.group is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    limit = limited(timeout, DEFAULT_PG_TIMEOUT)
    made = by_device(backend)
    first = next(iter(made.values()))
    if first is SINGLE and init_method is None:  # before anybody waits for others
        size = os.environ.get("WORLD_SIZE", "-1") if world_size < 0 else world_size
        SINGLE.refuse_others(int(size))
    with shown_to_the_launcher():
        number, generation = _begun(
            backend, made, limit, init_method=init_method, store=store, rank=rank, size=world_size
        )
    if not number:
        _tell_whole(generation)
        atexit.register(_at_end)  # so it runs before what the engines do at the end
    if multiprocessing.parent_process() is not None:  # a forked one ends without atexit's functions
        multiprocessing.util.Finalize(None, _at_end, exitpriority=0)


def _begun(
    backend: str | None,
    made: dict[str, Engine],
    limit: timedelta,
    *,
    init_method: str | None,
    store: Store | None,
    rank: int,
    size: int,
) -> tuple[int, int]:
    """Make the default group; how many there were before, and how often processes of it had died."""
    first = next(iter(made.values()))
    if first is FAKE:
        found = alone(init_method or "env://", rank, size)
    elif store is not None:
        if size <= 0:
            raise AssertionError("world_size must be positive if using store")
        if rank < 0:
            raise AssertionError("rank must be non-negative if using store")
        found = Found(store, rank, size)
    elif init_method is not None:
        found = next(iter(rendezvous(init_method, rank, size, timeout=limit)))
    else:
        found = find(first, rank, size, limit)
    number = next(_STARTS)
    generation = replaced() if not number else 0
    if generation:
        _establish(Start(backend, made, found, limit), f"elastic/{generation}", rejoins=True)
    else:
        _establish(Start(backend, made, found, limit), str(number))
    return number, generation


def _establish(
    start: Start,
    name: str,
    *,
    rejoins: bool = False,
    connected: dict[str, Communicator] | None = None,
) -> None:
    """Make the default group.

    Args:
        start: who is to be connected.
        name: of this start: no other of the same store has it.
        rejoins: whether the others have started this process in place of one that died.
        connected: communicators by device, if there are.
    """
    backend, made, found, limit = start
    own = PrefixStore(f"default_pg/{name}", found.store)
    own.set_timeout(limit)
    try:
        if rejoins:  # first of all, as the others wait for it
            connected = _connected(made, found, own, limit, rejoins=True)
        elif connected is None and not _stands_alone(found):
            meet(PrefixStore("meeting", own), found.rank, found.world_size, limit)
        WORLD.watch = _watch(own, found, limit, again=name != "0")
        if connected is None:
            connected = _connected(made, found, own, limit, rejoins=False)
    except BaseException:
        _forget()
        raise
    shown = backend or ",".join(f"{device}:{engine.name}" for device, engine in made.items())
    WORLD.start = start
    WORLD.group = known(
        ProcessGroup(
            str(WORLD.count), range(found.world_size), found.rank, backend=shown, engines=made,
            communicators=connected, store=own, timeout=limit, desc="default_pg",
        )
    )  # fmt: skip
    WORLD.count += 1


def renew(generation: int, command: Callable[[Sequence[int]], list[list[str]]]) -> None:
    """Make the default group anew after deaths, with processes in place of those that died.

    All survivors call it; the new processes call `init_process_group`. Other groups are gone.

    Args:
        generation: how often it has been done, with this time.
        command: called by one survivor with the ranks that died; gives what starts each again.

    Raises:
        DistBackendError: if the engine cannot do it, or it fails.
    """
    old, start = default_group(), WORLD.start
    each = {id(found): found for found in old.communicators.values()}
    if len(each) > 1:
        raise DistBackendError("a group of several engines cannot be made anew")
    again = next(iter(each.values())).renewed(command)
    for group in WORLD.groups.values():
        group.closed = True
    _forget()
    forget_failures()
    _establish(start, f"elastic/{generation}", connected=dict.fromkeys(old.communicators, again))
    _tell_whole(generation)


def _tell_whole(generation: int) -> None:
    """Let the launcher know that this process's group is made: from now on others can replace it."""
    if "MINDTORCH_ELASTIC" in os.environ and WORLD.start is not None:
        found = WORLD.start.found
        found.store.set(f"elastic/whole/{found.rank}", str(generation))


def _stands_alone(found: Found) -> bool:
    return found.world_size == 1 or isinstance(found.store, FakeStore)


def _watch(store: Store, found: Found, limit: timedelta, *, again: bool) -> Watch | None:
    """What hears of other processes: through a store that rank 0 serves, for stores that cannot."""
    if _stands_alone(found):
        return None
    inner = found.store
    while isinstance(inner, PrefixStore):
        inner = inner.underlying_store
    if not isinstance(inner, TCPStore) or again:  # events of an earlier group stay in its store
        if found.rank == 0:
            inner = TCPStore("localhost", 0, None, True, limit)
            host = inner_host(found.store)
            store.set("watch", f"{host}:{inner.port}")
        else:
            host, _, port = store.get("watch").decode().rpartition(":")
            inner = TCPStore(host, int(port), None, False, limit)
    return Watch(inner, found.rank)


def inner_host(store: Store) -> str:
    """How this machine is called by those that reach a store: by itself, where that is here."""
    import socket

    while isinstance(store, PrefixStore):
        store = store.underlying_store
    host = store.host if isinstance(store, TCPStore) else "127.0.0.1"
    return host if host in ("localhost", "127.0.0.1") else socket.gethostname()


def _connected(
    made: dict[str, Engine], found: Found, store: Store, limit: timedelta, *, rejoins: bool
) -> dict[str, Communicator]:
    """Every engine's communicator, by device."""
    seconds = limit.total_seconds()
    by_engine: dict[int, Communicator] = {}
    for engine in made.values():
        if id(engine) not in by_engine:
            rank, size = found.rank, found.world_size
            if rejoins:
                by_engine[id(engine)] = engine.rejoin(rank, size, seconds)
            else:
                own = PrefixStore(engine.name, store)
                by_engine[id(engine)] = engine.connect(rank, size, own, seconds)
    return {device: by_engine[id(engine)] for device, engine in made.items()}


def _forget() -> None:
    if WORLD.watch is not None:
        WORLD.watch.close()
        _WATCHES.append(WORLD.watch)
    WORLD.group = WORLD.watch = None
    WORLD.groups.clear()
    WORLD.count = 0
    WORLD.assembled.clear()


def _at_end() -> None:
    """The process ends: others hear of it."""
    if WORLD.group is not None:
        _forget()
    for watch in _WATCHES:
        watch.await_others()
    if over := os.environ.get(
        "MINDTORCH_RUN_OVER"
    ):  # `mindtorch run` waits for no rank without end
        with contextlib.suppress(OSError):
            Path(over).touch()


def destroy_process_group(group: Any = None) -> None:
    """Let go of a group; of all, for None or the default one, once checkpoints under way are written.

    Raises:
        ValueError: if there is no such group.
    """
    if group == NON_MEMBER:
        return
    gone = chosen(group)
    whole = gone is WORLD.group
    if whole:
        for wait in WAITS:
            wait()
    for each in list(WORLD.groups.values()) if whole else [gone]:
        if each.group_name not in WORLD.groups:
            raise ValueError("Invalid process group specified")
        each.closed = True
        for communicator in set(each.communicators.values()):
            communicator.abort()
        WORLD.groups.pop(each.group_name, None)
    if whole:
        _forget()


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> Any:
    """Make a group of some processes; all processes call it, unless they synchronize locally.

    Args:
        ranks: in the default group; None for all.
        timeout: of its calls; by default the default group's.
        backend: as in `init_process_group`; by default the default group's.
        pg_options: taken for PyTorch's sake.
        use_local_synchronization: whether only the members call it.
        group_desc: what it is for.
        device_id: taken for PyTorch's sake.
        sort_ranks: whether the order of ``ranks`` is theirs by number.

    Returns:
        The group, or `GroupMember.NON_GROUP_MEMBER` for processes that are not in it.

    Raises:
        TypeError: if ``ranks`` are no whole numbers, or ``timeout`` is no timedelta.
        ValueError: if there is no such rank, or one is named twice.
    """
    world = default_group()
    members = list(world.ranks) if ranks is None else _whole_numbers(ranks)
    limit = limited(timeout, world.timeout)
    if sort_ranks:
        members.sort()
    if len(members) > world.size():
        raise ValueError("the new group's world size should be less or equal to the world size set by "
                         "init_process_group")  # fmt: skip
    for rank in members:
        if not 0 <= rank < world.size():
            raise ValueError(
                f"Rank {rank} is out of range. Valid ranks are 0 to {world.size() - 1} "
                f"(world_size={world.size()})"
            )
    if len(set(members)) < len(members):
        raise ValueError(f"ranks list must not contain duplicate entries, got {members}")
    inside = world.position in members
    if use_local_synchronization and not inside:
        return NON_MEMBER
    made = world.engines if backend is None else by_device(backend)
    name = _local_name(members) if use_local_synchronization else str(WORLD.count)
    # Its own timeout is for its calls: to come here takes each rank as long as any other call may take.
    patience = max(limit, world.timeout)
    call = world.call(
        "new_group", shape=tuple(members), timeout=patience, message=use_local_synchronization
    )
    if use_local_synchronization:
        call = _assembled(world, call, members, name, patience)
    found = parted(world, made, call, members, PrefixStore(name, world.store), limit)
    WORLD.count += not use_local_synchronization
    if not inside:
        return NON_MEMBER
    return known(
        ProcessGroup(
            name, members, members.index(world.position), backend=backend or world.backend, engines=made,
            communicators=found,
            store=PrefixStore(name, world.store), timeout=limit, desc=group_desc or "undefined",
        )
    )  # fmt: skip


def limited(timeout: Any, default: timedelta) -> timedelta:
    """A timeout, or the default one for None.

    Raises:
        TypeError: if it is no timedelta.
    """
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(
            f"Expected timeout argument to be of type datetime.timedelta, got {timeout}"
        )
    return default if timeout is None else timeout


def _whole_numbers(ranks: Any) -> list[int]:
    try:
        return [operator.index(rank) for rank in ranks]
    except TypeError:
        raise TypeError(f"ranks must be a list of whole numbers, got {ranks!r}") from None


def _local_name(members: Sequence[int]) -> str:
    """A name for a group of which only the members know, who count alike: one that no other has had."""
    text = "_".join(map(str, members))
    WORLD.assembled[text] += 1
    return f"local_{text}/{WORLD.assembled[text] - 1}"


def _assembled(
    world: Members, call: Call, members: Sequence[int], name: str, limit: timedelta
) -> Call:
    """Wait until all members have come, through the store; the call of these alone.

    Raises:
        DistributedError: if one does not come in time.
    """
    seconds = limit.total_seconds()
    number = (
        int(name.rpartition("/")[2]) + 1
    )  # alike: ranks have sent each other other numbers of messages
    own = Call(
        call.op, number, name, tuple(members), members.index(world.position),
        shape=call.shape, where=place(), seconds=seconds + _MORE,
    )  # fmt: skip
    deadline = time.monotonic() + seconds
    world.store.set(f"assembly/{name}/{world.position}", "here")
    keys = {f"assembly/{name}/{rank}": rank for rank in members}
    missing = [keys[key] for key in await_keys(own, world.store, [*keys], deadline)]
    # The first who knows decides for all, so that nobody goes on alone.
    verdict = f"rank {missing[0]} did not come to rank {world.position}" if missing else _ALL_CAME
    found = world.store.compare_set(f"assembly/{name}/end", "", verdict).decode()
    if found == _ALL_CAME:
        return own
    text = f"not done after {seconds:g} s: {found}"
    culprit = int(found.split()[1])
    raise own.error(text, culprit, dict.fromkeys(missing, "did not come"))


_ALL_CAME: Final = "all have come"
_MORE: Final = 60.0  # seconds after the deadline, in which MPI's own steps end
