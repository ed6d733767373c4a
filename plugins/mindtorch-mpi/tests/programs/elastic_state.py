"""What a state keeps, in one process: ``elastic_state.py FOLDER``."""

import sys
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core import nn

elastic, file = dist.elastic, Path(sys.argv[1]) / "made" / "state.pt"
dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())


@elastic.run
def train(state, until):
    layer = nn.Linear(2, 2)
    nn.init.zeros_(layer.weight)
    state.track(layer=layer)
    first = state.step
    while state.step < until:
        with torch.no_grad():
            layer.weight.add_(1)
        state.commit(step=state.step + 1)
    return first, layer.weight.sum().item(), torch.rand(()).item()


state = elastic.State(step=0)
assert train(state, 3)[:2] == (0, 12)
assert train(state, 5)[:2] == (3, 20)  # from where it was
state = elastic.State(checkpoint=file, every=2, step=0)
first, weight, _ = train(state, 4)
assert (first, weight) == (0, 16)
again = [train(elastic.State(checkpoint=file, every=2, step=0), 4) for _ in range(2)]
assert again[0] == again[1]  # with the generators
assert again[0][:2] == (4, 16)
assert [each.name for each in file.parent.iterdir()] == ["state.pt"]


with pytest.raises(AttributeError, match="no value 'epoch': it has step"):
    state.epoch
with pytest.raises(ValueError, match="every must be positive, got 0"):
    elastic.State(every=0)
with pytest.raises(TypeError, match="rate has no state_dict"):
    state.track(rate=0.1)
print("done")
