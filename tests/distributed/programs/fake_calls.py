"""Calls of a rank whose others are imagined; run with PyTorch and with mindtorch, it prints the same."""

import warnings

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

warnings.simplefilter("ignore")
dist.init_process_group("fake", rank=1, world_size=4)
print(dist.get_backend(), dist.get_rank(), dist.get_world_size(), dist.Backend.FAKE)


def shown(value):
    if isinstance(value, torch.Tensor):
        return value.tolist()
    return [shown(each) for each in value] if isinstance(value, list) else value


def collectives(kind):
    four = (torch.arange(4) + 1).to(kind)
    two, rows = four[:2].clone(), [torch.zeros(4).to(kind) for _ in range(4)]
    wide = torch.zeros(16).to(kind)
    pending = dist.all_reduce(four, async_op=True)
    pending.wait()
    dist.all_reduce(four, dist.ReduceOp.MAX)
    dist.broadcast(two, 0)
    dist.reduce(two, 2)
    dist.all_gather(rows, four)
    dist.all_gather_into_tensor(wide, four)
    dist.barrier()
    dist.send(two, 0)
    dist.recv(two, 0)
    for work in dist.batch_isend_irecv(
        [dist.P2POp(dist.isend, two, 0), dist.P2POp(dist.irecv, two, 0)]
    ):
        work.wait()
    print(shown([four, two, rows, wide]))


for kind in (torch.float32, torch.int64, torch.bfloat16, torch.bool):
    collectives(kind)
objects = [None] * 4
dist.all_gather_object(objects, {"rank": 1})
print(objects)
part = dist.new_group([1, 3])
print(
    dist.get_rank(part),
    dist.get_world_size(part),
    dist.new_group([0, 2]) is dist.GroupMember.NON_GROUP_MEMBER,
)

mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))
print(mesh.size(), mesh["b"].get_local_rank(), mesh["a"].get_local_rank())
net = torch.nn.Sequential(torch.nn.Linear(6, 10), torch.nn.Linear(10, 3))
for each in net:
    fully_shard(each)
fully_shard(net)
optimizer = torch.optim.AdamW(net.parameters())
net(torch.ones(2, 6)).sum().backward()
optimizer.step()
print([tuple(p.to_local().shape) for p in net.parameters()])
dist.destroy_process_group()
print(dist.is_initialized())
