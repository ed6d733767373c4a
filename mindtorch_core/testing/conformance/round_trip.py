"""Run in a fresh interpreter: what loading a backend changes, unloading and failing take back.

The process ends with status 0, or with 77 where it does not find the backend, or with a line that says
what is left behind.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pkgutil import iter_modules
from typing import Any, Final

import mindtorch_core as torch

from ... import plugins
from ...dispatch.registry import registry
from ...plugins import loader
from ...values.devices import TABLE
from ...values.errors import BackendUnavailableError

__all__ = ["COMMAND", "NOT_INSTALLED", "main"]

NOT_INSTALLED: Final = 77
# What the fresh interpreter runs; its arguments are a device and the entry point that serves it.
COMMAND: Final = f"import sys; from {__name__} import main; sys.exit(main(*sys.argv[1:]))"
State = dict[str, set[str]]


class _Left(Exception):
    """Something is left behind, or missing, which the message says."""


def _state() -> State:
    """What a backend may change of the core, as sets of names by what they are."""
    return {
        "kernels": {f"{e.name} at {key.name}" for e in registry for key in e.kernels},
        "ops": {e.name for e in registry if e.definition is not None or e.schema is not None},
        "fallbacks": {key.name for key in registry.fallbacks},
        # Also those that are not looked up yet, but for the core's own modules: they come as imported.
        "names in torch": set(dir(torch)) - {m.name for m in iter_modules(torch.__path__)},
        "names in torch.Tensor": set(dir(torch.Tensor)),
        "devices": set(TABLE),
    }


def _compare(found: State, wanted: State, what: str) -> None:
    """Check that two states are one.

    Raises:
        _Left: if they are not.
    """
    for kind, names in wanted.items():
        more, less = found[kind] - names, names - found[kind]
        if more:
            raise _Left(f"{what} leaves {kind}: {_some(more)}")
        if less:
            raise _Left(f"{what} takes {kind} that were there before: {_some(less)}")


def _some(names: set[str]) -> str:
    shown = sorted(names)
    return ", ".join(shown[:5]) + (f" and {len(shown) - 5} more" if len(shown) > 5 else "")


def _use(device: str) -> None:
    """Let the backend do what it puts off until it is used; nothing without a device."""
    if not TABLE[device].runtime.device_count():
        return
    t = torch.zeros(2, 3, device=device)
    (t + 1).sum()


@contextmanager
def _last_registration_fails(count: int) -> Iterator[None]:
    """Let one registration raise inside the block: the last of as many as a loading makes."""
    done, right = 0, registry._done

    def fail(*args: Any) -> Any:
        nonlocal done
        done += 1
        made = right(*args)
        if done == count:
            raise RuntimeError("this registration was made to fail by the conformance kit")
        return made

    registry._done = fail  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        del registry._done


def _round_trip(device: str, entry: str) -> None:
    """Load, use, unload; load once more; let a loading fail half-way; load a last time."""
    before = _state()
    plugins.load(device)
    loaded = _state()
    _use(device)
    plugins.unload(entry)
    _compare(_state(), before, f"unloading {entry}")
    count = _registrations(device)
    _compare(_state(), loaded, "loading a second time")
    plugins.unload(entry)
    _fail(device, count, before)
    loader.rediscover()
    plugins.load(device)
    _compare(_state(), loaded, "loading after a loading that failed")


def _registrations(device: str) -> int:
    """Load the backend, and count its registrations."""
    count, right = 0, registry._done

    def counted(*args: Any) -> Any:
        nonlocal count
        count += 1
        return right(*args)

    registry._done = counted  # type: ignore[assignment, method-assign]
    try:
        plugins.load(device)
    finally:
        del registry._done
    return count


def _fail(device: str, count: int, before: State) -> None:
    """Load the backend while its last registration fails."""
    if not count:
        return
    with _last_registration_fails(count), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plugins.load(device)
        except BackendUnavailableError:
            _compare(_state(), before, "a loading that fails half-way")
            return
    entry = next(s.name for s in plugins.backends() if s.device == device)
    plugins.unload(entry)  # it does without that registration


def main(device: str, entry: str) -> int | str:
    """Status of the process: 0, `NOT_INSTALLED`, or what is wrong."""
    registry.on_demand.define_all()
    names = [status.name for status in plugins.backends()]
    if entry not in names:
        return NOT_INSTALLED
    for name in names:  # the others come first: what they register is none of this backend's
        if name != entry:
            with suppress(BackendUnavailableError):
                plugins.load(name)
    if device in TABLE:  # one of them needs it
        plugins.unload(entry)
    for other in [name for name in ("meta", "cpu") if name in TABLE][:1]:
        _use(other)  # what the core itself puts off until tensors are used is no backend's
    try:
        _round_trip(device, entry)
    except _Left as problem:
        return str(problem)
    return 0
