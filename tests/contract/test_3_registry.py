"""The registry: ops, their schemas, kernels and fallthroughs, and the rules for missing ones.

Registration is by op name and key, in any order, with or without a schema. A kernel that is missing
is not an error where the key is a composite one, a wrapper or a PrivateUse one: the call goes on
below. It is an error where going on would hand a device's memory to another device's kernel.
"""

import gc

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.dispatcher import dispatch, dispatch_with_keyset, redispatch
from mindtorch_core.dispatch.keys import PRIVATE_USE_KEYS, DispatchKey, include_keys
from mindtorch_core.dispatch.registry import OperatorRegistry, registry
from mindtorch_core.dispatch.schema import parse_schema

CPU = DispatchKey.CPU
OP = "registry_test::op"


@pytest.fixture(autouse=True)
def scope():
    """Take back what a test registers."""
    with registry.scope():
        yield


def echo(*args, **kwargs):
    return args, kwargs


# ---- registering and looking up -----------------------------------------------------------------


def test_a_schema_is_registered_and_found():
    fresh = OperatorRegistry()
    fresh.register_schema("aten::add", "add(Tensor a, Tensor b) -> Tensor")
    entry = fresh.get("aten::add")
    assert entry.name == "aten::add"
    assert [a.name for a in entry.schema.arguments] == ["a", "b"]
    assert str(entry.schema) == "add(Tensor a, Tensor b) -> Tensor"


def test_the_schema_of_an_op_of_the_core_may_be_registered_again():
    registry.register_schema("aten::add", "add(Tensor a, Tensor b) -> Tensor")
    assert registry.get("aten::add").schema.name == "add"
    assert (torch.ones(2) + 1).tolist() == [2, 2]


def test_a_schema_that_does_not_parse_is_refused():
    with pytest.raises(torch.SchemaError, match="here"):
        registry.register_schema(OP, "op(Tensor a -> Tensor")
    assert OP not in registry


def test_a_schemas_error_shows_the_place_and_what_was_expected_there():
    text = "op(Tensro a) -> Tensor"
    with pytest.raises(torch.SchemaError) as info:
        registry.register_schema(OP, text)
    said = "expected a type (did you mean Tensor?) but found 'Tensro' here:"
    assert str(info.value).split("\n") == [said, text, "   ^ here"]
    assert isinstance(info.value, RuntimeError)
    assert isinstance(info.value, ValueError)


def test_a_second_schema_for_an_op_is_refused_if_it_says_something_else():
    registry.register_schema(OP, "op(Tensor a) -> Tensor")
    registry.register_schema(OP, "op(Tensor  a)->Tensor")
    with pytest.raises(RuntimeError, match=r"multiple times.*op\(Tensor a\) -> Tensor"):
        registry.register_schema(OP, "op(Tensor a, Tensor b) -> Tensor")
    assert str(registry.get(OP).schema) == "op(Tensor a) -> Tensor"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_schema_stays_until_its_last_registration_is_removed(order):
    handles = [registry.register_schema(OP, "op(Tensor a) -> Tensor") for _ in range(2)]
    handles[order[0]].remove()
    assert str(registry.get(OP).schema) == "op(Tensor a) -> Tensor"
    handles[order[1]].remove()
    assert OP not in registry


def test_a_registered_kernel_is_the_entrys_kernel_itself():
    def kernel(a, b):
        return a * b

    registry.register_kernel("aten::add", CPU, kernel)
    assert registry.get("aten::add").kernels[CPU] is kernel
    assert dispatch("add", None, torch.full((1,), 3.0), 2).tolist() == [6]


@pytest.mark.parametrize("part", ["meta", "plan"])
def test_what_comes_with_a_kernel_is_to_be_a_function(part):
    with pytest.raises(TypeError, match=f"^{part} of contract::parts is to be a function, not 5$"):
        registry.register("contract::parts", "cpu", lambda x: x, **{part: 5})
    assert "contract::parts" not in {entry.name for entry in registry}


def test_removing_a_kernel_brings_back_the_one_before():
    before = registry.get("add").kernels[CPU]
    handle = registry.register_kernel("add", CPU, echo)
    other = registry.register_kernel("add", CPU, echo)
    handle.remove()
    assert registry.get("add").kernels[CPU] is echo
    other.remove()
    assert registry.get("add").kernels[CPU] is before
    assert (torch.ones(1) + 1).item() == 2


def test_removing_the_newest_of_two_equal_registrations_leaves_the_one_between():
    registry.register_kernel(OP, CPU, echo)
    registry.register_kernel(OP, CPU, len)
    newest = registry.register_kernel(OP, CPU, echo)
    newest.remove()
    assert registry.get(OP).kernels[CPU] is len


def test_a_kernel_that_is_removed_inside_a_scope_is_not_removed_again_at_its_end():
    with registry.scope():
        registry.register_kernel(OP, CPU, echo).remove()
        registry.register("registry_test::other", "cpu", echo, meta=echo, plan=echo)
    assert OP not in registry
    assert "registry_test::other" not in registry


