"""Enumerations, and the numbers, texts and flags that classes and modules of libraries hold, are PyTorch's."""

import inspect
import warnings
from importlib import import_module

import pytest

import mindtorch_core as torch

pytest.importorskip("torch")

NAMESPACES = [
    "nn",
    "nn.functional",
    "nn.attention",
    "nn.utils.prune",
    "nn.utils.parametrize",
    "nn.utils.parametrizations",
    "optim.lr_scheduler",
    "optim.swa_utils",
    "utils.data",
    "distributions",
    "distributions.constraints",
    "distributions.transforms",
    "profiler",
    "distributed",
    "distributed.fsdp",
    "autograd",
    "cuda",
]
KNOWN = {
    "optim.lr_scheduler.EPOCH_DEPRECATION_WARNING": "where to report errors of PyTorch",
    "profiler.ProfilerAction": "no device stops",
}
PLAIN = (bool, int, float, str)


def constants(holder, name):
    """By name: members of enumerations, and what classes and modules hold."""
    if not inspect.isclass(holder):
        return {name: holder} if isinstance(holder, PLAIN) else {}
    if members := getattr(holder, "__members__", None):
        return {name: {label: member.value for label, member in members.items()}}
    own = {
        a: inspect.getattr_static(holder, a)
        for a in dir(holder)
        if a[:2] != "__" and a != "_validate_args"
    }
    return {f"{name}.{a}": value for a, value in own.items() if isinstance(value, PLAIN)}


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_constants_are_those_of_pytorch(namespace):
    here, compared = torch, 0
    for part in namespace.split("."):
        here = getattr(here, part)
    for name, held in vars(import_module(f"torch.{namespace}")).items():
        if name[0] == "_":
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # older names
            mine = getattr(here, name, None)
            theirs, ours = (constants(each, f"{namespace}.{name}") for each in (held, mine))
        for place in theirs.keys() & ours.keys() - KNOWN.keys():
            assert ours[place] == theirs[place], place
            compared += 1
    assert compared
