"""What recording generates from rows: for how long it is kept, and from what."""

import gc
import weakref

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.dispatcher import dispatch
from mindtorch_core.dispatch.opdef import OpDef
from mindtorch_core.dispatch.registry import registry


def define(name, factor, **properties):
    """An op that multiplies, by a row of its own; returns the row."""
    schema = f"{name}(Tensor self) -> Tensor"
    row = OpDef(name, schema, grad={"self": lambda g: g * factor}, **properties)
    registry.register_schema(f"tests::{name}", schema, definition=row)
    registry.register_kernel(f"tests::{name}", "CPU", lambda x: x.detach() * factor)
    return row


def gradient(name):
    x = torch.ones(2, requires_grad=True)
    dispatch(f"tests::{name}", "cpu", x).sum().backward()
    return x.grad.tolist()


def test_what_was_generated_for_a_row_goes_with_it():
    with registry.scope():
        row = weakref.ref(define("scaled", 3.0))
        assert gradient("scaled") == [3, 3]
        assert row() is not None
    gc.collect()
    assert row() is None


def test_a_row_over_another_counts_until_it_is_taken_back():
    with registry.scope():
        define("scaled", 3.0)
        assert gradient("scaled") == [3, 3]
        with registry.scope():
            define("scaled", 5.0)
            assert gradient("scaled") == [5, 5]
        assert gradient("scaled") == [3, 3]


@pytest.mark.parametrize("training", [True, False])
def test_statistics_are_saved_only_where_the_gradient_needs_them(training):
    x = torch.rand(4, 3, requires_grad=True)
    mean, var = torch.zeros(3), torch.ones(3)
    y, _, _ = torch.native_batch_norm(x, None, None, mean, var, training, 0.1, 1e-5)
    assert (y.grad_fn._saved_running_mean is mean) is not training
    mean.add_(1)
    if training:
        y.sum().backward()
    else:
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