def test_a_fallthrough_is_registered():
    registry.register_fallthrough(OP, DispatchKey.Python)
    assert registry.get(OP).fallthrough == {DispatchKey.Python}


def test_a_key_with_a_fallthrough_is_skipped():
    registry.register_kernel(OP, DispatchKey.Python, lambda *args: "python")
    registry.register_kernel(OP, CPU, lambda *args: "cpu")
    mask = DispatchKey.Python | CPU
    assert dispatch_with_keyset(OP, mask) == "python"
    handle = registry.register_fallthrough(OP, DispatchKey.Python)
    assert dispatch_with_keyset(OP, mask) == "cpu"
    handle.remove()
    assert dispatch_with_keyset(OP, mask) == "python"


def test_a_bare_name_means_aten():
    assert registry.get("add") is registry.get("aten::add")
    registry.register_kernel("registry_test_op", CPU, echo)
    assert registry.get("aten::registry_test_op").kernels == {CPU: echo}


def test_an_overload_is_an_op_of_its_own():
    registry.register_schema("aten::add.Scalar", "add.Scalar(Tensor a, Scalar b) -> Tensor")
    registry.register_kernel("add.Scalar", CPU, echo)
    entry = registry.get("aten::add.Scalar")
    assert entry.name == "aten::add.Scalar"
    assert entry.kernels == {CPU: echo}
    assert entry is not registry.get("aten::add")


def test_an_unknown_op_is_an_error_that_suggests_near_names():
    registry.register_kernel(OP, CPU, echo)
    with pytest.raises(RuntimeError, match=r"registry_test::opp.*Did you mean registry_test::op\?"):
        registry.get("registry_test::opp")


@pytest.mark.parametrize("key", [CPU, "CPU", int(CPU), "cpu"], ids=repr)
def test_a_key_may_be_given_by_its_name_its_value_or_the_device(key):
    registry.register_kernel(OP, key, echo)
    assert registry.get(OP).kernels == {CPU: echo}


# ---- without a schema ---------------------------------------------------------------------------


def test_an_op_without_schema_passes_its_arguments_through():
    registry.register_kernel(OP, CPU, echo)
    assert registry.get(OP).schema is None
    t = torch.ones(1)
    args, kwargs = dispatch_with_keyset(OP, CPU, None, t, "text", [1, 2], flag=None)
    assert args[0] is t
    assert args[1:] == ("text", [1, 2])
    assert kwargs == {"flag": None}


def test_an_op_without_schema_dispatches_by_the_given_key_set():
    for key in (CPU, DispatchKey.NPU, DispatchKey.PrivateUse2):
        registry.register_kernel(OP, key, lambda *args, key=key: (key, args))
    assert dispatch_with_keyset(OP, DispatchKey.NPU, None, 1) == (DispatchKey.NPU, (1,))
    mask = CPU | DispatchKey.PrivateUse2
    assert dispatch_with_keyset(OP, mask, None, 1) == (DispatchKey.PrivateUse2, (1,))
    assert redispatch(OP, CPU, 1) == (CPU, (1,))
    with include_keys(CPU):
        assert dispatch(OP, None, 1) == (CPU, (1,))
    assert dispatch(OP, "cpu", 1) == (CPU, (1,))


def test_a_kernel_may_be_registered_before_the_schema():
    registry.register_kernel(OP, CPU, lambda x: x + 1)
    assert dispatch(OP, None, torch.ones(1)).item() == 2
    registry.register_schema(OP, "op(Tensor x) -> Tensor")
    assert registry.get(OP).schema.name == "op"
    assert dispatch(OP, None, torch.ones(1)).item() == 2


# ---- which kernels are there --------------------------------------------------------------------


@pytest.mark.parametrize("key", [CPU, DispatchKey.Meta], ids=str)
def test_the_installed_backends_have_kernels_for_add(key):
    assert callable(registry.get("aten::add").kernels[key])


def test_looking_an_op_up_loads_the_backends(site):
    site.run(
        """
from mindtorch_core.dispatch.keys import DispatchKey
assert not registry.entry("aten::add").kernels
assert {DispatchKey.CPU, DispatchKey.Meta} <= set(registry.get("aten::add").kernels)
"""
    )


# ---- keys that fall through ---------------------------------------------------------------------

THROUGH = (
    DispatchKey.CompositeImplicitAutograd,
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.PrivateUse1,
    DispatchKey.PrivateUse2,
    DispatchKey.PrivateUse3,
    DispatchKey.Autograd,
    DispatchKey.AutogradCPU,
    DispatchKey.Pipeline,
)


@pytest.mark.parametrize("key", THROUGH, ids=str)
def test_a_key_without_kernel_falls_through_to_the_cpu(key):
    registry.register_kernel(OP, CPU, echo)
    assert dispatch_with_keyset(OP, key | CPU, None, 7) == ((7,), {})


