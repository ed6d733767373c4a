"""Hooks that sum gradients. Runs on mindtorch and on PyTorch; writes what it finds."""

import copy
import json
import logging
import pickle
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms import ddp_comm_hooks as hooks
from torch.distributed.algorithms.ddp_comm_hooks import (
    debugging_hooks,
    default_hooks,
    post_localSGD_hook,
    powerSGD_hook,
    quantization_hooks,
)
from torch.distributed.algorithms.model_averaging import averagers, utils
from torch.distributed.algorithms.model_averaging.hierarchical_model_averager import (
    HierarchicalModelAverager,
)
from torch.distributed.optim import (
    PostLocalSGDOptimizer,
    _apply_optimizer_in_backward,
    _get_in_backward_optimizers,
)
from torch.nn.parallel import DistributedDataParallel as DDP

logging.disable()
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
found = {}
ON_PYTORCH = "mindtorch_core" not in sys.modules


def network():
    model = nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 16), nn.Linear(16, 8))
    model = model.double()  # orthogonalizing makes roundings grow
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_((torch.arange(float(p.numel())).reshape(p.shape) + i).sin() / 3)
    return model


def losses(ddp, optimizer, steps, first=0):
    held = []
    for step in range(first, first + steps):
        x = (torch.arange(72.0).double().reshape(6, 12) * (step + 1) + 7 * rank).cos()
        optimizer.zero_grad()
        loss = (ddp(x) - x[:, :8]).square().mean()
        loss.backward()
        optimizer.step()
        held.append(loss.item())
    return held


def train(state, hook, steps=5):
    model = network()
    ddp = DDP(model)
    ddp.register_comm_hook(state, hook)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.5)
    shown = losses(ddp, optimizer, steps)
    return shown, [p.tolist() for p in model.parameters()]


def power(**options):
    return powerSGD_hook.PowerSGDState(None, start_powerSGD_iter=2, **options)


# Matrices of low rank: gradients each alone, and batches of one shape. One bucket, as PyTorch's hooks of
# several run into each other on gloo.
for name, options in (
    ("rank 1", {}),
    ("rank 2", {"matrix_approximation_rank": 2, "random_seed": 5}),
    ("rank 4", {"matrix_approximation_rank": 4, "min_compression_rate": 1}),
    ("cold", {"warm_start": False, "use_error_feedback": False}),
    ("batches", {"batch_tensors_with_same_shape": True, "orthogonalization_epsilon": 1e-6}),
    ("nothing is made smaller", {"min_compression_rate": 100}),
):
    state = power(**options)
    found[f"powerSGD {name}"] = train(state, powerSGD_hook.powerSGD_hook)
    found[f"powerSGD {name} stats"] = list(state.compression_stats()), state.iter
kept = pickle.loads(pickle.dumps(state))
found["saved"] = kept.process_group is dist.group.WORLD, kept.iter, sorted(kept.__slots__)

# Local SGD: two groups of one rank, whose parameters become means in each second step.
for sums in (True, False):
    own, _ = dist.new_subgroups(1)
    state = post_localSGD_hook.PostLocalSGDState(None, own, 2, post_local_gradient_allreduce=sums)
    found[f"localSGD {sums}"] = train(state, post_localSGD_hook.post_localSGD_hook), state.iter
model = network()
ddp = DDP(model)
state = post_localSGD_hook.PostLocalSGDState(None, own, 1)
ddp.register_comm_hook(state, post_localSGD_hook.post_localSGD_hook)
averager = averagers.PeriodicModelAverager(period=2, warmup_steps=1)
optimizer = PostLocalSGDOptimizer(torch.optim.SGD(ddp.parameters(), lr=0.5, momentum=0.9), averager)
found["averaged"] = losses(ddp, optimizer, 5), [p.tolist() for p in model.parameters()]
held = copy.deepcopy(optimizer.state_dict())
found["averager's step"] = averager.step, held["step"], sorted(held)
averager.step = 77
optimizer.load_state_dict(held)
found["averager's step again"] = averager.step, losses(ddp, optimizer, 2, 5)
p = nn.Parameter(torch.full((3,), float(rank)))
utils.average_parameters([p], None)
found["averaged parameter"] = p.tolist()

