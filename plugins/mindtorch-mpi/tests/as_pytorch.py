"""Run programs of several processes on PyTorch, by gloo: ``as_pytorch.py COUNT "PROGRAM ARGUMENTS..." ...``.

PyTorch is imported once, as that takes longest; the ranks are forked.
"""

import os
import runpy
import shlex
import socket
import sys
import traceback

import torch
import torch.distributed.optim

torch.set_num_threads(1)


def rank_of(line, rank):
    """Be a rank; the parent hears of an error."""
    os.environ["RANK"] = str(rank)
    sys.argv = shlex.split(line)
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def run(line, count):
    """The exit status of the ranks of a program."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(count))
    children = []
    for rank in range(count):
        child = os.fork()
        if not child:
            rank_of(line, rank)
        children.append(child)
    return max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)


sys.exit(max(run(line, int(sys.argv[1])) for line in sys.argv[2:]))
