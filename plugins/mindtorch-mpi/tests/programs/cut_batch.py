"""Steps whose one batch is cut among the ranks, of which it allows so many; the first one makes no calls alone."""

import sys
import time

import torch
import torch.distributed as dist

dist.init_process_group()
rank, ranks, most = dist.get_rank(), dist.get_world_size(), int(sys.argv[1])
if ranks > most:
    raise SystemExit(f"{most} rows are too few for {ranks} ranks")
weight = torch.ones(8, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
rows = torch.ones(most, 8).chunk(ranks)[rank]
for _ in range(8):
    optimizer.zero_grad()
    (rows @ weight).square().sum().backward()
    time.sleep(0.02 * len(rows))
    if ranks > 1:
        dist.all_reduce(weight.grad)
    optimizer.step()
dist.destroy_process_group()
