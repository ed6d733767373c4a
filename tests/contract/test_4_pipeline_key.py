"""Deferred execution as a dispatch key.

While a pipeline is open its key is in the key set of every call. One kernel serves that key for all
ops: it asks the shape rule (the op's own, or its kernel at the Meta key), returns pending tensors
and records the op with the plan and the kernel of the backend below. Nothing in the dispatcher
knows of pipelines.
"""

import gc
import tokenize
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch import dispatcher, tables
from mindtorch_core.dispatch.calls import fronts as callpath
from mindtorch_core.dispatch.dispatcher import dispatch, dispatch_with_keyset, redispatch
from mindtorch_core.dispatch.keys import DispatchKey, apply_tls_masks, exclude_keys, include_keys
from mindtorch_core.dispatch.opdef import TensorSpec
from mindtorch_core.dispatch.registry import registry

CPU, Meta, Pipeline = DispatchKey.CPU, DispatchKey.Meta, DispatchKey.Pipeline
OP = "pipeline_key_test::op"


@pytest.fixture(autouse=True)
def scope():
    """Take back what a test registers."""
    with registry.scope():
        yield


# ---- the key ------------------------------------------------------------------------------------


def test_the_key_is_in_the_key_set_of_a_call_while_a_pipeline_is_open():
    gc.collect()  # a failed value of another test's keeps the key in calls
    torch.ones(1).add(1)
    assert apply_tls_masks(CPU) == CPU
    with torch.pipeline():
        with torch.pipeline():
            assert apply_tls_masks(CPU) == CPU | Pipeline
        assert apply_tls_masks(CPU) == CPU | Pipeline
    assert apply_tls_masks(CPU) == CPU


def test_no_op_has_a_kernel_of_its_own_at_the_key():
    registry.get("add")
    assert [e.name for e in registry if Pipeline in e.kernels] == []


def test_an_op_that_nobody_told_of_pipelines_is_deferred_too():
    registry.register_schema(OP, "op(Tensor x) -> Tensor")
    registry.register_kernel(OP, CPU, lambda x: x + 1)
    registry.register_kernel(OP, Meta, lambda x: torch.empty_like(x))
    with torch.pipeline():
        made = dispatch(OP, None, torch.ones(2))
        assert made._pending is True
    assert made.tolist() == [2, 2]


def test_the_dispatcher_calls_it_because_the_key_is_in_the_key_set():
    a = torch.ones(2)
    with torch.pipeline():
        for call in (dispatch_with_keyset, lambda *args: redispatch(*args[:2], *args[3:])):
            made = call("add", Pipeline | CPU, None, a, a)
            assert made._pending is True
        assert dispatch("add", None, a, a)._pending is True
        with exclude_keys(Pipeline):
            assert dispatch("add", None, a, a)._pending is False
            assert (a + a)._pending is False
            assert dispatch_with_keyset("add", Pipeline | CPU, None, a, a)._pending is False
    assert made.tolist() == [2, 2]


def test_a_kernel_registered_at_the_key_takes_the_place_of_the_common_one():
    registry.register_kernel(OP, CPU, lambda x: x + 1)
    registry.register_kernel(OP, Pipeline, lambda x: "mine")
    with torch.pipeline():
        assert dispatch(OP, None, torch.ones(1)) == "mine"
    assert dispatch(OP, None, torch.ones(1)).item() == 2


def test_the_key_without_an_open_pipeline_runs_the_op():
    a = torch.ones(2)
    with include_keys(Pipeline):
        made = a + a
    assert made._pending is False
    assert made.tolist() == [2, 2]


@pytest.mark.parametrize("module", [dispatcher, callpath, tables], ids=lambda m: m.__name__)
def test_the_dispatcher_does_not_mention_pipelines(module):
    with tokenize.open(module.__file__) as file:
        tokens = list(tokenize.generate_tokens(file.readline))
    names = {t.string for t in tokens if t.type == tokenize.NAME}
    assert not {n for n in names if "pipeline" in n.lower()}


def test_nothing_else_of_the_dispatcher_imports_the_pipeline():
    folder = Path(dispatcher.__file__).parent
    for file in folder.glob("*.py"):
        imports = [line for line in file.read_text().splitlines() if "import" in line.split()]
        assert not [line for line in imports if "pipeline" in line], file.name


# ---- what its kernel does -----------------------------------------------------------------------


