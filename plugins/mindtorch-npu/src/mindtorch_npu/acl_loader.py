"""Finding and loading CANN's libraries; nothing is loaded before `load` is called.

The libraries are opened by absolute path and in an order in which each finds what it needs, because
``LD_LIBRARY_PATH`` is read when a process starts: changing it later has no effect on the process.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from . import custom
from .toolkit import STUBS, Candidate, Toolkit, search
from .visible import misread

__all__ = [
    "Libraries",
    "Opened",
    "Report",
    "Toolkit",
    "ToolkitError",
    "ToolkitLoadError",
    "ToolkitNotFoundError",
    "find",
    "load",
    "report",
]

INSTALL: Final = (
    "install Ascend's driver and CANN toolkit (8.1.RC1 or later) and `source <toolkit>/set_env.sh`, "
    "or set ASCEND_TOOLKIT_HOME to the toolkit's directory"
)
DOCTOR: Final = "`mindtorch doctor npu` tells more"


class ToolkitError(RuntimeError):
    """CANN's toolkit cannot be used.

    Attributes:
        problem: what is wrong.
        fix: what to do.
    """

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem, fix)
        self.problem = problem
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.problem}\n  fix: {self.fix}; {DOCTOR}."


class ToolkitNotFoundError(ToolkitError):
    """No usable toolkit is installed, or the environment does not name it."""


class ToolkitLoadError(ToolkitError):
    """A toolkit was found, but a library that is needed cannot be loaded."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What became of one library.

    Attributes:
        name: its file name.
        path: where it is; None if no such file was found.
        error: why it could not be loaded; empty if it was.
        required: whether nothing works without it.
    """

    name: str
    path: Path | None
    error: str
    required: bool

    @property
    def loaded(self) -> bool:
        """Whether it is loaded."""
        return self.path is not None and not self.error


@dataclass(frozen=True, slots=True)
class Report:
    """What was searched, found and loaded.

    Attributes:
        searched: the places, the preferred ones first.
        toolkit: the toolkit that is, or would be, used.
        opened: the libraries in the order of loading; empty before `load` was called.
        warnings: what is odd about the environment.
    """

    searched: tuple[Candidate, ...]
    toolkit: Toolkit | None
    opened: tuple[Opened, ...]
    warnings: tuple[str, ...]


@dataclass(slots=True)
class Libraries:
    """The loaded libraries of a toolkit.

    Attributes:
        toolkit: where they come from.
        opened: what became of each library.
        runtime: handles to look for functions of the runtime in, in this order.
        operators: handles to look for operators in, in this order.
        custom: handles of custom operator packages, which are looked in before the others.
    """

    toolkit: Toolkit
    opened: tuple[Opened, ...] = ()
    runtime: list[ctypes.CDLL] = field(default_factory=list)
    operators: list[ctypes.CDLL] = field(default_factory=list)
    custom: list[ctypes.CDLL] = field(default_factory=list)

    def function(self, symbol: str, *, quick: bool = False) -> Any | None:
        """A new ctypes function for a symbol, or None if no library exports it.

        Args:
            symbol: the name of the C function.
            quick: whether it is called without releasing Python's lock.
        """
        operator = symbol.startswith("aclnn")
        everywhere = (*self.custom, *self.operators, *self.runtime)
        for library in everywhere if operator else self.runtime:
            opener = ctypes.PyDLL(library._name, handle=library._handle) if quick else library
            try:
                return opener[symbol]
            except AttributeError:
                continue
        return None


@dataclass(frozen=True, slots=True)
class _Step:
    """Libraries to open at one point of the order: all files that match a pattern."""

    pattern: str
    required: bool = False
    shared: bool = False  # symbols are visible to the libraries loaded later
    role: str = ""  # whether functions are looked for in it


_STEPS: Final = (
    _Step("libascend_protobuf.so*", shared=True),
    _Step("libplatform.so", shared=True),
    _Step("libascendcl.so", required=True, shared=True, role="runtime"),
    _Step("libnnopbase.so", required=True, shared=True, role="runtime"),
    _Step("libaclnn_*.so", role="operators"),  # up to 8.3: operators by domain
    _Step("libopapi_*.so", role="operators"),  # from 8.5 on: operators by package
    _Step("libopapi.so", shared=True, role="operators"),
)
_FRONT: Final = "libopapi.so"
_DRIVER: Final = "libascend_hal.so"

_lock: Final = threading.RLock()
_loaded: Libraries | None = None
_opened: tuple[Opened, ...] = ()


def find(environ: Mapping[str, str] | None = None) -> Toolkit | None:
    """The toolkit to use, or None if there is none. Loads nothing.

    Args:
        environ: the environment; by default that of the process.
    """
    return next((c.toolkit for c in search(environ) if c.toolkit is not None), None)


def load() -> Libraries:
    """Load the toolkit's libraries; later calls return the same object.

    Raises:
        ToolkitNotFoundError: if there is no usable toolkit.
        ToolkitLoadError: if one of its libraries cannot be loaded.
    """
    global _loaded, _opened
    if _loaded is not None:
        return _loaded
    with _lock:
        if _loaded is None:
            candidates = search()
            toolkit = next((c.toolkit for c in candidates if c.toolkit is not None), None)
            if toolkit is None:
                raise ToolkitNotFoundError(_looked_at(candidates), INSTALL)
            _complete_environment(toolkit)
            opening = _Opening(toolkit)
            try:
                opening.all()
            finally:
                _opened = tuple(opening.opened)
            _loaded = opening.libraries
            _loaded.opened = _opened
        return _loaded


def report() -> Report:
    """What was searched, found and loaded so far. Loads nothing."""
    searched = tuple(search())
    found = next((c.toolkit for c in searched if c.toolkit is not None), None)
    with _lock:
        toolkit = found if _loaded is None else _loaded.toolkit
        return Report(searched, toolkit, _opened, tuple(_warnings(toolkit)))


class _Opening:
    """Opens the libraries of a toolkit one after the other."""

    def __init__(self, toolkit: Toolkit) -> None:
        self.libraries = Libraries(toolkit)
        self.opened: list[Opened] = []

    def all(self) -> None:
        """Open all of them.

        Raises:
            ToolkitLoadError: if one that is needed cannot be.
        """
        self._open_driver()
        for step in _STEPS:
            self._open_step(step)
        # libopapi.so has every operator where the others have parts of them.
        self.libraries.operators.sort(key=lambda library: Path(library._name).name != _FRONT)
        if not self.libraries.operators:
            failed = [o for o in self.opened if o.name.startswith("libopapi") and o.path]
            self._fail(
                replace(failed[-1], required=True)
                if failed
                else Opened(_FRONT, None, "no such file, and no libopapi_*.so either", True)
            )
        for path in custom.libraries(self.libraries.toolkit.operators):
            if os.path.isfile(path):
                self._open(path, _Step(path.name, role="custom"))
            else:
                self.opened.append(Opened(path.name, path, "no such file", False))

    def _open_step(self, step: _Step) -> None:
        toolkit = self.libraries.toolkit
        plain = toolkit.library(step.pattern)
        paths = [plain] if plain is not None else toolkit.libraries(step.pattern)
        for path in paths:
            self._open(path, step)
        if not paths and step.required:
            self._fail(Opened(step.pattern, None, "no such file", True))
        if not paths and "*" not in step.pattern:
            self.opened.append(Opened(step.pattern, None, "no such file", False))

    def _open(self, path: Path, step: _Step) -> None:
        stub = STUBS.intersection(path.resolve().parts)
        if stub:
            self._record(path, step.required, f"a stub to link against (directory '{min(stub)}')")
            return
        mode = ctypes.RTLD_GLOBAL if step.shared else ctypes.RTLD_LOCAL
        try:
            library = ctypes.CDLL(str(path), mode=mode)
        except OSError as error:
            self._record(path, step.required, str(error))
            return
        self._record(path, step.required)
        if step.role:
            getattr(self.libraries, step.role).append(library)

    def _open_driver(self) -> None:
        """Open the driver's interface, which the runtime needs, where it is not on the path."""
        root = self.libraries.toolkit.root
        prefixes = dict.fromkeys((root.parent, root.parent.parent, Path("/usr/local/Ascend")))
        for prefix in prefixes:
            for part in ("driver", "common"):
                path = prefix / "driver" / "lib64" / part / _DRIVER
                if os.path.isfile(path):
                    self._open(path, _Step(_DRIVER, shared=True))
                    return

    def _record(self, path: Path, required: bool, error: str = "") -> None:
        entry = Opened(path.name, path, error, required)
        if error and required:
            self._fail(entry)
        self.opened.append(entry)

    def _fail(self, entry: Opened) -> None:
        self.opened = [o for o in self.opened if o.name != entry.name] + [entry]
        root = self.libraries.toolkit.root
        raise ToolkitLoadError(
            f"{entry.name} of the CANN toolkit in {root} cannot be loaded: {entry.error}.",
            _cure(entry.error, root),
        )


