"""What a module exports is listed, so that completion offers it, though much is loaded only when it is asked for."""

import importlib

import pytest

import mindtorch_core

pytest.importorskip("mindtorch_nn")

MODULES = (
    "", "amp", "autograd", "backend", "distributions", "func", "library", "masked", "nn",
    "nn.attention", "nn.functional", "nn.init", "nn.parallel", "nn.utils", "optim", "optim.lr_scheduler",
    "optim.swa_utils", "overrides", "profiler", "serialization", "sparse", "testing", "utils.data",
    "ecosystem.distributed.checkpoint", "ecosystem.distributed.fsdp", "ecosystem.distributed.optim",
    "ecosystem.distributed.tensor.parallel",
)  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_what_is_exported_is_listed(name):
    module = importlib.import_module(f"{mindtorch_core.__name__}.{name}".rstrip("."))
    exported = module.__all__
    assert exported
    assert set(exported) <= set(dir(module))
    assert all(hasattr(module, each) for each in exported)
