"""How processes find each other: who they are, and the store that they share."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, urlparse

from .engine import Engine
from .errors import DistNetworkError
from .fake import FakeStore
from .patience import ended_after
from .stores import DEFAULT_TIMEOUT, FileStore, Store
from .tcp_store import TCPStore

__all__ = ["Found", "alone", "find", "register_rendezvous_handler", "rendezvous"]


class Found(NamedTuple):
    """What a rendezvous ends with: a store, and who this process is."""

    store: Store
    rank: int
    world_size: int


Handler = Callable[..., Iterator[Any]]
_HANDLERS: Final[dict[str, Handler]] = {}
_NOT_ALL: Final = (
    "mindtorch: rank {rank} of {size} ends: after {seconds:g} s WHO come to init_process_group, and "
    "{engine} waits for each without end.\n  fix: call it in all processes that the launcher has started, "
    "or start them by `mindtorch run -n {size} SCRIPT`, which says who has not come"
)
_STARTS: Final = count()


def register_rendezvous_handler(scheme: str, handler: Handler) -> None:
    """Let URLs of a scheme be answered by a generator of ``(store, rank, world_size)``.

    Raises:
        RuntimeError: if the scheme has one.
    """
    if scheme in _HANDLERS:
        raise RuntimeError(f"Rendezvous handler for {scheme}:// already registered")
    _HANDLERS[scheme] = handler


def rendezvous(url: str, rank: int = -1, world_size: int = -1, **kwargs: Any) -> Iterator[Any]:
    """Triples of store, rank and world size, from what an URL says.

    Raises:
        AssertionError: if the URL says a rank or a world size, and so do the arguments.
        RuntimeError: for a scheme that nobody answers, or a text that is no URL.
    """
    if not isinstance(url, str):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url}")
    if not isinstance(rank, int):
        raise RuntimeError(f"`rank` must be an integer. {rank}")
    if not isinstance(world_size, int):
        raise RuntimeError(f"`world_size` must be an integer. {world_size}")
    scheme, query = urlparse(url).scheme, urlparse(url).query
    if (rank, world_size) != (-1, -1) and {"rank", "world_size"} & {
        name for name, _ in parse_qsl(query)
    }:
        raise AssertionError(
            f"The url: {url} has node-specific arguments(rank, world_size) already."
        )
    if scheme not in _HANDLERS:
        raise RuntimeError(f"No rendezvous handler for {scheme}://")
    return _HANDLERS[scheme](url, rank=rank, world_size=world_size, **kwargs)


def _said(url: str, rank: int, world_size: int) -> tuple[int, int]:
    """Rank and world size, of which the URL may speak."""
    query = dict(parse_qsl(urlparse(url).query))
    return (
        int(query.get("rank", -1)) if rank < 0 else rank,
        int(query.get("world_size", -1)) if world_size < 0 else world_size,
    )


def _missing(scheme: str, what: str) -> ValueError:
    return ValueError(f"Error initializing torch.distributed using {scheme}:// rendezvous: {what}")


def _check_within(scheme: str, rank: int, world_size: int) -> None:
    """Refuse a rank that is none of the world's, before anybody waits for others."""
    if not 0 <= rank < world_size:
        raise _missing(scheme, f"rank {rank} is none of {world_size} processes")


def _by_file(
    url: str, rank: int = -1, world_size: int = -1, timeout: timedelta = DEFAULT_TIMEOUT, **_: Any
) -> Iterator[Found]:
    rank, world_size = _said(url, rank, world_size)
    path = urlparse(url).path
    if not path:
        raise _missing("file", "path missing")
    for value, name in ((rank, "rank"), (world_size, "world size")):
        if value < 0:
            raise _missing("file", f"{name} parameter missing")
    _check_within("file", rank, world_size)
    store = FileStore(path, world_size)
    store.set_timeout(timeout)
    yield Found(store, rank, world_size)
    raise RuntimeError("Unable to perform rerendezvous using file:// method")


def _by_tcp(
    url: str, rank: int = -1, world_size: int = -1, timeout: timedelta = DEFAULT_TIMEOUT, **_: Any
) -> Iterator[Found]:
    rank, world_size = _said(url, rank, world_size)
    parsed = urlparse(url)
    if parsed.port is None or not parsed.hostname:
        raise _missing("tcp", "port number missing")
    for value, name in ((rank, "rank"), (world_size, "world size")):
        if value < 0:
            raise _missing("tcp", f"{name} parameter missing")
    _check_within("tcp", rank, world_size)
    store = _served(parsed.hostname, parsed.port, rank, world_size, timeout)
    yield Found(store, rank, world_size)
    raise RuntimeError("Unable to perform re-rendezvous using tcp:// method")


def _asked(name: str, given: int = -1) -> str:
    if given >= 0:
        return str(given)
    if name not in os.environ:
        raise _missing("env", f"environment variable {name} expected, but not set")
    return os.environ[name]


