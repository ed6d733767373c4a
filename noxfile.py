"""Test sessions that install one distribution each, as its users get it.

    nox -l                      list them
    nox -s cpu                  the CPU backend alone: its wheel, the core's wheel, nothing else
    nox -s "cpu(oldest)"        the same with the oldest versions of its dependencies
    nox -s build -- DIRECTORY   sdists and wheels of every distribution
    nox -s lint                 ruff and mypy
    nox -s sanitizers           the simulator under GCC's sanitizers, or those that are named:
                                nox -s sanitizers -- address undefined thread

A session builds the wheels it needs from their sdists, or takes them from the folder that the
variable MINDTORCH_WHEELS names, which ``build`` fills.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import nox

nox.needs_version = ">=2024.10.9"
nox.options.default_venv_backend = "uv"

ROOT = Path(__file__).parent
WHEELS = "MINDTORCH_WHEELS"
FROM_WHEEL = "import {0}, sys; sys.exit('site-packages' not in {0}.__file__)"
VERSIONS = {"newest": "highest", "oldest": "lowest-direct"}


@dataclass(frozen=True)
class Distribution:
    """One package of the repository.

    Attributes:
        name: of the distribution; its wheel is called so.
        folder: its project, relative to the root.
        beside: the only other distributions that are installed for its tests.
        tests: what pytest runs, relative to the folder.
    """

    name: str
    folder: str
    beside: tuple[str, ...] = ("mindtorch-core",)
    tests: str = "tests"

    @property
    def short(self) -> str:
        """Its session's name."""
        return self.name.removeprefix("mindtorch-")


DISTRIBUTIONS = {
    d.name: d
    for d in (
        Distribution("mindtorch-core", ".", (), "tests/plugins/test_core_alone.py"),
        Distribution("mindtorch-cpu", "plugins/mindtorch-cpu"),
        Distribution("mindtorch-meta", "plugins/mindtorch-meta"),
        Distribution("mindtorch-npu-simulator", "plugins/mindtorch-npu-simulator", ()),
        Distribution(
            "mindtorch-npu",
            "plugins/mindtorch-npu",
            ("mindtorch-core", "mindtorch-cpu", "mindtorch-npu-simulator"),
        ),
        *(
            Distribution(name, f"examples/{name}", ("mindtorch-core", "mindtorch-cpu"))
            for name in ("mindtorch-acme", "mindtorch-zed")
        ),
    )
}


def build(session: nox.Session, distribution: Distribution, out: Path) -> None:
    """Build a distribution's sdist, and its wheel from that."""
    session.run_install(
        "uv", "build", "-q", str(ROOT / distribution.folder), "--out-dir", str(out), external=True
    )


def wheels(session: nox.Session, names: list[str]) -> list[str]:
    """Paths of the wheels of distributions, built if nobody has done it."""
    ready = os.environ.get(WHEELS)
    out = Path(ready) if ready else Path(session.create_tmp()).resolve()
    found = []
    for name in names:
        pattern = f"{name.replace('-', '_')}-*.whl"
        if not ready:
            for old in out.glob(pattern):
                old.unlink()
            build(session, DISTRIBUTIONS[name], out)
        (wheel,) = out.glob(pattern)
        found.append(str(wheel))
    return found


def alone(session: nox.Session, distribution: Distribution, versions: str) -> None:
    """Run a distribution's tests where only it, and what it may rely on, is installed."""
    folder = ROOT / distribution.folder
    session.install(
        *wheels(session, [distribution.name, *distribution.beside]),
        "--group",
        f"{folder / 'pyproject.toml'}:test",
        "--resolution",
        VERSIONS[versions],
    )
    session.chdir(session.create_tmp())  # not the root, whose folder would be imported
    session.run("python", "-c", FROM_WHEEL.format(distribution.name.replace("-", "_")))
    session.chdir(folder)
    # The root's settings for pytest, but nothing of the root on the path.
    session.run(
        "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder),
        *distribution.tests.split(), *session.posargs,
        env={"PYTHONPATH": "", "MINDTORCH_BACKENDS": "", "MINDTORCH_CONFORMANCE_LEVEL": "core"},
    )  # fmt: skip


