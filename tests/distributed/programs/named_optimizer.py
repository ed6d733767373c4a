"""What `_NamedOptimizer` tells and takes; run with PyTorch and with mindtorch, it prints the same."""

import warnings

import torch
from torch import nn
from torch.distributed.optim import _NamedOptimizer

warnings.simplefilter("ignore")


def refused(call, *args):
    try:
        return call(*args)
    except (AssertionError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}".partition("\n")[0]


def model():
    made = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    with torch.no_grad():
        for number, p in enumerate(made.parameters()):
            p.copy_((torch.arange(p.numel()) % 5 - 1 + number).view(p.shape) / 8)
    return made


def train(made, optimizer):
    for _ in range(2):
        made.zero_grad()
        made(torch.ones(2, 3)).sum().backward()
        optimizer.step()


def shown(value):
    if isinstance(value, dict):
        return {key: shown(each) for key, each in value.items()}
    return [round(x, 4) for x in value.flatten().tolist()]


def states(kind, **options):
    made = model()
    optimizer = _NamedOptimizer(made.named_parameters(), kind, **options)
    print(refused(optimizer.load_state_dict, {"state": {}, "param_groups": []}))
    train(made, optimizer)
    told = optimizer.state_dict()
    print(shown(told["state"]), told["param_groups"][0]["params"], len(optimizer.state))
    other = _NamedOptimizer(model().named_parameters(), kind, **options)
    other.init_state()
    other.load_state_dict(told)
    print(shown(other.state_dict()["state"]))
    state = {name: dict(each) for name, each in told["state"].items()}
    bad = {"state": state, "param_groups": [dict(each) for each in told["param_groups"]]}
    name = next(iter(state))
    key = next(iter(state[name]))
    state[name]["other"] = state[name].pop(key)
    print(refused(other.load_state_dict, bad))
    state[name][key] = torch.ones(1)
    print(refused(other.load_state_dict, bad))
    del state[name]
    bad["param_groups"][0]["other"] = 3
    print(refused(other.load_state_dict, bad))
    del bad["param_groups"][0]["lr"]
    print(refused(other.load_state_dict, bad))
    part = {"state": {name: told["state"][name]}, "param_groups": []}
    print(refused(other.load_state_dict, part))


def groups():
    made = model()
    given = [
        {"params": made[0].weight, "lr": 0.5},
        {"params": list(made[2].parameters())},
    ]
    optimizer = _NamedOptimizer(
        made.named_parameters(), torch.optim.SGD, given, lr=0.1, momentum=0.5
    )
    train(made, optimizer)
    told = optimizer.state_dict()
    print(optimizer.ordered_param_keys, shown(told["state"]))
    print([(each["params"], each["lr"]) for each in told["param_groups"]])
    optimizer.add_param_group({"params": made[0].bias})
    print(optimizer.ordered_param_keys, len(optimizer.param_groups))
    print(refused(optimizer.add_param_group, {"params": [torch.ones(2)]}))
    print(refused(optimizer.add_param_group, [1]))
    for wrong in ([{"params": [torch.ones(1)]}], [{"params": [3]}], [{}], [1]):
        print(
            refused(
                lambda given=wrong: _NamedOptimizer(
                    made.named_parameters(), torch.optim.SGD, given, lr=0.1
                )
            )
        )


states(torch.optim.SGD, lr=0.1, momentum=0.9)
states(torch.optim.Adam, lr=0.1)
states(torch.optim.Adagrad, lr=0.1)
groups()
