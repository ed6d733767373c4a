"""A call that fails lets go of its operands with its error, without a garbage collection."""

import gc
import weakref
from contextlib import suppress

import pytest

import mindtorch_core as torch


@pytest.fixture(autouse=True)
def no_collection():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


CALLS = {
    "add": lambda x: x + torch.ones(4),
    "sum": lambda x: x.sum(dim=7),
    "linear": lambda x: torch.nn.functional.linear(x, torch.ones(2, 2)),
    "in place": lambda x: x.add_(torch.ones(2, 3)),
    "out": lambda x: torch.add(x, 1, out=torch.ones(3, dtype=torch.int64)),
    "wrong type": lambda x: torch.add(x, "1"),
    "view": lambda x: x.view(5),
    "index": lambda x: x[7],
    "recorded": lambda x: x.requires_grad_() @ torch.ones(4),
    "backward": lambda x: (x.requires_grad_() * 2).backward(),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("deferred", [False, True], ids=["eager", "pipeline"])
def test_operands_go_with_the_error(name, deferred):
    x = torch.ones(3)
    gone = weakref.ref(x)
    with suppress(RuntimeError, IndexError, TypeError):
        if deferred:
            with torch.pipeline():
                CALLS[name](x)
        else:
            CALLS[name](x)
        pytest.fail("it did not raise")
    del x
    assert gone() is None
