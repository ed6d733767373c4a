"""Finding and loading backends. Loading is a transaction: it succeeds whole or leaves nothing."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..dispatch.keys import (
    AUTOGRAD_OF,
    BACKEND_KEYS,
    DEFAULT_INCLUDED,
    PRIVATE_USE_KEYS,
    DispatchKey,
    parse_key,
)
from ..dispatch.registry import registry
from ..values.devices import TABLE, DeviceRow, set_loader
from ..values.errors import BackendConflictError, BackendUnavailableError
from ..values.user_warnings import warn_user
from .absence import unavailable, unknown_names
from .checking import check_hooks, line_of, package_of
from .device_module import DeviceModule
from .turns import Turns

if TYPE_CHECKING:
    from pathlib import Path

    import pluggy
    from importlib_metadata import EntryPoint

    from .backend import Backend
    from .numerics import Numerics

__all__ = [
    "GROUP",
    "BackendStatus",
    "Loader",
    "backends",
    "chosen_by",
    "is_installed",
    "load",
    "load_all",
    "unload",
]

GROUP: Final = "mindtorch.backends"
VARIABLE: Final = "MINDTORCH_BACKENDS"
T = TypeVar("T")


class BackendStatus(SimpleNamespace):
    """State of one installed backend.

    Attributes:
        name: entry-point name.
        distribution: ``name version`` of the distribution.
        state: ``available``, ``loaded``, ``failed`` or ``disabled``.
        error: why it failed.
        place: where it failed: a line of the plugin, or else its entry point.
        device, key: what it serves once loaded.
        seconds: how long loading took.
    """

    name: str
    distribution: str
    state: str
    error: BaseException | None
    place: str
    device: str
    key: str
    seconds: float

    def __init__(self, name: str, distribution: str) -> None:
        super().__init__(
            name=name, distribution=distribution, state="available", error=None, place="",
            device="", key="", seconds=0.0,
        )  # fmt: skip


class Loader:
    """The process's plugins of one kind. One thread loads a plugin; several may be loaded at a time.

    Attributes:
        group: of the entry points.
        variable: of the environment, which chooses among them.
        kind: what messages call such a plugin.
    """

    group = GROUP
    variable = VARIABLE
    kind = "backend"

    def __init__(self) -> None:
        self.turns = Turns()
        self.found: dict[str, tuple[EntryPoint, BackendStatus]] | None = None
        self.undo: dict[str, list[Callable[[], None]]] = {}
        self._manager: pluggy.PluginManager | None = None

    @property
    def lock(self) -> threading.RLock:
        """Held while anybody looks at or changes which backends there are; not while one loads."""
        return self.turns.lock

    @property
    def manager(self) -> pluggy.PluginManager:
        """Calls hooks."""
        if self._manager is None:
            import pluggy

            from . import hookspecs

            self._manager = pluggy.PluginManager(hookspecs.PROJECT)
            self._manager.add_hookspecs(hookspecs)
        return self._manager

    def discover(self) -> dict[str, tuple[EntryPoint, BackendStatus]]:
        """The installed entry points by name; two of one name: the second is refused."""
        if self.found is None:
            from importlib_metadata import entry_points

            chosen = chosen_by(self.variable)
            found: dict[str, tuple[EntryPoint, BackendStatus]] = {}
            for ep in entry_points(group=self.group):
                status = BackendStatus(ep.name, _distribution(ep))
                if chosen is not None and ep.name not in chosen:
                    status.state = "disabled"
                if ep.name in found:
                    first = found[ep.name][1]
                    if first.distribution != status.distribution and status.state != "disabled":
                        _warn(
                            f"the {self.kind} '{ep.name}' of {status.distribution} is ignored, "
                            f"because {first.distribution} supplies one of that name; uninstall "
                            f"one of them."
                        )
                    continue
                found[ep.name] = (ep, status)
            self.found = found
            problem = unknown_names(self.variable, chosen or (), found)
            if problem:
                _warn(problem)
        return self.found

    def load_entry(self, name: str) -> None:
        """Load one plugin; a failure is a warning and remembered."""
        with self.lock:
            ep, status = self.discover()[name]
        if status.state in ("available", "loading"):
            with self.turns.at(name, status) as mine:
                if mine:
                    self._load_now(ep, status)

    def _load_now(self, ep: EntryPoint, status: BackendStatus) -> None:
        before = set(sys.modules)
        start = time.perf_counter()
        try:
            # Independent: a backend that this one needs stays loaded when this one fails.
            with registry.transaction(status.distribution, independent=True) as journal:
                self._load(ep, status)
        except (KeyboardInterrupt, GeneratorExit):
            _forget_modules(ep, set(sys.modules) - before)
            raise
        except BaseException as error:  # noqa: BLE001 (a plugin may raise anything)
            _forget_modules(ep, set(sys.modules) - before)
            status.state, status.error = "failed", error
            status.place = line_of(ep, error) or f"the entry point {ep.name} = {ep.value}"
            status.device = status.key = ""
            _warn(
                f"the {self.kind} '{ep.name}' of {status.distribution} could not be loaded and is left "
                f"out: {type(error).__name__}: {error} (at {status.place})"
            )
        else:
            status.state = "loaded"
            self.undo[ep.name] = journal
        finally:
            status.seconds = time.perf_counter() - start

    def _load(self, ep: EntryPoint, status: BackendStatus) -> None:
        from .backend import Backend

        plugin, backend = self.description(ep, "mindtorch_backend", Backend)
        with self.lock:
            row = _claim(backend, status)
            backend.runtime.key = row.keys
            backend.runtime.type = backend.device
            TABLE[backend.device] = row
            registry.note(lambda: _leave(backend.device))
        registry.forget_computed()
        status.device, status.key = backend.device, DispatchKey(row.key).name
        self.answers(plugin, "mindtorch_register", key=DispatchKey(row.key))

    def description(self, ep: EntryPoint, hook: str, kind: type[T]) -> tuple[object, T]:
        """Import a plugin's module, register it, and return it with what it says of itself.

        Raises:
            TypeError: if its hook does not return one description.
        """
        plugin = ep.load()
        check_hooks(plugin)
        pm = self.manager
        with self.lock:
            pm.register(plugin, name=ep.name)
            registry.note(lambda: _ignore(pm.unregister(name=ep.name)))
            pm.check_pending()
        answers = self.answers(plugin, hook)
        if len(answers) != 1 or not isinstance(answers[0], kind):
            found = f"it returns {answers[0]!r}" if answers else "there is none, or it returns None"
            raise TypeError(
                f"{ep.value} must implement the hook {hook}() and return one {kind.__name__}: {found}"
            )
        return plugin, answers[0]

    def answers(self, plugin: object, hook: str, **arguments: Any) -> list[Any]:
        """What a plugin's own implementation of a hook returns, if that is not None.

        Whatever other plugins are registered meanwhile, by it or in other threads, is not called.
        """
        found = getattr(self.manager.hook, hook).get_hookimpls()
        own = [impl for impl in found if impl.plugin is plugin]
        returned = [impl.function(*(arguments[name] for name in impl.argnames)) for impl in own]
        return [each for each in returned if each is not None]


def _ignore(_: object) -> None:
    """Turn an expression into an undo function's None."""


