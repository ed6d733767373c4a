"""Rank 1 ends with a status of its own while rank 0 waits for it, or fails while rank 0 is busy."""

import os
import sys
import time
from pathlib import Path

import mindtorch_core as torch
from mindtorch_core import distributed as dist

mode, folder = sys.argv[1:]
dist.init_process_group("mpi")
if dist.get_rank() == 1:
    if mode == "waiting":
        sys.exit(7)
    while not Path(folder, "pid").exists():
        time.sleep(0.01)
    raise KeyError("mine")
Path(folder, "pid").write_text(str(os.getpid()))
if mode == "busy":
    time.sleep(50)
dist.all_reduce(torch.ones(1))
