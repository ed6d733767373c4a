"""Rank 1 ends with a status of its own while rank 0 waits for it, or fails while rank 0 is busy; or both are."""

import os
import signal
import sys
import time
from pathlib import Path

import mindtorch_core as torch
from mindtorch_core import distributed as dist

mode, folder = sys.argv[1:]
if mode == "before it begins" and os.environ["RANK"] == "1":
    sys.exit()
dist.init_process_group("mpi")


def tell(name):
    """Write who this process is: whole, or not at all."""
    part = Path(folder, f"part{os.getpid()}")
    part.write_text(str(os.getpid()))
    part.rename(Path(folder, name))


if mode == "busy forever":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    tell(f"pid{dist.get_rank()}")
    time.sleep(600)
if dist.get_rank() == 1:
    if mode == "waiting":
        sys.exit(7)
    if mode == "too early":
        os._exit(0)
    if mode == "stopped":
        tell("pid")
        os.kill(os.getpid(), signal.SIGSTOP)
    while not Path(folder, "pid").exists():
        time.sleep(0.01)
    raise KeyError("mine")
if mode == "stopped":
    sys.exit()
tell("pid")
if mode == "busy":
    time.sleep(50)
dist.all_reduce(torch.ones(1))