def _leave(device: str) -> None:
    """Take a device out of the table, and what was computed while it was there."""
    row = TABLE.pop(device, None)
    shown = vars(sys.modules["mindtorch_core"])
    if row is not None and shown.get(device) is row.module:
        del shown[device]  # torch.<device>
    registry.forget_computed()


def _forget_modules(ep: EntryPoint, names: Iterable[str]) -> None:
    """Take those of the named modules that belong to a plugin's package out of `sys.modules`."""
    for name in names:
        if name.partition(".")[0] == package_of(ep):
            del sys.modules[name]


def _warn(text: str) -> None:
    """Warn at the line outside of the core that asked for a device."""
    warn_user(f"mindtorch: {text}", RuntimeWarning)


def _claim(backend: Backend, status: BackendStatus) -> DeviceRow:
    """Reserve the device name and the dispatch key.

    Raises:
        BackendConflictError: if another backend has one of them.
        RuntimeError: if it was written for a plugin API that is not served.
        ValueError: if the device name is not a lower-case identifier, or the key is not for it.
    """
    from .backend import check_api

    check_api(backend.api)
    name = backend.device
    if not name.isidentifier() or name != name.lower():
        raise ValueError(f"a device name must be a lower-case identifier, got {name!r}")
    taken = TABLE.get(name)
    if taken is not None:
        raise BackendConflictError(
            f"the device name '{name}' of {status.distribution} is taken by {taken.distribution}"
        )
    holders = {row.key: row for row in TABLE.rows()}
    if backend.key is None:
        free = [k for k in PRIVATE_USE_KEYS if k not in holders]
        if not free:
            users = ", ".join(holders[k].distribution for k in PRIVATE_USE_KEYS)
            raise BackendConflictError(f"no PrivateUse key is free for '{name}': taken by {users}")
        key = free[0]
    else:
        key = parse_key(backend.key)
        if key in holders:
            raise BackendConflictError(
                f"the dispatch key {key} that {status.distribution} wants is taken by "
                f"{holders[key].distribution}"
            )
    _check_key(name, key)
    autograd = int(AUTOGRAD_OF[key])
    source = status.distribution
    module = DeviceModule(backend.runtime) if backend.module is None else backend.module
    if isinstance(module, DeviceModule):
        module.__name__ = f"torch.{name}"
    keys = int(key | DEFAULT_INCLUDED)
    return DeviceRow(name, int(key), autograd, keys, backend.runtime, source, module)


