"""Run programs one after another in the same processes: ``in_turn.py "PROGRAM ARGUMENTS..." ...``."""

import runpy
import shlex
import sys
from pathlib import Path

from mindtorch_core import distributed as dist
from mindtorch_nn.parallel import buckets

# Of networks as small as those of the programs, too, some gradients are summed where they lie.
buckets.APART_BYTES = 40  # type: ignore[misc]
for line in sys.argv[1:]:
    program, *arguments = shlex.split(line)
    sys.argv = [program, *arguments]
    runpy.run_path(str(Path(__file__).parent / program), run_name="__main__")
    if dist.is_initialized():
        dist.barrier()
        dist.destroy_process_group()
    print(f"passed {line}", flush=True)
