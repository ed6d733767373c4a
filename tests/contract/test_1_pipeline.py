"""Explicit deferred execution, as its users see it.

Inside ``with torch.pipeline():`` an op returns at once with a tensor whose shape, dtype, device and
strides are known and whose value is pending. The recorded ops run when the block ends, when
``flush`` is called, or when somebody needs a value. An op whose shape cannot be known beforehand
runs at once, after everything recorded before it.
"""

import copy
import pickle

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core import autograd
from mindtorch_core.dispatch.dispatcher import dispatch
from mindtorch_core.dispatch.pipeline import current_pipeline, pipeline_context
from mindtorch_core.dispatch.registry import registry

OP = "pipeline_test::op"


def numbers():
    return torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]]), torch.ones(2, 3)


@pytest.fixture
def pending():
    """A pending tensor that holds ``[2.0]``, inside a pipeline."""
    with torch.pipeline():
        made = torch.tensor([1.0]) + 1
        assert made._pending is True
        yield made


# ---- the block ----------------------------------------------------------------------------------


def test_the_context_yields_the_pipeline():
    with torch.pipeline() as pipe:
        assert current_pipeline() is pipe
        assert callable(pipe.flush)
    with pipeline_context() as pipe:
        assert current_pipeline() is pipe


def test_ops_inside_are_pending_and_settled_when_the_block_ends():
    a, b = numbers()
    with torch.pipeline():
        made = [c := a + b, d := c.relu(), d.sum(), d * c, torch.zeros(2), d.exp()]
        assert [t._pending for t in made] == [True] * len(made)
    assert [t._pending for t in made] == [False] * len(made)
    assert c.tolist() == [[2, -1, 4], [5, 6, -5]]
    assert d.tolist() == [[2, 0, 4], [5, 6, 0]]
    assert made[2].item() == 17


def test_nothing_runs_before_the_block_ends():
    ran = []

    def impl(x):
        ran.append("impl")
        return x.clone()

    with registry.scope():
        registry.register(OP, "cpu", impl, meta=lambda x: x)
        with torch.pipeline():
            dispatch(OP, None, torch.ones(2))
            assert ran == []
    assert ran == ["impl"]


def test_ops_outside_are_not_deferred():
    a, b = numbers()
    with torch.pipeline():
        pass
    assert (a + b)._pending is False


def test_the_deferred_answers_are_the_eager_ones():
    a, b = numbers()

    def program():
        c = (a + b).relu()
        d = c.transpose(0, 1) @ b
        e = torch.cat([d, d * 2], dim=1)[:, 1:4]
        e.add_(1)
        e[0] = 7
        return [c, d, e, e.sum(), e.mean(dim=0), e.max(dim=1).values, c.reshape(-1) > 1]

    eager = program()
    with torch.pipeline():
        deferred = program()
    for one, other in zip(eager, deferred, strict=True):
        assert one.tolist() == other.tolist()
        assert (one.dtype, one.stride()) == (other.dtype, other.stride())


# ---- meta, plan and impl ------------------------------------------------------------------------


def test_the_registry_holds_meta_plan_and_impl():
    def impl(x): ...
    def meta(x): ...
    def plan(x): ...

    with registry.scope():
        registry.register(OP, "cpu", impl, meta=meta, plan=plan)
        entry, key = registry.get(OP), torch.DispatchKey.CPU
        assert (entry.kernels[key], entry.metas[key], entry.plans[key]) == (impl, meta, plan)
    assert OP not in registry


def test_the_meta_function_gives_shape_and_dtype_of_the_pending_result():
    a, _ = numbers()
    with registry.scope():
        registry.register(OP, "cpu", lambda x: x.sum(dim=0).double(), meta=_column_sums)
        with torch.pipeline():
            made = dispatch(OP, None, a)
            assert (made._pending, made.shape, made.dtype) == (True, (3,), torch.float64)
    assert made.tolist() == [5, 3, -3]


def _column_sums(x):
    return torch.empty(x.shape[1:], dtype=torch.float64, device="meta")


def test_a_meta_function_may_give_several_results():
    a, _ = numbers()
    with registry.scope():
        registry.register(OP, "cpu", lambda x: (x + 1, x.sum()), meta=lambda x: (x, x[0, 0]))
        with torch.pipeline():
            one, two = dispatch(OP, None, a)
            assert (one._pending, two._pending) == (True, True)
            assert (one.shape, two.shape) == ((2, 3), ())
    assert two.item() == 5


def test_the_plan_is_used_in_the_place_of_the_impl():
    steps = []

    def plan(x):
        steps.append("plan")

        def launch():
            steps.append("launch")
            return x + 1

        return launch

    with registry.scope():
        registry.register(OP, "cpu", lambda x: pytest.fail("impl ran"), meta=lambda x: x, plan=plan)
        with torch.pipeline():
            made = dispatch(OP, None, torch.ones(2))
            assert steps == []
        assert steps == ["plan", "launch"]
    assert made.tolist() == [2, 2]


# ---- ops that are not deferred ------------------------------------------------------------------


