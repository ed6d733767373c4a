"""Training in which ranks die: ``elastic.py FOLDER CHECKPOINT RANK:STEP...``; prints what the parameters end with.

A step ``start`` is before the group is made.
"""

import os
import signal
import sys
from pathlib import Path

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core import nn

elastic = dist.elastic
folder, checkpoint = Path(sys.argv[1]), sys.argv[2] == "checkpoint"
deaths = sys.argv[3:]
rank = int(os.environ["RANK"])


def maybe_die(step):
    for death in deaths:
        mark = folder / death.replace(":", "-")
        if death == f"{rank}:{step}" and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)


maybe_die("start")
dist.init_process_group("mpi")


@elastic.run
def train(state):
    torch.manual_seed(7)
    layers = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.3), nn.Linear(16, 1))
    model = nn.parallel.DistributedDataParallel(layers)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    torch.manual_seed(100 + rank)  # each rank draws numbers of its own
    state.track(model=model, optimizer=optimizer)
    while state.step < 12:
        x = torch.randn(16, 8)
        optimizer.zero_grad()
        (model(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
        maybe_die(state.step)
        optimizer.step()
        state.commit(step=state.step + 1)
    total = [p.detach().double().sum().item().hex() for p in model.parameters()]
    print("ends with", state.step, *total, flush=True)


train(elastic.State(checkpoint=folder / "state.pt" if checkpoint else None, every=2, step=0))
dist.destroy_process_group()