def test_it_runs_the_meta_kernel_for_shapes():
    seen = []

    def meta(x, sizes, *, other):
        seen.append((x.device.type, x.shape, x.stride(), x.dtype, [s.device.type for s in sizes]))
        seen.append(other.is_meta)
        return torch.empty(7, 2, dtype=torch.int64, device="meta")

    registry.register_kernel(OP, CPU, lambda x, sizes, *, other: torch.zeros(7, 2).long())
    registry.register_kernel(OP, Meta, meta)
    a = torch.ones(3, 2).t()
    with torch.pipeline():
        made = dispatch(OP, None, a, [a, a], other=a)
        assert seen == [("meta", (2, 3), (1, 2), torch.float32, ["meta", "meta"]), True]
        assert (made._pending, made.shape, made.dtype) == (True, (7, 2), torch.int64)
        assert made.device == torch.device("cpu")
    assert len(seen) == 2
    assert made.tolist() == [[0, 0]] * 7


def test_the_meta_function_of_the_backend_comes_before_the_meta_kernel():
    registry.register(OP, "cpu", lambda x: x + 1, meta=lambda x: x)
    registry.register_kernel(OP, Meta, lambda x: pytest.fail("ran"))
    with torch.pipeline():
        assert dispatch(OP, None, torch.ones(3)).shape == (3,)


def test_errors_about_shapes_surface_where_the_op_is_called():
    with torch.pipeline():
        with pytest.raises(RuntimeError, match=r"size of tensor a \(2\) must match"):
            torch.ones(2) + torch.ones(3)
        with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
            torch.ones(2, 3) @ torch.ones(4, 5)


def test_the_recorded_op_runs_the_kernel_of_the_backend_below():
    calls = []
    for name in ("add", "aten::mul"):
        below = registry.get(name).kernels[CPU]

        def logged(*args, name=name, below=below, **kwargs):
            calls.append(name)
            return below(*args, **kwargs)

        registry.register_kernel(name, CPU, logged)
    a = torch.ones(2)
    with torch.pipeline() as pipe:
        b = a + a
        c = b * a  # noqa: F841 (a result that nobody sees is not computed)
        assert calls == []
        pipe.flush()
        assert calls == ["add", "aten::mul"]


def test_the_recorded_op_runs_the_plan_of_the_backend_below():
    def plan(fill):
        return lambda x: lambda: torch.full((2,), fill)

    for key, fill in (("CPU", 1), ("NPU", 2), ("Meta", 3)):
        registry.register(OP, key, lambda x: x, meta=lambda x: x, plan=plan(float(fill)))
    with torch.pipeline():
        made = dispatch(OP, None, torch.zeros(2))
    assert made.tolist() == [1, 1]


def test_the_kernel_that_was_in_force_when_the_op_was_recorded_runs():
    mine = registry.register(OP, "cpu", lambda x: x + 1, meta=lambda x: x)
    with torch.pipeline():
        made = dispatch(OP, None, torch.ones(1))
        mine.remove()
    assert made.item() == 2


def test_ops_that_a_kernel_calls_are_not_recorded_again():
    registry.register(OP, "cpu", lambda x: (x + 1) * 2, meta=lambda x: x)
    with torch.pipeline() as pipe:
        x = torch.ones(2)
        made = dispatch(OP, None, x)
        assert pipe.stats()["recorded"] == 2
    assert pipe.stats()["recorded"] == pipe.stats()["launched"] == 2
    assert made.tolist() == [4, 4]


def test_a_kernel_may_be_made_of_views():
    def impl(x):
        return x.unsqueeze(0).expand(2, 2) * x

    registry.register(OP, "cpu", impl, meta=lambda x: TensorSpec((2, 2), x.dtype))
    with torch.pipeline():
        made = dispatch(OP, None, torch.ones(2) * 3)
    assert made.tolist() == [[9, 9], [9, 9]]


# ---- autograd above it --------------------------------------------------------------------------


def test_a_pending_tensor_has_its_history_at_once():
    a = torch.ones(2).requires_grad_()
    with torch.pipeline():
        b = a * 2
        assert b._pending
        assert b.requires_grad
        assert b.grad_fn is not None
        assert b.is_leaf is False


def test_backward_inside_flushes_first_and_gives_gradients():
    a = torch.tensor([1.0, 2.0])
    with torch.pipeline():
        a.requires_grad_(True)
        total = torch.sum(a)
        other = torch.ones(1) + 1
        assert total._pending
        total.backward()
        assert other._pending is False
        assert a.grad is not None
        assert a.grad.tolist() == [1, 1]


def test_backward_after_the_block_gives_the_eager_gradients():
    def gradient(block):
        a = torch.tensor([[1.0, -2.0], [3.0, 4.0]]).requires_grad_()
        with block():
            loss = ((a @ a).relu() * a).exp().mean()
        loss.backward()
        return a.grad.tolist()

    assert gradient(torch.pipeline) == gradient(torch.enable_grad)
