"""Random sequences of collective calls: `random_programs.py ENGINE FIRST_SEED PROGRAMS SECONDS`.

Each rank draws the same program and works out by NumPy what every rank must have; see `random_steps`.
"""

import faulthandler
import sys
import time
import traceback
from datetime import timedelta

import random_chains
import random_steps

import mindtorch_core as torch
from mindtorch_core import distributed as dist

engine, seconds = sys.argv[1], float(sys.argv[4])
first, programs = map(int, sys.argv[2:4])
random_steps.DEVICE = {"mpi": "cpu", "hccl": "npu"}[engine]
random_steps.STEPS += [random_chains.chain] * 3
faulthandler.dump_traceback_later(seconds + 30, exit=True)
dist.init_process_group(engine, timeout=timedelta(seconds=20))
end = time.monotonic() + seconds
for seed in range(first, first + programs):
    program = random_steps.Program(seed)
    try:
        program.run()
    except BaseException:
        traceback.print_exc()
        print(f"failed in program {seed}: {program.said()}", flush=True)
        raise
    late = torch.tensor([int(time.monotonic() > end)])
    dist.all_reduce(late, dist.ReduceOp.MAX)
    if late.item():
        break
print(f"ran {seed - first + 1} programs", flush=True)
dist.destroy_process_group()
print("done")
