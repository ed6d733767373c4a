"""The simulator under GCC's sanitizers, for `nox -s sanitizers`."""

from __future__ import annotations

from pathlib import Path

import nox

__all__ = ["SANITIZERS", "check"]

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


def check(session: nox.Session, root: Path) -> None:
    """Build the simulator with each sanitizer that is asked for, and run its tests on it.

    Args:
        session: has g++; its arguments name sanitizers, none means all.
        root: of the repository.
    """
    folder = root / "plugins" / "mindtorch-npu-simulator"
    session.install("cmake", "ninja", "--group", f"{folder / 'pyproject.toml'}:test")
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
                "pytest", "-c", str(root / "pyproject.toml"), "--rootdir", str(folder), "-q",
                "--capture=sys",  # the sanitizers' words come from below Python
                env={
                    "ASCEND_TOOLKIT_HOME": str(build / "toolkit"),
                    "LD_PRELOAD": " ".join(preloaded),
                    variable: told,
                },
            )  # fmt: skip