def make_session(distribution: Distribution) -> None:
    """Define a distribution's session, for both ends of its dependencies' versions."""

    @nox.session(name=distribution.short, tags=["alone"])
    @nox.parametrize("versions", list(VERSIONS), ids=list(VERSIONS))
    def session(session: nox.Session, versions: str) -> None:
        alone(session, distribution, versions)


for _each in DISTRIBUTIONS.values():
    make_session(_each)

nox.options.sessions = [*(f"{d.short}(newest)" for d in DISTRIBUTIONS.values()), "lint"]


@nox.session(name="build", python=False)
def build_all(session: nox.Session) -> None:
    """Build sdists and wheels of all distributions into a folder, by default ``dist``."""
    out = Path(session.posargs[0] if session.posargs else ROOT / "dist").resolve()
    for distribution in DISTRIBUTIONS.values():
        build(session, distribution, out)


TORCH = "torch==2.13.0+cpu"  # as .ci/run has it

# What each of GCC's sanitizers is told, and the library that the interpreter must load before all
# others. Tests end processes by SIGSEGV, as a card does: that signal is not the sanitizer's. The
# interpreter's own memory lives until it ends, which is no leak of ours. An array that CANN makes with
# new[] is freed from Python by free(), as there is no delete[] in ctypes.
_ADDRESS = "handle_segv=0:detect_leaks=0:alloc_dealloc_mismatch=0"
SANITIZERS = {
    "address": ("ASAN_OPTIONS", "libasan.so", _ADDRESS),
    "undefined": ("UBSAN_OPTIONS", "libubsan.so", "print_stacktrace=1"),
    "thread": ("TSAN_OPTIONS", "libtsan.so", "handle_segv=0:report_signal_unsafe=0:history_size=4"),
}


@nox.session
def sanitizers(session: nox.Session) -> None:
    """Run the simulator's tests, those in C++ and those in Python, on builds that check themselves.

    It wants g++. Tests of operators compare with PyTorch, whose wheel for CPUs is taken from the
    folder that PIP_FIND_LINKS names; without one they are left out.
    """
    folder = ROOT / "plugins" / "mindtorch-npu-simulator"
    session.install("cmake", "ninja", "--group", f"{folder / 'pyproject.toml'}:test")
    if find_links := os.environ.get("PIP_FIND_LINKS"):
        session.install(TORCH, "numpy", "--find-links", find_links)
    for name in session.posargs or SANITIZERS:
        build = Path(session.create_tmp()).resolve() / name
        options = ["-G", "Ninja", f"-DSIM_SANITIZE={name}", "-DSIM_NATIVE_TESTS=ON"]
        paths = ["-S", str(folder), "-B", str(build)]
        session.run("cmake", *paths, *options, env={"CXX": "g++"})
        session.run("cmake", "--build", str(build))
        session.run("ctest", "--test-dir", str(build), "--output-on-failure")
        variable, library, told = SANITIZERS[name]
        # With libstdc++, whose functions a sanitizer looks for when the interpreter starts.
        preloaded = [
            str(session.run("g++", f"-print-file-name={each}", external=True, silent=True)).strip()
            for each in (library, "libstdc++.so")
        ]
        with session.chdir(folder):
            session.run(
                "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder), "-q",
                "--capture=sys",  # the sanitizers' words come from below Python
                env={
                    "ASCEND_TOOLKIT_HOME": str(build / "toolkit"),
                    "LD_PRELOAD": " ".join(preloaded),
                    variable: told,
                },
            )  # fmt: skip


@nox.session(python=False)
def lint(session: nox.Session) -> None:
    """Check style and types."""
    session.run("uv", "run", "--no-sync", "ruff", "check", ".", external=True)
    session.run("uv", "run", "--no-sync", "ruff", "format", "--check", ".", external=True)
    session.run("uv", "run", "--no-sync", "mypy", external=True)
