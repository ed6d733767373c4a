"""Custom ops on devices, on meta tensors, in pipelines, in threads and under other modes."""

import threading
from functools import partial

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from scenarios import as_in_pytorch, numpy_sin, refused


def with_gradient(t, op):
    def setup(ctx, inputs, output):
        x, scale = inputs
        ctx.save_for_backward(x)
        ctx.scale = scale

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.cos() * ctx.scale, None

    op.register_autograd(backward, setup_context=setup)
    return op


# ---- devices ------------------------------------------------------------------------------------


@as_in_pytorch
def test_only_for_a_device_type(t):
    op = numpy_sin(t, "cpu_only", device_types="cpu")
    return op(t.ones(1)), refused(op, t.ones(1, device="meta"))


@as_in_pytorch
def test_a_kernel_for_a_device_type_comes_before_the_general_one(t):
    op = numpy_sin(t, "two_kernels")

    @op.register_kernel("cpu")
    def _(x, scale=1.0):
        return x * 100

    first = op(t.ones(1))
    with op.set_kernel_enabled("cpu", False):
        without = op(t.ones(1))
        with op.set_kernel_enabled("cpu", True):
            again = op(t.ones(1))
    return first, without, again, op(t.ones(1))


def test_a_kernel_for_a_third_partys_device(toy):
    op = numpy_sin(torch, "for_toy")
    x = torch.tensor([1.0, 2.0], device="toy")

    @torch.library.register_kernel("custom_op_test::for_toy", "toy")
    def _(x, scale=1.0):
        return x * 3

    assert op(x).tolist() == [3, 6]
    assert op(x).device.type == "toy"
    assert op(torch.zeros(1)).tolist() == [0]
    assert torch.library.opcheck(op, (x,), test_utils="test_schema") == {"test_schema": "SUCCESS"}


@as_in_pytorch
def test_without_tensor_arguments(t):
    @t.library.custom_op("custom_op_test::make", mutates_args=())
    def make(n: int) -> t.Tensor:
        return t.ones(n)

    @t.library.custom_op("custom_op_test::make_on", mutates_args=(), device_types="cpu")
    def make_on(n: int, device: t.device) -> t.Tensor:
        return t.ones(n, device=device)

    return make(2), make_on(3, "cpu"), make_on(1, t.device("cpu"))


@as_in_pytorch
def test_a_device_type_and_no_way_to_know_the_device(t):
    def make(n: int) -> t.Tensor:
        return t.ones(n)

    def op():
        return t.library.custom_op(
            "custom_op_test::nowhere", make, mutates_args=(), device_types="cpu"
        )

    made = refused(op)
    return isinstance(made, Exception) or isinstance(refused(made, 2), Exception)


# ---- shapes without data ------------------------------------------------------------------------


@as_in_pytorch
def test_on_meta_tensors(t):
    op = numpy_sin(t, "on_meta")
    x = t.ones(2, 3, device="meta")
    without = refused(op, x)
    op.register_fake(lambda x, scale=1.0: t.empty_like(x))
    y = op(x)
    return without, y.shape, y.device, y.dtype


@as_in_pytorch
def test_an_op_that_only_writes_needs_no_fake(t):
    @t.library.custom_op("custom_op_test::only_writes", mutates_args=("x",))
    def only_writes(x: t.Tensor) -> None:
        x.add_(1)

    return only_writes(t.ones(1, device="meta"))


def test_the_error_says_how_to_register_a_fake():
    op = numpy_sin(torch, "no_fake")
    with pytest.raises(RuntimeError, match=r"no fake impl registered for .*no_fake.*register_fake"):
        op(torch.ones(1, device="meta"))


@as_in_pytorch
def test_register_fake(t):
    op = numpy_sin(t, "faked")

    @t.library.register_fake("custom_op_test::faked")
    def _(x, scale=1.0):
        return x.new_empty(x.shape)

    made = op(t.ones(2, device="meta"))
    t.library.register_fake(op, lambda x, scale=1.0: x.new_empty(5), allow_override=True)
    return [
        t.library.get_ctx(),
        made.shape,
        op(t.ones(2, device="meta")).shape,
        refused(t.library.register_fake, "custom_op_test::nothing", lambda x: x),
        refused(t.library.register_fake, "nothing", lambda x: x),
        refused(t.library.register_fake, 3, lambda x: x),
    ]


@as_in_pytorch
def test_a_second_fake_where_it_must_not_replace_the_first(t):
    with t.library._scoped_library("custom_op_test_once", "FRAGMENT") as lib:
        lib.define("once(Tensor x) -> Tensor")
        register = partial(t.library.register_fake, "custom_op_test_once::once", lib=lib)
        register(lambda x: x.new_empty(5), allow_override=False)
        said = refused(register, lambda x: x.new_empty(6), allow_override=False)
        once = t.ops.custom_op_test_once.once
        kept = once(t.ones(2, device="meta")).shape
        register(lambda x: x.new_empty(7))
        return said, kept, once(t.ones(2, device="meta")).shape


