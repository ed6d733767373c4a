"""Run a program of several processes on PyTorch, by gloo: ``as_pytorch.py PROGRAM FOLDER COUNT``.

PyTorch is imported once, as that takes longest; the ranks are forked.
"""

import os
import runpy
import socket
import sys
import traceback

import torch
import torch.distributed.optim

program, folder, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
torch.set_num_threads(1)
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(count))
children = []
for rank in range(count):
    child = os.fork()
    if not child:
        os.environ["RANK"] = str(rank)
        sys.argv = [program, folder]
        try:
            runpy.run_path(program, run_name="__main__")
        except BaseException:  # noqa: BLE001 (the parent hears of it)
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    children.append(child)
sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