def _check_key(device: str, key: DispatchKey) -> None:
    """Refuse a key that is no backend's, and another one than a device has that PyTorch knows.

    Raises:
        ValueError: saying which key to take.
    """
    if key not in BACKEND_KEYS:
        raise ValueError(
            f"the dispatch key {key} is no backend's: leave key out, and '{device}' gets one of "
            f"{', '.join(k.name for k in PRIVATE_USE_KEYS)}"
        )
    own = next((k for k in BACKEND_KEYS if k.name.lower() == device), key)
    if key is not own:
        raise ValueError(
            f"the device '{device}' has the dispatch key {own}, not {key}: say key={own.name!r}"
        )


def chosen_by(variable: str) -> set[str] | None:
    """Names in a variable of the environment, or None if it is not set."""
    text = os.environ.get(variable)
    if text is None or not text.strip():
        return None
    names = {part.strip() for part in text.split(",") if part.strip()}
    return set() if names == {"none"} else names


def _distribution(ep: EntryPoint) -> str:
    dist: Any = ep.dist
    return f"{dist.name} {dist.version}" if dist is not None else "an unknown distribution"


_loader: Final = Loader()


def load(device: str) -> DeviceRow:
    """Load the backend of a device type and return its table row.

    Raises:
        BackendUnavailableError: if none is installed, it is switched off, or it failed to load.
    """
    with _loader.lock:
        found = _loader.discover()
    if device in found:
        _loader.load_entry(device)
    elif device not in TABLE:  # an entry point may have another name than its device
        for name in found:
            _loader.load_entry(name)
    row = TABLE.get(device)
    if row is None:
        with _loader.lock:
            error, cause = _unavailable(device)
        raise error from cause
    return row


def load_all() -> None:
    """Load every installed backend that is not switched off."""
    with _loader.lock:
        found = list(_loader.discover())
    for name in found:
        _loader.load_entry(name)


def load_accelerators() -> None:
    """Load the installed backends that nobody asked for yet, but for those that every machine has."""
    for status in backends():
        if status.state == "available" and status.name not in ("cpu", "meta"):
            load(status.name)


