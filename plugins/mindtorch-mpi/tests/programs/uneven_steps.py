"""Processes that take different numbers of steps. Runs on mindtorch and on PyTorch; writes what it finds."""

import json
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join, Joinable, JoinHook
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
found = {}


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.unused = nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(2, 2)
        self.last = nn.Linear(4, 2)

    def forward(self, x):
        return self.last(self.norm(self.first(x)).tanh())


def network(kind):
    model = kind()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.arange(float(p.numel())).reshape(p.shape).sin())
    return model


def plain():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def batch(step):
    return (torch.arange(15.0).reshape(5, 3) * (step + 1) * (rank + 2)).cos()


def values(model):
    return {name: t.tolist() for name, t in model.state_dict().items()}


def step(ddp, optimizer, number):
    optimizer.zero_grad()
    ddp(batch(number)).square().sum().backward()
    optimizer.step()


# Means over all, and over those that still take steps; buffers; parameters that nobody uses.
for by_all in (True, False):
    for kind, options in ((plain, {}), (Branches, {"find_unused_parameters": True})):
        model = network(kind)
        ddp = DDP(model, bucket_cap_mb=4e-5, **options)
        optimizer = torch.optim.SGD(ddp.parameters(), lr=0.05)
        with ddp.join(divide_by_initial_world_size=by_all) as entered:
            for number in range(2 + 2 * (size - 1 - rank)):
                step(ddp, optimizer, number)
        found[f"ddp {by_all} {kind.__name__}"] = entered, values(model)

# Gradients that are summed in each second step only.
model = network(plain)
ddp = DDP(model)
optimizer = torch.optim.SGD(ddp.parameters(), lr=0.05)
with ddp.join():
    for number in range(2 + 2 * rank):
        if number % 2:
            ddp(batch(number)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        else:
            with ddp.no_sync():
                ddp(batch(number)).sum().backward()
found["no_sync"] = values(model)

# With an optimizer whose states lie in several processes.
model = network(plain)
ddp = DDP(model)
zero = ZeroRedundancyOptimizer(ddp.parameters(), torch.optim.SGD, lr=0.05, momentum=0.5)
with Join([ddp, zero]):
    for number in range(2 + rank):
        step(ddp, zero, number)
found["zero"] = values(model)
found["kinds"] = [isinstance(ddp, Joinable), isinstance(zero, Joinable)]


# Joinables of one's own, with options of the block.
class Counter(Joinable):
    class Hook(JoinHook):
        def __init__(self, counter, said):
            self.counter, self.said, self.calls = counter, said, 0

        def main_hook(self):
            self.calls += 1
            dist.all_reduce(torch.zeros(1))

        def post_hook(self, is_last_joiner):
            self.counter.ended = [self.calls, is_last_joiner, self.said]

    def __init__(self):
        super().__init__()
        self.ended, self.counts = None, []

    def join_hook(self, **kwargs):
        return self.Hook(self, kwargs.get("said"))

    @property
    def join_device(self):
        return torch.device("cpu")

    @property
    def join_process_group(self):
        return dist.group.WORLD

    def count(self):
        work = Join.notify_join_context(self)
        told = torch.ones(1)
        dist.all_reduce(told)
        if work is not None:
            work.wait()
        self.counts.append([told.item(), work is not None])


first, second = Counter(), Counter()
with Join([first, second], said="so"):
    for _ in range(1 + 2 * rank):
        first.count()
        second.count()
found["own"] = first.ended, first.counts, second.ended, second.counts
with Join([Counter()], enable=False):
    pass


# What is refused, and the end at the first process that has no steps left.
def refusal(call):
    try:
        call()
    except Exception as error:  # noqa: BLE001 (it is what the program tells)
        return [type(error).__name__, str(error)]
    return None


class Half(Counter):
    def __init__(self):
        pass


class Apart(Counter):
    @property
    def join_process_group(self):
        return part


part = dist.new_group([0, 1])
found["empty"] = refusal(lambda: Join([]))
found["groups"] = refusal(lambda: Join([Counter(), Apart()]))
found["half"] = refusal(lambda: Join.notify_join_context(Half()))[0]
found["abstract"] = refusal(lambda: Joinable())[0]


def ends_early():
    ddp = DDP(network(plain))
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.05)
    with ddp.join(throw_on_early_termination=True):
        for number in range(1 + rank):
            step(ddp, optimizer, number)


def breaks_off():
    with first_ddp.join():
        raise KeyError("mine")


found["early"] = refusal(ends_early)
first_ddp = DDP(network(plain))
found["own error"] = refusal(breaks_off)
with open(f"{sys.argv[1]}/uneven_steps-{rank}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
print("done")