@pytest.mark.parametrize("key", THROUGH, ids=str)
def test_a_key_without_kernel_falls_through_for_an_op_of_the_core(key):
    a = torch.tensor([1.0, 2.0])
    assert dispatch_with_keyset("aten::add", key | CPU, None, a, a).tolist() == [2, 4]


@pytest.mark.parametrize("key", [k for k in THROUGH if "Composite" not in k.name], ids=str)
def test_a_key_with_a_kernel_does_not_fall_through(key):
    registry.register_kernel(OP, CPU, lambda *args: "cpu")
    registry.register_kernel(OP, key, lambda *args: "its own")
    assert dispatch_with_keyset(OP, key | CPU, None, 7) == "its own"


@pytest.mark.parametrize("key", THROUGH[:2], ids=str)
def test_a_composite_kernel_serves_every_backend_that_has_none(key):
    registry.register_kernel(OP, key, lambda *args: "composite")
    registry.register_kernel(OP, CPU, lambda *args: "cpu")
    assert dispatch_with_keyset(OP, CPU) == "cpu"
    for backend in (DispatchKey.NPU, DispatchKey.PrivateUse1, DispatchKey.Meta):
        assert dispatch_with_keyset(OP, backend) == "composite"


@pytest.mark.parametrize("key", THROUGH[:2], ids=str)
def test_a_backends_own_kernel_comes_before_a_composite_one(key):
    # As in PyTorch, where a composite kernel serves the backends that have none of their own. So
    # a composite key that is named in the key set decides nothing.
    registry.register_kernel(OP, key, lambda *args: "composite")
    registry.register_kernel(OP, CPU, lambda *args: "cpu")
    assert dispatch_with_keyset(OP, key | CPU) == "cpu"


def test_without_any_kernel_the_error_names_the_op_and_the_backend():
    registry.register_kernel(OP, CPU, echo)
    with pytest.raises(torch.NoKernelError, match=rf"'{OP}' .* from the 'CUDA' backend") as caught:
        dispatch_with_keyset(OP, DispatchKey.CUDA | CPU)
    assert (caught.value.op, caught.value.device) == (OP, "CUDA")


# ---- foreign memory -----------------------------------------------------------------------------


def refused(call):
    with pytest.raises(torch.NoKernelError, match=rf"'{OP}' .* from the 'toy' backend") as caught:
        call()
    assert (caught.value.op, caught.value.device) == (OP, "toy")


@pytest.fixture
def theirs(toy):
    """A tensor of a third party's device, for which the op has no kernel."""
    registry.register_kernel(OP, CPU, lambda *args: pytest.fail("ran on foreign memory"))
    return torch.tensor([1.0, 2.0], device="toy")


def test_a_device_without_the_kernel_is_an_error_that_names_device_and_op(theirs):
    refused(lambda: dispatch(OP, None, theirs))


def test_another_backends_kernel_never_runs_on_its_memory(theirs):
    ours = torch.ones(2)
    refused(lambda: dispatch(OP, None, theirs, ours))
    refused(lambda: dispatch(OP, None, ours, theirs))
    refused(lambda: dispatch(OP, None, ours, [ours, theirs]))
    refused(lambda: dispatch(OP, None, ours, other=theirs))


def test_nor_does_it_where_the_key_set_is_given(theirs):
    mask = theirs._keys | CPU
    refused(lambda: dispatch_with_keyset(OP, mask, None, theirs))
    refused(lambda: redispatch(OP, mask, theirs))


def test_the_device_is_named_also_where_no_other_backend_has_the_kernel(toy):
    registry.register_kernel(OP, DispatchKey.Meta, echo)
    t = torch.tensor([1.0], device="toy")
    refused(lambda: dispatch(OP, None, t, torch.ones(1)))


def test_a_number_on_the_cpu_does_not_make_the_cpu_kernel_run(theirs):
    refused(lambda: dispatch(OP, None, theirs, torch.tensor(1.0)))


def test_ops_of_the_core_name_the_device_too(toy):
    t = torch.tensor([1.0], device="toy")
    with pytest.raises(torch.NoKernelError, match=r"'aten::exp' .* from the 'toy' backend"):
        torch.exp(t)


def test_the_cpu_kernel_runs_where_only_the_key_names_the_device(toy):
    registry.register_kernel(OP, CPU, echo)
    key = next(k for k in PRIVATE_USE_KEYS if k & torch.empty(0, device="toy")._keys)
    ours = torch.ones(2)
    assert dispatch_with_keyset(OP, key | CPU, None, ours)[0][0] is ours


def test_schemas_of_ops_that_are_gone_are_forgotten_in_time():
    kind = type(parse_schema("gone(Tensor self) -> Tensor"))
    for i in range(5000):
        parse_schema(f"gone{i}(Tensor self) -> Tensor")
    kept = [s for s in gc.get_objects() if isinstance(s, kind) and s.name.startswith("gone")]
    assert 0 < len(kept) < 5000
