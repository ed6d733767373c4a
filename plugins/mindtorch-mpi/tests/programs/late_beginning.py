"""A rank that calls init_process_group when the others have given up: `late_beginning.py ENGINE LATE FOLDER`."""

import os
import sys
import time
from datetime import timedelta
from pathlib import Path

from mindtorch_core import distributed as dist

engine, late, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])


def await_heard(ranks):
    while not all((folder / str(each)).exists() for each in ranks):
        time.sleep(0.01)


others = [each for each in range(size) if each != late]
if rank == late:
    await_heard(others)
try:
    dist.init_process_group(engine, timeout=timedelta(seconds=1))
except dist.DistError as error:
    print(f"{type(error).__name__}: {error}", flush=True)
(folder / str(rank)).touch()
await_heard(range(size))  # rank 0 serves the store
