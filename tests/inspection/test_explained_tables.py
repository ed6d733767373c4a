"""`explain` on made-up registrations: what it names is what runs, and it says why."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mindtorch_core.dispatch.dispatcher import dispatch_with_keyset
from mindtorch_core.dispatch.entry import fallthrough_kernel
from mindtorch_core.dispatch.keys import DispatchKey, exclude_keys
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.inspection import explain

OP = "explain_test::op"
K = DispatchKey
REGISTERED = [
    K.CPU, K.Meta, K.PrivateUse1, K.SparseCPU, K.QuantizedCPU, K.BackendSelect, K.Functionalize,
    K.AutogradCPU, K.AutogradOther, K.Autograd, K.AutocastCPU, K.FuncTorchBatched,
    K.CompositeImplicitAutograd, K.CompositeExplicitAutograd,
    K.CompositeExplicitAutogradNonFunctional, K.FuncTorchBatchedDecomposition,
]  # fmt: skip
CALLED = [
    K.CPU, K.Meta, K.PrivateUse1, K.PrivateUse2, K.SparseCPU, K.QuantizedCPU, K.NestedTensorCPU,
    K.BackendSelect, K.Inference, K.Functionalize, K.ADInplaceOrView, K.AutogradOther, K.AutogradCPU,
    K.AutogradMeta, K.AutocastCPU, K.AutocastCUDA, K.FuncTorchBatched, K.Autograd,
]  # fmt: skip


@pytest.fixture
def op():
    with registry.scope():
        registry.register_schema(OP, "op(Tensor[] xs) -> str")
        yield registry.entry(OP)


def register(key, name=None):
    kernel = lambda xs: name or DispatchKey(key).name  # noqa: E731 (a new function each time)
    kernel.__qualname__ = name or DispatchKey(key).name
    return registry.register_kernel(OP, key, kernel)


def outcome(mask):
    """What a call with these keys returns, and what it raises."""
    try:
        return dispatch_with_keyset(OP, mask, None, []), None
    except (RuntimeError, NotImplementedError) as error:
        return None, error


def rows(explained):
    return {row.key_name: row for row in explained.rows}


@settings(max_examples=400, deadline=None, derandomize=True)
@example({K.CPU}, {K.Autograd}, {K.CPU, K.AutogradCPU})
@example({K.SparseCPU, K.CompositeImplicitAutograd}, set(), {K.SparseCPU, K.AutogradOther})
@example({K.PrivateUse1}, set(), {K.PrivateUse2, K.PrivateUse1})
@given(
    st.sets(st.sampled_from(REGISTERED), max_size=5),
    st.sets(st.sampled_from(REGISTERED), max_size=2),
    st.sets(st.sampled_from(CALLED), max_size=6),
)
def test_the_kernel_named_is_the_one_that_runs(kernels, fallthroughs, call):
    mask = sum(call)
    with registry.scope():
        registry.register_schema(OP, "op(Tensor[] xs) -> str")
        for key in kernels:
            register(key)
        for key in fallthroughs:
            registry.register_fallthrough(OP, key)
        explained = explain(OP, keys=mask)
        ran, raised = outcome(mask)
        if explained.path and explained.path[-1].rule == "fallback":
            assert "Meta" in str(raised)  # that backend's kernel for all ops ran, and has no rule
        elif raised is not None:
            assert explained.error == str(raised)
            assert explained.chosen is None
            assert explained.path == ()
        else:
            assert explained.error is None
            assert explained.path[-1].kernel.registered.name == ran
            assert explained.path[-1].kernel.name == ran
            assert explained.path[0] is explained.chosen
        assert {row.key for row in explained.rows} - {None} == set(explained.keys)
        assert str(explained).isascii()


def test_each_reason_for_skipping_a_key_is_named(op):
    register(K.CPU)
    register(K.AutocastCUDA)
    registry.register_fallthrough(OP, K.Functionalize)
    mask = K.AutocastCUDA | K.AutogradCPU | K.Functionalize | K.Tracer | K.ADInplaceOrView | K.CPU
    with exclude_keys(K.Tracer):
        found = rows(explain(OP, keys=mask))
    assert found["Tracer"].outcome == "excluded"
    assert "masks" in found["Tracer"].why
    assert found["AutocastCUDA"].outcome == "skipped"
    assert "another backend" in found["AutocastCUDA"].why
    assert found["Functionalize"].outcome == "skipped"
    assert "fallthrough" in found["Functionalize"].why
    assert found["Functionalize"].kernel.name == fallthrough_kernel.__name__
    assert found["ADInplaceOrView"].outcome == "skipped"
    assert found["ADInplaceOrView"].why == "the op writes none of its arguments"
    assert found["AutogradCPU"].outcome == "chosen"
    assert found["AutogradCPU"].rule == "wrapper"
    assert list(found["AutogradCPU"].calls) == [K.ADInplaceOrView, K.Functionalize, K.CPU]
    assert found["CPU"].outcome == "called"
    assert found["CPU"].rule == "direct"


def test_an_alias_is_named_where_the_kernel_is_registered(op):
    register(K.Autograd)
    register(K.CompositeExplicitAutograd)
    found = rows(explain(OP, requires_grad=True))
    assert found["AutogradCPU"].kernel.registered is K.Autograd
    assert found["AutogradCPU"].rule == "autograd"
    assert found["CPU"].kernel.registered is K.CompositeExplicitAutograd
    assert found["CPU"].rule == "explicit"
    assert found["CPU"].outcome == "next"  # if the Autograd kernel calls the op again
    assert "registered at CompositeExplicitAutograd" in str(explain(OP))


def test_registrations_that_are_hidden_are_listed_newest_first(op):
    for name in ("first", "second", "third"):
        register(K.CPU, name)
    (row,) = explain(OP).path
    assert row.kernel.name == "third"
    assert [k.name for k in row.shadowed] == ["second", "first"]
    assert "hides second" in str(explain(OP))


def test_lower_backends_are_not_reached(op):
    register(K.CPU)
    register(K.Meta)
    found = rows(explain(OP, keys=K.CPU | K.Meta))
    assert (found["Meta"].outcome, found["CPU"].outcome) == ("chosen", "unreached")
    assert found["CPU"].why == "Meta is a stronger backend"


def test_autograd_keys_are_left_together(op):
    register(K.Meta)
    found = rows(explain(OP, keys=K.CPU | K.Meta | K.AutogradCPU | K.AutogradMeta))
    assert found["AutogradMeta"].outcome == "chosen"
    assert found["AutogradCPU"].outcome == "unreached"
    assert "AutogradMeta" in found["AutogradCPU"].why
    assert found["Meta"].outcome == "called"


def test_a_missing_kernel_blocks_what_is_above_it(op):
    register(K.Meta)
    explained = explain(OP, requires_grad=True)
    found = rows(explained)
    assert found["AutogradCPU"].outcome == "blocked"
    assert found["CPU"].outcome == "missing"
    assert explained.chosen is None
    assert "Could not run 'explain_test::op'" in explained.error
    assert explained.error.splitlines()[0] in str(explained)


def test_two_kernels_of_equal_right_are_said_to_be_so(op):
    register(K.CompositeImplicitAutograd)
    register(K.SparseCPU)
    explained = explain(OP, keys=K.SparseCPU | K.AutogradOther)
    assert explained.rows[0].rule == "ambiguous"
    assert "mapped to AutogradOther" in explained.error


def test_a_call_without_any_backend_ends_at_undefined(op):
    register(K.CompositeImplicitAutograd)
    explained = explain(OP, keys=0)
    assert explained.chosen.key is None
    assert explained.chosen.key_name == "Undefined"
    assert explained.to_dict()["chosen"] == "Undefined"
    registry.register_fallthrough(OP, K.CompositeImplicitAutograd)
    assert "no tensor arguments" in explain(OP, keys=0).error


def test_kernels_without_a_schema_are_explained_too():
    with registry.scope():
        register(K.CPU)
        explained = explain(OP)
        assert explained.schema == ""
        assert explained.chosen.kernel.name == "CPU"
        assert str(explained).startswith("explain_test::op\n")


def test_a_fallback_for_all_ops_is_named(op):
    with registry.scope():
        registry.register_fallback(K.PrivateUse2, lambda name, *args: name)
        (row,) = explain(OP, device="PrivateUse2").path
        assert row.rule == "fallback"
        assert row.kernel.registered is K.PrivateUse2
