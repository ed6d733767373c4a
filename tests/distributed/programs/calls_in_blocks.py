"""Calls in blocks that come again and in captured functions: `calls_in_blocks.py ENGINE mismatch|block|captured`.

Results are those of eager calls. Rank 1 makes another call, or dies in the way that is named; the others hear it.
"""

import os
import pickle
import signal
import sys
import time
from datetime import timedelta

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist

engine, mode = sys.argv[1:]
dist.init_process_group(engine, timeout=timedelta(seconds=50))
device = {"mpi": "cpu", "hccl": "npu"}[engine]
rank, size, name = dist.get_rank(), dist.get_world_size(), dist.group.WORLD.group_name
ops = torch.ops._c10d_functional


def step(x):
    y = ops.all_reduce(x * 2, "sum", name) + 1
    return ops.all_gather_into_tensor(y, size, name)


LINE = step.__code__.co_firstlineno + 1  # of the first call


def block(x):
    with torch.pipeline():
        y = step(x)
    return y.cpu()


def facts(error):
    """What an error says beside its text."""
    names = ("rank", "op", "number", "by_rank", "location")
    return {name: getattr(error, name) for name in names}


def heard(call):
    """The error that a call raises, of itself or by the pipeline: one is caught as the other."""
    began = time.monotonic()
    with pytest.raises(dist.DistributedError) as caught:
        call(torch.ones(3, device=device))
    found = caught.value
    assert time.monotonic() - began < 30
    if isinstance(found, torch.PipelineError):
        assert isinstance(found.__cause__, dist.DistributedError)
        again = pickle.loads(pickle.dumps(found))
        assert (type(again), vars(again)) == (type(found), facts(found))
    assert (found.rank, found.op) == (1, "all_reduce"), found
    assert "calls_in_blocks.py:" in found.by_rank[rank], found
    return found


if mode == "mismatch":  # also the others are told where the op was recorded
    if rank == 1:
        with pytest.raises(dist.DistributedError) as caught:
            dist.all_reduce(torch.ones(2, device=device))
        said = caught.value.by_rank
    else:
        said = heard(block).by_rank
    assert f"calls_in_blocks.py:{LINE}" in said[0]
captured = torch.pipeline.capture(step)
for how, call in {"block": block, "captured": captured}.items():
    for number in range(4):
        x = torch.full((3,), float(number + rank), device=device)
        assert torch.equal(call(x).cpu(), step(x).cpu())
    if mode == how:
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        print(f"heard {heard(call)}", flush=True)
        os._exit(0)
    if mode == "mismatch":
        if rank == 1:
            with pytest.raises(dist.DistributedError, match="rank 1 made another call") as caught:
                dist.all_reduce(torch.ones(2, device=device))
            said = caught.value.by_rank
        else:
            said = (found := heard(call)).by_rank
            assert "shape [2] instead of [3]" in str(found)
        assert f"calls_in_blocks.py:{LINE}" in said[0], (how, said)  # not that of the block
        x = torch.ones(3, device=device)
        assert torch.equal(call(x).cpu(), step(x).cpu())
dist.barrier()
dist.destroy_process_group()
print("done")