def test_an_op_without_meta_function_flushes_and_runs_at_once():
    seen = []

    def impl(x):
        seen.append(x._pending)
        return x * 10

    with registry.scope():
        registry.register(OP, "cpu", impl)
        with torch.pipeline() as pipe:
            before = torch.ones(2) + 1
            unrelated = torch.ones(2) * 3
            made = dispatch(OP, None, before)
            assert seen == [False]
            assert (before._pending, unrelated._pending, made._pending) == (False, False, False)
            assert made.tolist() == [20, 20]
            assert pipe.stats()["breaks"] == {f"{OP}: no meta kernel": 1}
            assert (made + 1)._pending is True


def test_an_op_without_meta_function_flushes_also_what_it_does_not_use():
    settled = torch.ones(2)
    with registry.scope():
        registry.register(OP, "cpu", lambda x: x * 10)
        with torch.pipeline():
            unrelated = torch.ones(2) * 3
            dispatch(OP, None, settled)
            assert unrelated._pending is False


def test_an_op_without_meta_function_is_not_counted_outside():
    with registry.scope():
        registry.register(OP, "cpu", lambda x: x * 10)
        with torch.pipeline() as pipe:
            pass
        assert dispatch(OP, None, torch.ones(1)).item() == 10
    assert pipe.stats()["breaks"] == {}


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("nonzero", lambda c: torch.nonzero(c > 0)),
        ("masked_select", lambda c: torch.masked_select(c, c > 0)),
        ("index", lambda c: c[c > 0]),
    ],
)
def test_an_op_whose_shape_depends_on_data_flushes(name, call):
    a, b = numbers()
    expected = call(a + b)
    with torch.pipeline() as pipe:
        c = a + b
        made = call(c)
        assert c._pending is False
        assert made.shape == expected.shape
        assert sum(pipe.stats()["breaks"].values()) == 1
    assert made.tolist() == expected.tolist()


# ---- what is known of a pending tensor ----------------------------------------------------------


def test_a_pending_tensor_knows_shape_dtype_device_and_strides():
    a, b = numbers()
    with torch.pipeline():
        c = a + b
        d = c.relu()
        e = d.sum()
        assert [t.shape for t in (c, d, e)] == [a.shape, a.shape, ()]
        assert [t.dtype for t in (c, d, e, c > d)] == [torch.float32] * 3 + [torch.bool]
        assert [t.device for t in (c, d, e)] == [torch.device("cpu")] * 3
        assert [t.stride() for t in (c, d, e)] == [(3, 1), (3, 1), ()]
        view = c.t()[1:]
        assert (view.shape, view.stride(), view.storage_offset()) == ((2, 2), (1, 3), 1)
        assert [t.dtype for t in (c.to(torch.int64), torch.arange(3) + 1)] == [torch.int64] * 2
        assert all(t._pending for t in (c, d, e, view))


def test_the_strides_of_a_pending_result_follow_its_inputs():
    a = torch.ones(3, 4).t()
    eager = a + a
    with torch.pipeline():
        c = a + a
        assert c._pending
        assert c.stride() == eager.stride() == (1, 4)
    assert c.stride() == (1, 4)


# ---- what flushes by itself ---------------------------------------------------------------------

# What reads a one-element tensor that holds 2.0, and what it gives.
BOUNDARIES = {
    "to(device)": (lambda c: c.to("cpu").item(), 2),
    "to(device, dtype)": (lambda c: c.to("cpu", torch.int64).item(), 2),
    "to(other tensor)": (lambda c: c.to(torch.ones(1)).item(), 2),
    "cpu": (lambda c: c.cpu().item(), 2),
    "numpy": (lambda c: c.numpy().tolist(), [2]),
    "numpy(force)": (lambda c: c.numpy(force=True).tolist(), [2]),
    "item": (lambda c: c.item(), 2),
    "tolist": (lambda c: c.tolist(), [2]),
    "repr": (repr, "tensor([2.])"),
    "str": (str, "tensor([2.])"),
    "format": (lambda c: f"{c}", "tensor([2.])"),
    "bool": (bool, True),
    "int": (int, 2),
    "float": (float, 2.0),
    "complex": (complex, 2 + 0j),
    "index": (lambda c: "abcd"[c.to(torch.int64)], "c"),
    "in": (lambda c: 2.0 in c, True),
    "__array__": (lambda c: np.asarray(c).tolist(), [2]),
    "__dlpack__": (lambda c: np.from_dlpack(c).tolist(), [2]),
    "pickle": (lambda c: pickle.loads(pickle.dumps(c)).item(), 2),
    "torch.tensor": (lambda c: torch.tensor([c[0], c[0]]).tolist(), [2, 2]),
    "data": (lambda c: c.data.item(), 2),
}


@pytest.mark.parametrize("name", BOUNDARIES)
def test_flushes_by_itself(name, pending):
    call, expected = BOUNDARIES[name]
    assert call(pending) == expected
    assert pending._pending is False


def test_to_the_cpu_settles_inside_the_block_and_the_copy_holds_the_values():
    a, b = numbers()
    with torch.pipeline():
        c = a + b
        copied = c.to("cpu")
        assert c._pending is False
        assert copied._pending is False
        assert copied.tolist() == [[2, -1, 4], [5, 6, -5]]


