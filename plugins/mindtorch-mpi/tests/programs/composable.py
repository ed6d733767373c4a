"""Modules that take on ways to train in place. Runs on mindtorch and on PyTorch; writes what it finds."""

import copy
import json
import sys

import pytest
import torch
import torch.distributed as dist
import torch.distributed._composable as composable
from torch import nn
from torch.distributed._composable import checkpoint, contract, replicate
from torch.distributed._composable.replicate import replicate as by_its_module

dist.init_process_group("gloo")
rank = dist.get_rank()
assert by_its_module is replicate is composable.replicate
found = {}


def made():
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 2))
    with torch.no_grad():
        for k, p in enumerate(model.parameters()):
            p.copy_((torch.arange(p.numel()) * 0.7 + k).sin().reshape(p.shape))
    return model


def trained(name, model, sums=lambda step: True):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for step in range(4):
        if hasattr(model, "set_requires_gradient_sync"):
            model.set_requires_gradient_sync(sums(step))
        loss = model((torch.arange(15.0) * (rank + 1) + step).cos().reshape(5, 3)).square().mean()
        loss.backward()
        losses.append(loss.item())
        if sums(step):
            optimizer.step()
            optimizer.zero_grad()
    found[name] = [losses, {key: t.tolist() for key, t in model.state_dict().items()}]


def copies():
    trained("copies", replicate(made()))
    trained("some steps", replicate(made(), bucket_cap_mb=1), lambda step: step % 2 == 1)
    model = made()
    assert replicate(model, ignored_modules=[model[3]]) is model
    assert isinstance(model, nn.Sequential)
    found["kind"] = [type(model).__name__, repr(model)]
    trained("but one", model)
    with pytest.raises(AssertionError, match="replicate has already been applied"):
        replicate(model)
    with pytest.raises(AssertionError, match="does not support deepcopy"):
        copy.deepcopy(model)
    assert replicate.state(made()) is None
    assert replicate.state(model) is not None


def activations():
    model = made()
    calls = []
    model[2].register_forward_hook(lambda *_: calls.append(len(calls)))
    checkpoint(model[0])
    checkpoint(model[2])
    with pytest.raises(NotImplementedError, match="use_reentrant=True is not supported"):
        checkpoint(model[3], use_reentrant=True)
    trained("again", replicate(model))


def own():
    @contract()
    def marked(module, mark):
        module.mark = mark
        return module

    @contract()
    def wrapped(module):
        return nn.Sequential(module)

    layer = nn.Linear(1, 1)
    assert marked(layer, 3) is layer
    assert layer.mark == 3
    assert marked.state(layer) is not None
    assert wrapped.state(layer) is None
    with pytest.raises(AssertionError, match="marked has already been applied"):
        marked(layer, 4)
    with pytest.raises(RuntimeError, match="cannot modify FQNs"):
        wrapped(layer)
    found["names"] = marked.__name__


copies()
activations()
own()
with open(f"{sys.argv[1]}/composable-{rank}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
