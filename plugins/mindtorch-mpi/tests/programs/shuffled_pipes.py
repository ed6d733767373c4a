"""Data pipes of several processes: one shuffling, of which each has a share. Runs on mindtorch and on PyTorch."""

import json
import sys
import warnings

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.datapipes.iter import IterableWrapper

warnings.simplefilter("ignore")
dist.init_process_group("gloo")
rank = dist.get_rank()
found = {}
for workers in (0, 2):
    for shuffle in (True, False):
        torch.manual_seed(rank)
        pipe = IterableWrapper(list(range(16))).shuffle().sharding_filter().map(float)
        loader = DataLoader(pipe, batch_size=2, shuffle=shuffle, num_workers=workers)
        found[f"{workers} workers, {shuffle}"] = [[b.tolist() for b in loader] for _ in range(2)]
torch.manual_seed(rank)
found["whole"] = [b.tolist() for b in DataLoader(IterableWrapper(list(range(8))).shuffle())]
with open(f"{sys.argv[1]}/shuffled_pipes-{rank}.json", "w") as file:
    json.dump(found, file)
dist.barrier()
dist.destroy_process_group()
