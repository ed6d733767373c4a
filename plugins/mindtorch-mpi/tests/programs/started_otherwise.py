"""A group of processes that mpiexec has not started: ``started_otherwise.py MANNER``."""

import multiprocessing
import os
import socket
import subprocess
import sys

import mindtorch_core as torch
from mindtorch_core import distributed as dist


def address():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(probe.getsockname()[1])}


def work(rank, size, where):
    os.environ.update({**where, "RANK": str(rank), "WORLD_SIZE": str(size)})
    dist.init_process_group("gloo")
    t = torch.ones(3) * (rank + 1)
    dist.all_reduce(t)
    assert t.tolist() == [size * (size + 1) / 2] * 3
    known = [None] * size
    dist.all_gather_object(known, rank)
    assert known == [*range(size)]
    dist.destroy_process_group()
    # One write: the processes share a pipe, and unbuffered `print` writes the parts of a line by themselves.
    sys.stdout.write(f"{rank} done\n")
    sys.stdout.flush()


def launched():
    rank = int(os.environ["RANK"])
    work(rank, int(os.environ["WORLD_SIZE"]), {})
    return rank + 10


if __name__ == "__main__":
    manner, where = sys.argv[1], address()
    if manner in ("spawn", "fork"):
        torch.multiprocessing.start_processes(work, (2, where), nprocs=2, start_method=manner)
    elif manner == "multiprocessing":
        context = multiprocessing.get_context("spawn")
        started = [context.Process(target=work, args=(rank, 2, where)) for rank in range(2)]
        for each in started:
            each.start()
        for each in started:
            each.join()
        assert [each.exitcode for each in started] == [0, 0]
    elif manner == "subprocess":
        command = [sys.executable, __file__, "part"]
        started = [
            subprocess.Popen([*command, str(rank), where["MASTER_PORT"]]) for rank in range(2)
        ]
        assert [each.wait() for each in started] == [0, 0]
    elif manner == "part":
        where["MASTER_PORT"] = sys.argv[3]
        work(int(sys.argv[2]), 2, where)
    elif manner == "launched":
        config = dist.launcher.LaunchConfig(1, 1, 2)
        assert dist.launcher.elastic_launch(config, launched)() == {0: 10, 1: 11}
    elif manner == "torchrun":
        rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        assert sys.argv[2:] == ["--own"]
        work(rank, size, {})
