"""A few steps of data-parallel training, as `mindtorch predict-scaling` takes them."""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group()
torch.manual_seed(0)
width = int(sys.argv[1]) if len(sys.argv) > 1 else 64
model = DistributedDataParallel(
    nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 4))
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 12):
    optimizer.zero_grad()
    model(torch.randn(32, width)).square().mean().backward()
    optimizer.step()
print("trained")
dist.destroy_process_group()
