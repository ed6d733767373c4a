"""What starts processes of a job here: the machine's launcher of MPI, and a port for them to meet."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["free_port", "mpiexec", "replaces"]


def mpiexec(*, replaces: bool = False) -> list[str]:
    """The command that starts this interpreter's MPI, or else the path's; empty if there is none.

    It stops nobody by itself, and takes more processes than there are cores.

    Args:
        replaces: whether a rank that dies can be replaced, where the MPI has ULFM.
    """
    beside = Path(sys.executable).parent / "mpiexec"
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        return []
    asked = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
    if "HYDRA" in asked.stdout.upper() or "INTEL" in asked.stdout.upper():
        return [found, "-disable-auto-cleanup"]
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    ulfm = ["--with-ft", "ulfm"] if replaces else []
    return [found, *root, *ulfm, "--continuous", "--oversubscribe", "--bind-to", "none"]


def replaces() -> bool:
    """Whether the launcher's MPI can go on after a death: Open MPI with ULFM."""
    command = mpiexec()
    if not command:
        return False
    info = Path(command[0]).resolve().with_name("ompi_info")
    beside = info if info.exists() else Path(command[0]).with_name("ompi_info")
    if not beside.exists():
        return False
    told = subprocess.run([str(beside)], capture_output=True, text=True, check=False).stdout
    return any("FT MPI" in line and "yes" in line.lower() for line in told.splitlines())


def free_port() -> int:
    """A port of this machine at which nobody listens, for a store that a rank is going to serve.

    It is below those that systems give to outgoing connections, of which one could take it meanwhile.
    """
    ports = [20_000 + secrets.randbelow(12_000) for _ in range(64)]
    for port in (*ports, 0):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)) as probe:
            return int(probe.getsockname()[1])
    raise OSError("no port is free on 127.0.0.1")