def _ranks_asked(url: str, rank: int, world_size: int) -> tuple[int, int]:
    """Rank and world size: given, in the URL, or in the environment."""
    rank, world_size = _said(url, rank, world_size)
    return int(_asked("RANK", rank)), int(_asked("WORLD_SIZE", world_size))


def _by_environment(
    url: str, rank: int = -1, world_size: int = -1, timeout: timedelta = DEFAULT_TIMEOUT, **_: Any
) -> Iterator[Found]:
    rank, world_size = _ranks_asked(url, rank, world_size)
    host, port = _asked("MASTER_ADDR"), int(_asked("MASTER_PORT"))
    _check_within("env", rank, world_size)
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":  # the launcher serves it
        store: Store = TCPStore(host, port, world_size, False, timeout)
    else:
        store = _served(host, port, rank, world_size, timeout)
    yield Found(store, rank, world_size)
    raise RuntimeError("Unable to perform re-rendezvous using env:// method")


def _served(host: str, port: int, rank: int, world_size: int, timeout: timedelta) -> Store:
    # Workers are not waited for here: they meet in the store.
    try:
        return TCPStore(
            host, port, world_size, rank == 0, timeout, wait_for_workers=False, multi_tenant=True
        )
    except DistNetworkError as error:
        if rank == 0:
            raise
        raise DistNetworkError(
            f"{error}; rank 0, which serves the store, did not come to init_process_group, or has left it"
        ) from error


register_rendezvous_handler("env", _by_environment)
register_rendezvous_handler("file", _by_file)
register_rendezvous_handler("tcp", _by_tcp)


# ---- without an URL: what has started the processes ------------------------------------------------


def alone(url: str, rank: int, world_size: int) -> Found:
    """Who this process is where there are no others.

    Raises:
        ValueError: if nothing says so, or it cannot be.
    """
    rank, world_size = _ranks_asked(url, rank, world_size)
    if not 0 <= rank < world_size:
        raise ValueError(f"rank {rank} is none of {world_size} processes")
    return Found(FakeStore(), rank, world_size)


def find(engine: Engine, rank: int, world_size: int, timeout: timedelta) -> Found:
    """Who this process is, by what has started it: torchrun's variables, MPI, or Slurm.

    Raises:
        ValueError: if nothing says so.
    """
    env = os.environ
    named = rank >= 0 or "RANK" in env, world_size >= 0 or "WORLD_SIZE" in env
    if not all(named):
        started = engine.launched()
        if started is not None:
            if "MASTER_ADDR" in env and "MASTER_PORT" in env:
                return next(_by_environment("env://", *started, timeout=timeout))
            return _by_engine(engine, *started, timeout)
        if "SLURM_PROCID" in env and "SLURM_NTASKS" in env:
            return _by_slurm(timeout)
    return next(_by_environment("env://", rank, world_size, timeout=timeout))


def _by_engine(engine: Engine, rank: int, size: int, timeout: timedelta) -> Found:
    """The engine's own launcher has started all: rank 0 serves a store and says where."""
    store = TCPStore("localhost", 0, size, True, timeout, False) if rank == 0 else None
    here = "" if store is None else f"{_address(size)}:{store.port}"
    seconds = timeout.total_seconds()
    text = _NOT_ALL.format(rank=rank, size=size, seconds=seconds, engine=engine.name)
    with ended_after(seconds, text, _marks(engine.folder(), rank, size)):
        host, _, port = engine.share(here).rpartition(":")
    if store is None:
        store = TCPStore(host, int(port), size, False, timeout)
    return Found(store, rank, size)


def _marks(folder: str, rank: int, size: int) -> list[Path]:
    """A file for each rank, this one's made now: the launcher removes them with the folder."""
    if not folder:
        return []
    start = next(_STARTS)  # all processes count alike
    marks = [Path(folder) / f"mindtorch-start-{start}-rank-{each}" for each in range(size)]
    try:
        marks[rank].touch()
    except OSError:
        return []
    return marks


def _address(size: int) -> str:
    """How other processes reach this machine: by itself, where all of them are here."""
    local = os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") or os.environ.get("MPI_LOCALNRANKS")
    return "127.0.0.1" if local == str(size) else socket.gethostname()


def _by_slurm(timeout: timedelta) -> Found:
    """A step of Slurm's: its first machine serves the store."""
    env = os.environ
    rank, size = int(env["SLURM_PROCID"]), int(env["SLURM_NTASKS"])
    host = env.get("MASTER_ADDR") or env.get("SLURM_LAUNCH_NODE_IPADDR") or "127.0.0.1"
    # A port that the jobs of one machine do not share.
    job = int(env.get("SLURM_JOB_ID", "0"))
    port = int(env.get("MASTER_PORT", 20_000 + job % 20_000))
    return Found(_served(host, port, rank, size, timeout), rank, size)
