"""Kernels that run out of memory, take or return something else than the op, and calls by fewer arguments."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.dispatcher import dispatch, dispatch_with_keyset
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.inspection import explain
from mindtorch_core.inspection.functions import ops_called_by
from mindtorch_core.values.errors import NoKernelError


def numpy_error(shape, dtype):
    with pytest.raises(MemoryError) as error:
        np.empty(shape, dtype)
    return error.value


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError("no more"), r"can't allocate memory in sin: no more\. Delete tensors that"),
        (MemoryError(), r"can't allocate memory in sin\. Delete tensors that"),
    ],
)
def test_memory_that_runs_out(error, words):
    def full(self):
        raise error

    with registry.scope():
        registry.register_kernel("aten::sin", "CPU", full)
        with pytest.raises(torch.OutOfMemoryError, match=words) as found:
            torch.sin(torch.ones(1))
    assert isinstance(found.value, RuntimeError)
    assert found.value.__cause__ is None
    assert torch.sin(torch.zeros(1)).item() == 0


def test_how_much_memory_was_asked_for():
    def full(self):
        raise numpy_error((2**40, 2**10), np.float32)

    with registry.scope():
        registry.register_kernel("aten::sin", "CPU", full)
        said = rf"you tried to allocate {2**52} bytes \(4294967296\.00 MiB\) for \[1099511627776, 1024\] el"
        with pytest.raises(torch.OutOfMemoryError, match=said):
            torch.sin(torch.ones(1))


def nothing():
    """A kernel that takes no argument."""


def test_a_kernel_that_takes_other_arguments_than_the_op():
    with registry.scope():
        registry.register_kernel("aten::sin", "CPU", nothing)
        with pytest.raises(
            RuntimeError, match="it takes 0 positional arguments, and the call passes 1"
        ):
            dispatch("aten::sin", None, torch.ones(1))
    assert torch.sin(torch.zeros(1)).item() == 0


def test_an_error_inside_a_kernel_is_its_own():
    def wrong(self):
        return (lambda: 1)(self)

    with registry.scope():
        registry.register_kernel("aten::sin", "CPU", wrong)
        with pytest.raises(TypeError, match="takes 0 positional arguments but 1 was given"):
            dispatch("aten::sin", None, torch.ones(1))


def test_a_kernel_that_returns_other_things_than_its_schema_says():
    with registry.scope():
        registry.register_schema("fails::two", "two(Tensor x) -> (Tensor, Tensor)")
        registry.register_kernel("fails::two", "CPU", lambda x: x)
        with pytest.raises(
            RuntimeError, match=r"the kernel of fails::two returned .*\n  kernel: .*py:\d+"
        ):
            dispatch("fails::two", None, torch.ones(1))


def test_a_call_with_fewer_arguments_is_recorded_with_the_defaults():
    with torch.library._scoped_library("fails", "FRAGMENT") as lib:
        lib.define("scaled(Tensor x, float by=3.0, *, float plus=1.0) -> Tensor")
        lib.impl("scaled", lambda x, by=3.0, plus=1.0: x * by + plus, "CPU")
        torch.library.register_autograd(
            "fails::scaled",
            lambda ctx, g: (g * ctx.by, None),
            setup_context=lambda ctx, inputs, keyword_only_inputs, output: setattr(
                ctx, "by", inputs[1] if len(inputs) > 1 else 3.0
            ),
            lib=lib,
        )
        for args, kwargs, value, grad in (
            ((), {}, 7, 3), ((5.0,), {}, 11, 5), ((), {"by": 4.0}, 9, 4), ((), {"plus": 2.0}, 8, 3),
        ):  # fmt: skip
            x = torch.tensor(2.0, requires_grad=True)
            y = dispatch("fails::scaled", None, x, *args, **kwargs)
            y.backward()
            assert (y.item(), x.grad.item()) == (value, grad)


def test_a_key_that_falls_through_leads_to_no_other_backend():
    from mindtorch_core.dispatch.registry import fallthrough_kernel

    keys = DispatchKey.PrivateUse3 | DispatchKey.CPU
    assert dispatch_with_keyset("aten::sin", keys, None, torch.zeros(1)).item() == 0
    with registry.scope():
        registry.register_fallback("PrivateUse3", fallthrough_kernel)
        rows = {row.key: row for row in explain("sin", keys=keys).rows}
        for key in (DispatchKey.PrivateUse3, DispatchKey.CPU):
            assert rows[key].outcome == "skipped"
            assert rows[key].kernel.registered is DispatchKey.PrivateUse3
            assert rows[key].kernel.name == "fallthrough_kernel"
        with pytest.raises(
            NoKernelError, match="no fallback function is registered for schema aten::sin"
        ):
            dispatch_with_keyset("aten::sin", keys, None, torch.zeros(1))


def test_functions_without_a_source_call_nothing_that_is_known():
    scope = {}
    exec("def made(x):\n    return torch.sin(x)", scope)
    assert ops_called_by(scope["made"]) == ()


def test_what_an_absent_device_knows_of_its_memory():
    assert dict(torch.cuda.memory_stats()) == {}
    storage = torch.ones(2).untyped_storage()
    for s in (
        storage,
        torch.storage.TypedStorage(wrap_storage=storage, dtype=torch.float32, _internal=True),
    ):
        with pytest.raises(RuntimeError, match="no installed backend provides the device 'mtia'"):
            s.mtia()