@as_in_pytorch
def test_a_fake_for_what_decomposes_is_refused(t):
    with t.library._scoped_library("custom_op_test_parts", "FRAGMENT") as lib:
        lib.define("parts(Tensor x) -> Tensor")
        lib.impl("parts", lambda x: x + 1, "CompositeImplicitAutograd")
        register = t.library.register_fake
        return refused(register, "custom_op_test_parts::parts", lambda x: x, lib=lib)


def test_a_size_that_depends_on_data_has_no_fake():
    @torch.library.custom_op("custom_op_test::nonzero", mutates_args=())
    def nonzero(x: torch.Tensor) -> torch.Tensor:
        return torch.nonzero(x)

    @nonzero.register_fake
    def _(x):
        n = torch.library.get_ctx().new_dynamic_size()
        return x.new_empty((n, x.dim()), dtype=torch.int64)

    assert nonzero(torch.tensor([0, 1, 2])).tolist() == [[1], [2]]
    with pytest.raises(NotImplementedError, match=r"custom_op_test::nonzero: .* depends on data"):
        nonzero(torch.ones(3, device="meta"))


# ---- pipelines, threads -------------------------------------------------------------------------


def test_an_op_with_a_fake_is_deferred():
    op = numpy_sin(torch, "deferred", device_types="cpu")
    x = torch.linspace(0, 1, 3)
    eager = op(x)
    with torch.pipeline() as pipe:
        assert not op(x)._pending
        assert pipe.stats()["breaks"] == {"custom_op_test::deferred: no meta kernel": 1}
    op.register_fake(lambda x, scale=1.0: torch.empty_like(x))
    with torch.pipeline():
        y = op(x + 0) * 2
        assert y._pending
    assert y.tolist() == (eager * 2).tolist()


def test_an_op_that_writes_runs_at_once():
    @torch.library.custom_op("custom_op_test::write_now", mutates_args=("x",))
    def write_now(x: torch.Tensor) -> None:
        x.add_(1)

    with torch.pipeline():
        x = torch.ones(2) * 2
        write_now(x)
        y = x * 2
    assert (x.tolist(), y.tolist()) == ([3, 3], [6, 6])


def test_gradients_of_a_deferred_op():
    op = with_gradient(torch, numpy_sin(torch, "deferred_gradient"))
    op.register_fake(lambda x, scale=1.0: torch.empty_like(x))
    grads = []
    for run in (torch.pipeline, torch.enable_grad):
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        with run():
            (op(x * 2) * 3).sum().backward()
        grads.append(x.grad.tolist())
    assert grads[0] == grads[1]


def test_in_threads():
    op = with_gradient(torch, numpy_sin(torch, "threaded"))
    found = []

    def work(n):
        for _ in range(50):
            x = torch.full((2,), float(n), requires_grad=True)
            op(x).sum().backward()
            found.append((n, round(x.grad[0].item(), 5)))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    [each.start() for each in threads]
    [each.join() for each in threads]
    assert sorted(set(found)) == [(n, round(float(np.cos(np.float32(n))), 5)) for n in range(4)]
    assert len(found) == 200


# ---- other modes --------------------------------------------------------------------------------


@as_in_pytorch
def test_without_gradients(t):
    op = with_gradient(t, numpy_sin(t, "modes"))
    x = t.ones(1, requires_grad=True)
    seen = [op(x).requires_grad]
    with t.no_grad():
        seen.append(op(x).requires_grad)
    with t.inference_mode():
        y = op(x)
        seen += [y.requires_grad, y.is_inference()]
    return seen, op(x.detach()).requires_grad


@as_in_pytorch
def test_autocast(t):
    @t.library.custom_op("custom_op_test::half", mutates_args=())
    def half(x: t.Tensor, y: t.Tensor) -> t.Tensor:
        return x * y

    t.library.register_autocast("custom_op_test::half", "cpu", t.bfloat16)
    x, n = t.ones(2), t.tensor([1, 2])
    seen = [half(x, x).dtype]
    with t.autocast("cpu"):
        seen += [half(x, x).dtype, half(x.double(), x.double()).dtype, half(n, n).dtype]
        with t.autocast("cpu", enabled=False):
            seen.append(half(x, x).dtype)
    with t.autocast("cpu", dtype=t.float16):
        seen.append(half(x, x).dtype)
    return seen


def test_what_a_custom_op_registered_is_taken_back_with_a_transaction():
    with registry.scope():
        numpy_sin(torch, "short_lived")
        assert hasattr(torch.ops.custom_op_test, "short_lived")
    assert not hasattr(torch.ops.custom_op_test, "short_lived")
    with pytest.raises(RuntimeError, match="operator custom_op_test::short_lived does not exist"):
        torch.library.register_kernel("custom_op_test::short_lived", "cpu", lambda x: x)
    assert numpy_sin(torch, "short_lived")(torch.zeros(1)).item() == 0