found["noop"] = train(None, debugging_hooks.noop_hook)
for name in ("allreduce_hook", "fp16_compress_hook"):
    found[name] = train(None, getattr(default_hooks, name))[0][:2]
ddp = DDP(network())
hooks.register_ddp_comm_hook(hooks.DDPCommHookType.POWER_SGD_RANK2, ddp, dist.group.WORLD)
found["by name"] = losses(ddp, torch.optim.SGD(ddp.parameters(), lr=0.5), 2)
found["names"] = [each.name for each in hooks.DDPCommHookType]


# As bytes. PyTorch's hooks read one tensor from the future of an all_gather, which gloo does not give.
class Nested:
    def __init__(self, work):
        self.work = work

    def get_future(self):
        return self.work.get_future().then(lambda future: [torch.stack(future.value())])


class Bucket:
    def __init__(self, values):
        self.values = values

    def buffer(self):
        return self.values


if ON_PYTORCH:
    plain = dist.all_gather

    def nested(*args, **kwargs):
        return Nested(plain(*args, **kwargs))

    dist.all_gather = nested
draw = (torch.arange(1300.0) * (rank + 1)).sin() * torch.arange(1300.0) / 100
for name, values in (
    ("both signs", draw),
    ("positive", draw.abs() + 1),
    ("zeros", torch.zeros(5)),
    ("one block", draw[:512]),
):
    for kind in ("pertensor", "perchannel"):
        hook = getattr(quantization_hooks, f"quantization_{kind}_hook")
        future = hook(dist.group.WORLD, Bucket(values.clone()))
        found[f"bytes {kind} {name}"] = future.wait().tolist()


def refusal(call):
    try:
        call()
    except Exception as error:  # noqa: BLE001 (it is what the program tells)
        return [type(error).__name__, str(error)]
    return None


# Means in groups of several sizes; steps while backward goes on.
averager = HierarchicalModelAverager({2: 1, 4: size}, warmup_steps=2)
weight = nn.Parameter(torch.full((3,), float(rank)))
found["means"] = []
for number in range(9):
    weight.grad = torch.ones(3)
    with torch.no_grad():
        weight.add_(rank + number)
    averager.average_parameters([weight])
    found["means"].append(weight.tolist())
found["groups"] = [
    dist.get_process_group_ranks(each) for each in averager.period_process_group_dict.values()
]
for name in ("alone", "ddp"):
    stepping = network()
    front, back = [*stepping[0].parameters()], [*stepping.parameters()][2:]
    fast = {"lr": 0.1, "momentum": 0.9}
    if name == "ddp" and ON_PYTORCH:  # where that needs an accelerator: what it must come to
        spare = torch.optim.SGD([{"params": front, **fast}, {"params": back, "lr": 0.2}])
        rates = []
    else:
        _apply_optimizer_in_backward(torch.optim.SGD, front, fast)
        _apply_optimizer_in_backward(torch.optim.SGD, back, {"lr": 0.2})
        spare = torch.optim.SGD(stepping.parameters(), lr=5.0)
        rates = [each.param_groups[0]["lr"] for each in _get_in_backward_optimizers(stepping)]
    held = losses(DDP(stepping) if name == "ddp" else stepping, spare, 3)
    found[f"in backward {name}"] = [held, [p.tolist() for p in stepping.parameters()]]
    if name == "alone":
        found["rates"] = [rates, [p.grad is None for p in stepping.parameters()]]

found["no periods"] = refusal(HierarchicalModelAverager)
found["no period"] = refusal(lambda: HierarchicalModelAverager({0: 1, 2: size}))
found["last size"] = refusal(lambda: HierarchicalModelAverager({2: 1, 4: size + 1}))
found["negative"] = refusal(lambda: HierarchicalModelAverager({4: size}, warmup_steps=-1))
found["early"] = refusal(lambda: powerSGD_hook.PowerSGDState(None, start_powerSGD_iter=1))
found["period"] = refusal(lambda: averagers.PeriodicModelAverager(0))
found["warmup"] = refusal(lambda: averagers.PeriodicModelAverager(2, -1))
found["abstract"] = refusal(averagers.ModelAverager)[0]
found["parameters"] = refusal(lambda: utils.get_params_to_average([3]))
with open(f"{sys.argv[1]}/comm_hooks-{rank}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
print("done")
