"""Builds with scikit-build-core, and brings a compiler along where the machine has none.

The hooks are scikit-build-core's. Where no C++ compiler is found, `ziglang` becomes a build
requirement: a wheel of PyPI that holds a C++ compiler.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from scikit_build_core import build as _skbuild

prepare_metadata_for_build_wheel = _skbuild.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = _skbuild.prepare_metadata_for_build_editable
build_sdist = _skbuild.build_sdist
get_requires_for_build_sdist = _skbuild.get_requires_for_build_sdist

Settings = dict[str, Any] | None

_ZIG = "ziglang>=0.13,<0.16"


def _machine_has_compiler() -> bool:
    named = os.environ.get("CXX")
    if named:
        return shutil.which(shlex.split(named)[0]) is not None
    return any(shutil.which(name) for name in ("c++", "g++", "clang++"))


def _use_zig() -> None:
    """Point CXX at zig's compiler, by a script because a build tool wants one word."""
    folder = Path(tempfile.mkdtemp(prefix="simulator-compiler-"))
    script = folder / "c++"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ziglang c++ "$@"\n')
    script.chmod(0o755)
    os.environ["CXX"] = str(script)


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Say what building needs: scikit-build-core's list, and a compiler if there is none."""
    needed = list(_skbuild.get_requires_for_build_wheel(config_settings))
    return needed if _machine_has_compiler() else [*needed, _ZIG]


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """Say what an editable installation needs."""
    needed = list(_skbuild.get_requires_for_build_editable(config_settings))
    return needed if _machine_has_compiler() else [*needed, _ZIG]


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build the wheel."""
    if not _machine_has_compiler():
        _use_zig()
    return _skbuild.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build for an editable installation."""
    if not _machine_has_compiler():
        _use_zig()
    return _skbuild.build_editable(wheel_directory, config_settings, metadata_directory)
