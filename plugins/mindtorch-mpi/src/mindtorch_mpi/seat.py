"""What mpiexec starts in place of a process that runs already: it gives that process its seat.

It is run by its path and imports nothing: ``python seat.py FOLDER SECONDS``. The process connects to the
Unix socket ``FOLDER/<rank>`` and is sent what MPI's launcher told this one: variables, and for Hydra
the connection to it. The seat is kept until that process has ended.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from pathlib import Path

# What launchers call a process's rank.
_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")
# Variables that begin so are the launcher's. MCA parameters among them hold for MPI_Init too.
PREFIXES = (
    "OMPI_",
    "PMIX_",
    "PMI_",
    "PRTE_",
    "MPI_LOCALRANKID",
    "MPI_LOCALNRANKS",
    "HYDI_",
    "HYDRA_",
)
# Of Hydra, which speaks to each process through a file descriptor of its own.
CONNECTION = "PMI_FD"


def main(folder: Path, seconds: float) -> int:
    """Give one process the seat; 0 also if nobody comes, as others say so then."""
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # Hydra's news that another process has died
    rank = next(os.environ[name] for name in _RANKS if name in os.environ)
    told = {name: value for name, value in os.environ.items() if name.startswith(PREFIXES)}
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(folder / f"{rank}.new"))
        door.listen(1)
        (folder / f"{rank}.new").rename(folder / rank)  # whoever sees it can connect
        door.settimeout(seconds)
        try:
            guest, _ = door.accept()
        except TimeoutError:
            return 0
    with guest:
        guest.settimeout(None)
        files = [int(told[CONNECTION])] if CONNECTION in told else []
        socket.send_fds(guest, [json.dumps(told).encode() + b"\n"], files)
        while guest.recv(1):  # nothing comes but the end
            pass
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), float(sys.argv[2])))
