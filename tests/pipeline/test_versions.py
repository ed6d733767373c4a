"""Versions of what is written: in blocks as outside of them, however a kernel computes it."""

import contextlib

import pytest

import mindtorch_core as torch

OPTIMIZERS = {
    "SGD": {"lr": 0.1},
    "momentum": {"lr": 0.1, "momentum": 0.9},
    "Adam": {"lr": 0.1},
    "AdamW": {"lr": 0.1, "amsgrad": True},
    "Adagrad": {"lr": 0.1},
}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_a_step_counts_once(name, layout):
    """A gradient that lies in another way than its parameter is left to a composition of ops."""

    def versions(block):
        p, found = torch.ones(3, 4, requires_grad=True), []
        if layout == "columns":
            p.data = torch.ones(4, 3).t()
        kind = getattr(torch.optim, name if name != "momentum" else "SGD")
        optimizer = kind([p], **OPTIMIZERS[name])
        for _ in range(7):
            p.grad = torch.ones(3, 4)
            with block():
                optimizer.step()
            found.append(p._version)
        return found

    assert versions(torch.pipeline) == versions(contextlib.nullcontext) == [*range(1, 8)]
