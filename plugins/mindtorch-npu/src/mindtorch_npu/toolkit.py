"""Where CANN's toolkit is installed: the places it may be in, and which of them is used."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Candidate", "Toolkit", "search"]

# In this order: the first of them that names a toolkit decides.
VARIABLES: Final = ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH", "ASCEND_OPP_PATH")
ARCHITECTURES: Final = ("x86_64", "aarch64")
RUNTIME: Final = "libascendcl.so"
# Directories of libraries to link against only: every call of theirs fails with code 100039.
STUBS: Final = frozenset({"devlib", "stub", "stubs"})


@dataclass(frozen=True, slots=True)
class Toolkit:
    """An installed toolkit.

    Attributes:
        root: its directory, what ``ASCEND_TOOLKIT_HOME`` is set to.
        version: such as ``8.1.RC1``; "unknown" if it tells nowhere.
        directories: where its libraries are, in the order to look in.
        source: what led to it, an environment variable or a default place.
    """

    root: Path
    version: str
    directories: tuple[Path, ...]
    source: str

    @property
    def operators(self) -> Path:
        """The operator package, what ``ASCEND_OPP_PATH`` is set to."""
        return self.root / "opp"

    def library(self, name: str) -> Path | None:
        """The path of a library, or None if the toolkit has no such file."""
        paths = (directory / name for directory in self.directories)
        return next((path for path in paths if path.is_file()), None)

    def libraries(self, pattern: str) -> list[Path]:
        """The libraries whose names match a pattern, each name once, sorted."""
        found: dict[str, Path] = {}
        for directory in self.directories:
            for path in directory.glob(pattern):
                found.setdefault(path.name, path)
        return [found[name] for name in sorted(found)]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place that was looked at.

    Attributes:
        path: the directory.
        source: what led to it.
        toolkit: the toolkit there, None if the place was refused.
        reason: why it was refused; empty for a toolkit.
    """

    path: Path
    source: str
    toolkit: Toolkit | None
    reason: str = ""


def search(
    environ: Mapping[str, str] | None = None, system: Path = Path("/usr/local/Ascend")
) -> list[Candidate]:
    """Look at all places where a toolkit may be, the preferred ones first.

    Args:
        environ: the environment; by default that of the process.
        system: where installations for all users are.
    """
    env = os.environ if environ is None else environ
    seen: set[str] = set()
    candidates = []
    for path, source in (*_from_environment(env), *_default_places(env, system)):
        real = os.path.realpath(path)
        if real not in seen:
            seen.add(real)
            try:
                candidates.append(_examine(path, source))
            except OSError as error:
                reason = f"it cannot be read: {error.strerror}"
                candidates.append(Candidate(path, source, None, reason))
    return candidates


def _from_environment(env: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    for variable in VARIABLES:
        value = env.get(variable, "").strip()
        if value:
            path = Path(value).expanduser()
            yield (path.parent if variable == "ASCEND_OPP_PATH" else path), variable


def _default_places(env: Mapping[str, str], system: Path) -> list[tuple[Path, str]]:
    """Installed releases, newest first, then the links to the one that is to be used by default."""
    home = env.get("HOME", "").strip()
    prefixes = [system, *([Path(home) / "Ascend"] if home else [])]
    versioned: list[Path] = []
    links: list[Path] = []
    for prefix in prefixes:
        old = prefix / "ascend-toolkit"
        versioned += [*prefix.glob("cann-*"), *old.glob("[0-9]*")]
        links += [prefix / "cann", old / "latest"]
    versioned.sort(key=lambda place: _newness(place.name.removeprefix("cann-")), reverse=True)
    found = [place for place in (*versioned, *links) if os.path.isdir(place)]
    return [(place, "default place") for place in found or prefixes]


def _newness(version: str) -> tuple[tuple[int, int], ...]:
    """A key that sorts versions: 8.0 < 8.1.RC1.beta1 < 8.1.RC1 < 8.1.RC2 < 8.1 < 8.1.1."""
    ranks = {"alpha": 0, "beta": 1, "rc": 2}
    parts = [
        (ranks.get(word.lower(), -1) if word else 3, int(number or 0))
        for word, number in re.findall(r"([A-Za-z]*)(\d*)", version)
        if word or number
    ]
    return tuple((parts + [(3, 0)] * 6)[:6])


def _examine(path: Path, source: str) -> Candidate:
    if not path.is_dir():
        return Candidate(path, source, None, "there is no such directory")
    machine = platform.machine()
    for directory in _library_directories(path, machine):
        library = directory / RUNTIME
        if library.is_file():
            stub = STUBS.intersection((*library.parts, *library.resolve().parts))
            if stub:
                reason = (
                    f"{library} is a stub to link against (directory '{min(stub)}'), "
                    f"every call of which fails"
                )
                return Candidate(path, source, None, reason)
            found = tuple(d for d in _library_directories(path, machine) if d.is_dir())
            return Candidate(path, source, Toolkit(path, _version(path, machine), found, source))
    for other in ARCHITECTURES:
        if other != machine and (path / f"{other}-linux" / "lib64" / RUNTIME).is_file():
            reason = f"its libraries are for {other}, this machine is {machine}"
            return Candidate(path, source, None, reason)
    if (path / "devlib" / RUNTIME).is_file() or (path / f"{machine}-linux/devlib").is_dir():
        return Candidate(
            path, source, None, f"it has stubs to link against only, no lib64/{RUNTIME}"
        )
    return Candidate(path, source, None, f"it has no lib64/{RUNTIME}")


def _library_directories(root: Path, machine: str) -> tuple[Path, ...]:
    return (
        root / "lib64",
        root / f"{machine}-linux" / "lib64",
        root / "opp" / "lib64",
        root / "opp/built-in/op_impl/ai_core/tbe/op_api/lib/linux" / machine,
    )


def _version(root: Path, machine: str) -> str:
    """The release, from the first of the files that tell it; component versions are not it."""
    release = r"(\d+\.\d+(?:\.[A-Za-z0-9]+)*)"
    for name, pattern in (
        (f"{machine}-linux/ascend_toolkit_install.info", rf"(?m)^version\s*=\s*{release}"),
        ("include/version/cann_version.h", rf'CANN_VERSION_STR\s+"{release}"'),
        ("opp/version.info", rf"(?m)^version_dir\s*=\s*{release}"),
        ("version.cfg", rf"running_version\s*=\s*\[(?:[^\]:]*:)?{release}\]"),
    ):
        try:
            text = (root / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        match = re.search(pattern, text)
        if match:
            return match[1]
    match = re.search(release, root.resolve().name)
    return match[1] if match else "unknown"
