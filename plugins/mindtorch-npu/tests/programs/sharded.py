"""`fully_shard` on NPUs: as one process that sees all batches, however the model is divided."""

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core import nn
from mindtorch_core.distributed.fsdp import MixedPrecisionPolicy, fully_shard

dist.init_process_group("hccl")
rank, size = dist.get_rank(), dist.get_world_size()


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b, self.c = nn.Linear(5, 7), nn.Linear(7, 7), nn.Linear(7, 3)
        self.to("npu")

    def forward(self, x):
        return self.c(self.b(self.a(x).relu()).relu())


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for x, y in batches:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x).float(), y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def divided(parts, **options):
    """The network, of which some modules are divided by themselves, and what is left as a whole."""
    model = Network()
    for name in parts:
        fully_shard(getattr(model, name), **options)
    fully_shard(model, **options)
    if len(parts) == 3:
        model.a.set_modules_to_forward_prefetch([model.b, model.c])
        model.c.set_modules_to_backward_prefetch([model.b, model.a])
    return model


draw = torch.Generator().manual_seed(1)
data = [
    (torch.randn(8 * size, 5, generator=draw).npu(), torch.randn(8 * size, 3, generator=draw).npu())
    for _ in range(3)
]
mine = [(x[rank::size], y[rank::size]) for x, y in data]
alone = Network()
train(alone, data)
halves = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
for parts in ("", "a", "abc"):  # of the last the outermost module has no parameters of its own
    for options, within in (
        ({}, 1e-5),
        ({"reshard_after_forward": False}, 1e-5),
        ({"mp_policy": halves}, 3e-2),
    ):
        model = divided(parts, **options)
        train(model, mine)
        expected = alone.state_dict()
        for name, own in model.state_dict().items():
            assert own.device.type == "npu"
            whole = own.full_tensor()
            torch.testing.assert_close(whole, expected[name], rtol=within, atol=within, msg=name)
print("done")