def _cure(error: str, root: Path) -> str:
    if _DRIVER in error or "libdrvdsmi" in error:
        return (
            "install the Ascend driver, and put its lib64/driver and lib64/common directories on "
            "LD_LIBRARY_PATH (in a container: mount them)"
        )
    if "no such file" in error:
        return "install the whole toolkit, the operator packages (opp) included"
    return f"`source {root}/set_env.sh` before Python is started"


def _looked_at(candidates: list[Candidate]) -> str:
    places = "".join(f"\n    {c.path} ({c.source}): {c.reason}" for c in candidates)
    return f"no usable CANN toolkit was found. Looked at:{places}"


def _complete_environment(toolkit: Toolkit) -> None:
    """Set what the libraries read themselves, as set_env.sh would; what is set is left alone."""
    values = dict.fromkeys(
        ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH", "ASCEND_AICPU_PATH"), toolkit.root
    )
    if toolkit.operators.is_dir():
        values["ASCEND_OPP_PATH"] = toolkit.operators
    for variable, value in values.items():
        if not os.environ.get(variable, "").strip():
            os.environ[variable] = str(value)


def _warnings(toolkit: Toolkit | None) -> list[str]:
    found = [
        f"LD_LIBRARY_PATH names {entry}, a directory of stubs to link against: take it out"
        for entry in os.environ.get("LD_LIBRARY_PATH", "").split(":")
        if STUBS.intersection(Path(entry).parts)
    ]
    if misread():
        found.append(misread())
    if toolkit is None:
        return found
    root = os.path.realpath(toolkit.root)
    expected = {"ASCEND_TOOLKIT_HOME": root, "ASCEND_HOME_PATH": root}
    expected["ASCEND_OPP_PATH"] = os.path.realpath(toolkit.operators)
    for variable, value in expected.items():
        given = os.environ.get(variable, "").strip()
        if given and os.path.realpath(given) != value:
            found.append(f"{variable} names {given}, but the toolkit in use is {toolkit.root}")
    return found
