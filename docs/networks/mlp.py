"""Steps of an MLP of 1.6 million parameters, 256 rows on each rank; the pictures beside it come from them."""

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch import nn

dist.init_process_group()
torch.manual_seed(dist.get_rank())
layers = nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, 1024), nn.GELU(), nn.Linear(1024, 10)
model = nn.parallel.DistributedDataParallel(nn.Sequential(*layers))
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
for _ in range(40):
    x, y = torch.randn(256, 512), torch.randint(10, (256,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
dist.destroy_process_group()