def ask(name: str, hook: str, **arguments: Any) -> Any:
    """Call a hook of an installed backend, which is loaded; None if it does not implement the hook.

    Raises:
        BackendUnavailableError: if it is not installed, switched off, or failed to load.
    """
    with _loader.lock:
        known = name in _loader.discover()
    if known:
        _loader.load_entry(name)
    with _loader.lock:
        plugin = _loader.manager.get_plugin(name)
        if plugin is None:
            error, cause = _unavailable(name)
            raise error from cause
    answers = _loader.answers(plugin, hook, **arguments)
    return answers[0] if answers else None


def entry_point(name: str) -> EntryPoint:
    """The entry point of an installed backend, which is not loaded.

    Raises:
        KeyError: if there is none of that name.
    """
    with _loader.lock:
        return _loader.discover()[name][0]


def entry_of(device: str) -> EntryPoint:
    """The entry point of the backend that serves a device.

    Raises:
        BackendUnavailableError: if there is none.
    """
    load(device)
    with _loader.lock:
        return next(ep for ep, status in _loader.discover().values() if status.device == device)


def known_failures_of(device: str) -> Path | None:
    """The file in which a device's backend lists the conformance tests that it fails, or None.

    Raises:
        BackendUnavailableError: if no backend serves the device.
        FileNotFoundError: if its distribution names a file that is not there.
    """
    from pathlib import Path

    ep = entry_of(device)
    backend: Backend = ask(ep.name, "mindtorch_backend")
    if not backend.known_failures:
        return None
    path = Path(str(sys.modules[ep.module].__file__)).parent / backend.known_failures
    if not path.is_file():
        raise FileNotFoundError(
            f"the backend of '{device}' says that {path} lists its known failures"
        )
    return path


def numerics_of(device: str) -> Numerics:
    """What a device's backend declares of its arithmetic.

    Raises:
        BackendUnavailableError: if no backend serves the device.
    """
    from .numerics import Numerics

    backend: Backend = ask(entry_of(device).name, "mindtorch_backend")
    return backend.numerics or Numerics()


def unload(name: str) -> None:
    """Take a loaded backend's registrations back. For tests.

    What this thread's pipelines have recorded is launched first. Tensors and storages of the device
    that are still alive raise `BackendUnavailableError` from then on for every op and every look at
    their memory, also if a backend of that name is loaded again. Its default generators are forgotten.

    Raises:
        KeyError: if no backend of that name is loaded.
    """
    from .unloading import retire

    with _loader.lock:
        if name not in _loader.undo:
            raise KeyError(f"no backend {name!r} is loaded")
        retire(_loader.discover()[name][1].device)
        journal = _loader.undo.pop(name)
        for undo in reversed(journal):
            undo()
        ep, status = _loader.discover()[name]
        _forget_modules(ep, list(sys.modules))
        status.state, status.device, status.key = "available", "", ""


def backends() -> list[BackendStatus]:
    """State of every installed backend; loads none."""
    with _loader.lock:
        return [status for _, status in _loader.discover().values()]


def is_installed(name: str) -> bool:
    """Whether a backend of that name is installed; loads none."""
    with _loader.lock:
        return name in _loader.discover()


def rediscover() -> None:
    """Forget what was discovered but not loaded. For tests that change the path."""
    with _loader.lock:
        if _loader.found is not None:
            loaded = {n: v for n, v in _loader.found.items() if v[1].state == "loaded"}
            _loader.found = None
            _loader.found = {**_loader.discover(), **loaded}


def _unavailable(device: str) -> tuple[BackendUnavailableError, BaseException | None]:
    """Why no backend serves a device, and the exception that is the cause of it."""
    found = {name: status for name, (_, status) in _loader.discover().items()}
    return unavailable(device, found, VARIABLE)


set_loader(load, load_accelerators)
registry.load_backends = load_all
