"""A group of processes that mpiexec has not started: ``started_otherwise.py MANNER``."""

import multiprocessing
import os
import socket
import subprocess
import sys

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.communication import mpiexec
from mindtorch_core.distributed.elastic.multiprocessing import errors


def address():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(probe.getsockname()[1])}


def work(rank, size, where):
    os.environ.update({**where, "RANK": str(rank), "WORLD_SIZE": str(size)})
    meet(rank, size)


def meet(rank, size):
    dist.init_process_group("gloo")
    assert (dist.get_rank(), dist.get_world_size()) == (rank, size)
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


def step():
    """What srun tells each task of a step. The number of the job chooses the store's port: one that is free."""
    for job in range(os.getpid(), os.getpid() + 100):
        try:
            socket.create_server(("127.0.0.1", 20_000 + job % 20_000)).close()
        except OSError:
            continue
        return {
            "SLURM_JOB_ID": str(job),
            "SLURM_NTASKS": "2",
            "SLURM_LAUNCH_NODE_IPADDR": "127.0.0.1",
        }
    raise OSError("no free port")


def unlucky():
    if os.environ["RANK"] == "1":
        raise ValueError("rank 1 has no luck")


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
    elif manner == "slurm":
        told = {**os.environ, **step()}
        started = [
            subprocess.Popen(
                [sys.executable, __file__, "task"], env={**told, "SLURM_PROCID": str(rank)}
            )
            for rank in range(2)
        ]
        assert [each.wait() for each in started] == [0, 0]
    elif manner == "pmix":  # as srun --mpi=pmix: MPI asks PMIx, and no variable is mpiexec's
        launcher = mpiexec()
        named = [f"--unset=OMPI_COMM_WORLD_{each}" for each in ("RANK", "SIZE", "LOCAL_SIZE")]
        command = [*launcher, "-n", "2", "env", *named, sys.executable, __file__, "member"]
        assert subprocess.run(command, env={**os.environ, **step()}, timeout=50).returncode == 0
    elif manner == "member":
        assert "OMPI_COMM_WORLD_RANK" not in os.environ
        known = [name for name in ("PMIX_RANK", "PMI_RANK") if name in os.environ]
        meet(int(os.environ[known[0]]), 2)
    elif manner == "task":
        assert "RANK" not in os.environ
        meet(int(os.environ["SLURM_PROCID"]), 2)
    elif manner == "part":
        where["MASTER_PORT"] = sys.argv[3]
        work(int(sys.argv[2]), 2, where)
    elif manner == "launched":
        config = dist.launcher.LaunchConfig(1, 1, 2)
        assert dist.launcher.elastic_launch(config, launched)() == {0: 10, 1: 11}
        config.max_restarts = 0
        with pytest.raises(
            errors.ChildFailedError, match="ValueError: rank 1 has no luck"
        ) as failed:
            dist.launcher.elastic_launch(config, unlucky)()
        rank, failure = failed.value.get_first_failure()
        assert (rank, failure.exitcode) == (1, 1)
        assert failure.message["message"] == "ValueError: rank 1 has no luck"
    elif manner == "torchrun":
        rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        assert sys.argv[2:] == ["--own"]
        work(rank, size, {})
