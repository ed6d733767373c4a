"""The libraries that are compared, and the machine that they run on."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from .turns import OURS

__all__ = ["MODULES", "installed", "library", "limit_threads", "machine", "pytorch"]

# What each library is imported as.
MODULES: Final = {OURS: "mindtorch_core", "numpy": "numpy", "torch": "torch"}
_THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def installed(names: Iterable[str]) -> list[str]:
    """Those of the modules that can be imported."""
    return [n for n in names if importlib.util.find_spec(n) is not None]


def library(peer: str, part: str = "") -> Any:
    """A peer's module, or a part of it such as ``.nn.functional``."""
    return importlib.import_module(MODULES[peer] + part)


def pytorch() -> Any:
    """PyTorch, one thread of it; None where it is not installed, or mindtorch stands in its place."""
    if not installed(["torch"]):
        return None
    torch = library("torch")
    if OURS in str(torch.__version__):
        return None
    torch.set_num_threads(1)
    return torch


def limit_threads(count: int = 1) -> None:
    """Keep numeric libraries to so many threads; before they are imported."""
    os.environ.update(dict.fromkeys(_THREADS, str(count)))


def machine() -> dict[str, Any]:
    """What a reader needs to know about where the figures come from; no names of hosts or paths."""
    versions = {
        name: found
        for name in ("mindtorch-core", "mindtorch-cpu", "numpy", "torch")
        if (found := _version(name)) is not None
    }
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "os": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **versions,
    }


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((x.partition(":")[2].strip() for x in lines if x.startswith("model name")), "")