@pytest.mark.parametrize("read", [lambda c: c.untyped_storage().data_ptr(), lambda c: c.data_ptr()])
def test_the_address_of_the_storage_flushes(read, pending):
    address = read(pending)
    assert pending._pending is False
    assert address == pending.numpy().__array_interface__["data"][0]


def test_copying_to_meta_flushes(pending):
    assert pending.to("meta").shape == (1,)
    assert pending._pending is False


def test_synchronize_flushes(pending):
    torch.cpu.synchronize()
    assert pending._pending is False


def test_deepcopy_of_a_pending_tensor_holds_its_value(pending):
    copied = copy.deepcopy(pending)
    assert copied.item() == 2
    assert pending._pending is False


def test_backward_flushes():
    a = torch.tensor([1.0, 2.0]).requires_grad_()
    with torch.pipeline():
        unrelated = torch.ones(1) + 1
        loss = (a * a).sum()
        assert loss._pending
        loss.backward()
        assert (loss._pending, unrelated._pending) == (False, False)
        assert a.grad.tolist() == [2, 4]


def test_autograd_grad_flushes():
    a = torch.tensor([1.0, 2.0]).requires_grad_()
    with torch.pipeline():
        unrelated = torch.ones(1) + 1
        loss = (a * a).sum()
        (found,) = autograd.grad(loss, a)
        assert (loss._pending, unrelated._pending) == (False, False)
        assert found.tolist() == [2, 4]


def test_flush_works_at_any_moment():
    with torch.pipeline() as pipe:
        pipe.flush()
        one = torch.ones(2) + 1
        pipe.flush()
        assert one._pending is False
        two = one + 1
        assert two._pending is True
        pipe.flush()
        pipe.flush()
        assert two._pending is False
        three = two + 1
    assert three.tolist() == [4, 4]


# ---- nesting ------------------------------------------------------------------------------------


def test_outside_there_is_no_current_pipeline():
    assert current_pipeline() is None
    with torch.pipeline():
        pass
    assert current_pipeline() is None


def test_contexts_nest_and_restore_the_previous_one():
    with torch.pipeline() as outer:
        with torch.pipeline() as inner:
            assert inner is not outer
            assert current_pipeline() is inner
        assert current_pipeline() is outer
    assert current_pipeline() is None


def test_contexts_restore_the_previous_one_when_the_body_raises():
    with torch.pipeline() as outer:
        with pytest.raises(ZeroDivisionError), torch.pipeline():
            raise ZeroDivisionError
        assert current_pipeline() is outer
        assert (torch.ones(1) + 1)._pending is True
    made = []

    def failing():
        with torch.pipeline():
            made.append(torch.ones(1) + 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert current_pipeline() is None
    assert made[0]._pending is False
    assert made[0].item() == 2
    assert (torch.ones(1) + 1)._pending is False


def test_an_inner_context_executes_its_own_ops_and_reads_the_outer_ones():
    with torch.pipeline():
        one = torch.ones(1) + 1
        with torch.pipeline():
            two = torch.ones(1) * 5
        assert two._pending is False
        assert one._pending is True
        with torch.pipeline():
            three = one * 10
        assert three._pending is False
        assert three.item() == 20


# ---- devices ------------------------------------------------------------------------------------


def test_it_works_on_the_cpu():
    a, b = numbers()
    eager = (a + b).relu().sum().to("cpu")
    with torch.pipeline():
        made = (a + b).relu().sum()
        assert made._pending is True
        assert made.to("cpu").item() == eager.item() == 17


def test_it_works_on_a_third_partys_device(toy):
    a, b = (t.to("toy") for t in numbers())
    toy.CALLS.clear()
    with torch.pipeline():
        c = a + b
        made = c.relu().sum()
        assert toy.CALLS == []
        assert [c._pending, made._pending] == [True, True]
        assert (made.device, made.shape) == (torch.device("toy:0"), ())
        answer = made.to("cpu")
        assert toy.CALLS == ["add", "relu", "sum"]
        assert (answer.item(), made._pending) == (17, False)
    assert c.tolist() == [[2, -1, 4], [5, 6, -5]]


def test_it_works_on_a_backend_that_holds_the_npu_key(site):
    site.toy("toy", "NPU")
    site.run(
        """
a, b = torch.tensor([1.0, -2.0], device="toy"), torch.ones(2, device="toy")
eager = (a + b).relu().sum().to("cpu")
with torch.pipeline():
    made = (a + b).relu().sum()
    assert made._pending is True
    answer = made.to("cpu")
    assert made._pending is False
assert answer.item() == eager.item() == 2.0
""",
        backends="cpu,toy",
    )


def test_meta_tensors_have_nothing_to_execute():
    a = torch.ones(2, 3, device="meta")
    with torch.pipeline() as pipe:
        made = (a + a).relu().sum()
        assert made._pending is False
        assert (made.shape, made.is_meta) == ((), True)
        assert pipe.stats()["recorded"] == 0
