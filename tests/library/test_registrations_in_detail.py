"""Registrations of ops, kernels and fallbacks: what is refused, what stays as it was, what objects say."""

import copy
import functools
import operator
import pickle
import types

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.dispatcher import dispatch, dispatch_with_keyset
from mindtorch_core.dispatch.functions import function
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.dispatch.schema import parse_schema, split_name
from mindtorch_core.inspection import coverage, explain


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: registry.register_kernel(7, "CPU", abs),
            r"^the name of an op is a str, not 7: pass \(name, key, fn\)$",
        ),
        (
            lambda: registry.register_kernel("detail::f", "CPU", 5),
            r"^Input function is required to be a callable but found type <class 'int'> \(as the kernel",
        ),
        (
            lambda: registry.register_fallback("PrivateUse3", 5),
            r"^Input function is required to be a callable but found type <class 'int'>$",
        ),
        (
            lambda: torch.library.Library("_", "IMPL").fallback(5, "PrivateUse3"),
            r"^Input function is required to be a callable but found type <class 'int'>$",
        ),
    ],
)
def test_what_cannot_be_called_is_refused(call, words):
    before = registry.generation
    with pytest.raises(TypeError, match=words):
        call()
    assert registry.generation == before
    assert registry.find("detail::f") is None


def test_keys_that_there_are_not():
    with pytest.raises(
        RuntimeError, match=r"dispatch key: 3\. The value of a key is a power of two, suc"
    ):
        registry.register_kernel("detail::f", 3, abs)
    with pytest.raises(RuntimeError, match=r"dispatch key: PrivteUse1\. Did you mean PrivateUse1"):
        registry.register_kernel("detail::f", "PrivteUse1", abs)


def test_a_second_schema_of_a_defined_op_changes_nothing():
    schema = registry.entry("aten::add").schema
    made = registry.register_schema("aten::add", "add(Tensor self, Tensor other) -> Tensor")
    assert registry.entry("aten::add").schema is schema
    made.remove()
    assert registry.entry("aten::add").schema is schema
    assert torch.add(torch.ones(1), 1, alpha=3).item() == 4


def test_a_schema_that_a_kernel_cannot_take_leaves_the_kernel():
    registry.register_kernel("detail::g", "CPU", lambda x: x + 1)
    with pytest.raises(
        RuntimeError, match="it takes 1 positional arguments, and the call passes 2"
    ):
        registry.register_schema("detail::g", "g(Tensor x, Tensor y) -> Tensor")
    assert not registry.entry("detail::g").has_schema
    assert dispatch("detail::g", None, torch.ones(1)).item() == 2
    registry.register_schema("detail::g", "g(Tensor x) -> Tensor")
    assert dispatch("detail::g", None, torch.ones(1)).item() == 2


class Methods:
    def two(self, x, y):
        return x + y


TWO = "h(Tensor x, Tensor y) -> Tensor"


@pytest.mark.parametrize(
    "kernel",
    [
        Methods().two,
        operator.add,
        functools.partial(lambda a, x, y: x + y, 0),
        types.MethodType(max, 0),
    ],
)
def test_kernels_of_all_kinds_take_what_the_schema_has(kernel):
    registry.register_schema("detail::h", TWO)
    registry.register_kernel("detail::h", "CPU", kernel)
    if not isinstance(kernel, types.MethodType) or kernel.__func__ is not max:
        assert dispatch("detail::h", None, torch.ones(1), torch.ones(1)).item() == 2


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (Methods().two, "it takes 3 positional arguments, and the call passes 4"),
        (functools.partial(lambda x, y: x, 0), "too many positional arguments"),
        (
            lambda x, y, z, *, more: x,
            "it requires the keyword argument 'more', which the schema does no",
        ),
        (lambda x, y, z, w: x, "it requires 'w', which the schema does not have"),
    ],
)
def test_kernels_that_do_not_fit_say_why(kernel, words):
    registry.register_schema("detail::k", "k(Tensor x, Tensor y, Tensor z) -> Tensor")
    with pytest.raises(RuntimeError, match=words):
        registry.register_kernel("detail::k", "CPU", kernel)
    assert registry.entry("detail::k").kernels == {}


def test_a_fallback_of_a_key_gets_the_op():
    seen = []

    def fallback(keyset, op, *args):
        seen.append((op, DispatchKey.PrivateUse3 in keyset, args))
        return args[0]

    lib = torch.library.Library("_", "IMPL")
    lib.fallback(fallback, "PrivateUse3", with_keyset=True)
    x = torch.ones(1)
    assert dispatch_with_keyset("aten::sin", DispatchKey.PrivateUse3, None, x) is x
    assert seen == [(torch.ops.aten.sin.default, True, (x,))]
    rows = {row.key: row for row in explain("sin", keys="PrivateUse3").rows}
    assert rows[DispatchKey.PrivateUse3].kernel.name.endswith("fallback")
    assert __name__.rpartition(".")[2] in rows[DispatchKey.PrivateUse3].kernel.source


def test_a_key_set_without_a_backend_takes_that_of_the_device():
    x = torch.ones(2)
    found = dispatch_with_keyset("aten::add", 0, "cpu", x, x)
    assert found.tolist() == [2, 2]
    shown = dispatch_with_keyset("aten::add", 0, "meta", x.to("meta"), x.to("meta"))
    assert shown.device.type == "meta"
    with pytest.raises(RuntimeError):
        dispatch_with_keyset("aten::add", 0, None, x, x)


@pytest.mark.parametrize("base", ["add", "aten::add"])
def test_a_name_without_a_namespace_is_of_aten(base):
    assert split_name(f"{base}.Tensor") == ("aten", "add", "Tensor")
    assert registry.entry(base) is registry.entry("aten::add")


def test_a_function_that_there_is_not():
    with pytest.raises(AttributeError, match=r"^there is no function 'nope' in 'torch'$"):
        function("nope")
    assert function("sin")(torch.zeros(1)).item() == 0


# ---- what objects say ---------------------------------------------------------------------------


def test_entries_say_what_they_have():
    registry.register_kernel("detail::m", "CPU", abs)
    registry.register_kernel("detail::m", "Meta", abs)
    assert repr(registry.entry("detail::m")) == "<OpEntry detail::m kernels=['CPU', 'Meta']>"


def test_parts_of_a_schema_compare_by_what_they_say():
    text = "n(Tensor(a!) x, int[2] n=[1, 2], *, Tensor? y=None) -> Tensor(a!)"
    one, other = parse_schema(text), parse_schema(text.replace("int[2]", "int[3]"))
    assert len({*one.arguments, *parse_schema(text).arguments}) == 3
    assert [a == b for a, b in zip(one.arguments, other.arguments, strict=True)] == [
        True,
        False,
        True,
    ]
    alias = one.arguments[0].alias
    assert alias == parse_schema(text).arguments[0].alias
    assert hash(alias) == hash(parse_schema(text).arguments[0].alias)
    assert repr(alias) == "<AliasInfo (a!)>"
    for part in (one.arguments[0], alias):
        assert part.__eq__(3) is NotImplemented
        assert part != 3
    # As keyword-only it is another one, whatever it says.
    positional = parse_schema("n(Tensor? y=None) -> Tensor").arguments[0]
    assert str(positional) == str(one.arguments[2])
    assert positional != one.arguments[2]


@pytest.mark.parametrize(
    "kind",
    [
        "Tensor?[]", "Dict(str, Tensor)", "(int, Tensor)", "int[3]?", "t", "Union(int, Tensor)",
        "__torch__.torch.classes.ns.Held", "Future(Tensor)", "SymInt[]",
    ],
)  # fmt: skip
def test_types_are_copied_and_pickled_whole(kind):
    schema = parse_schema(f"p({kind} x) -> Tensor")
    for again in (pickle.loads(pickle.dumps(schema)), copy.deepcopy(schema)):
        assert str(again) == str(schema)
        assert again.arguments == schema.arguments
    found = schema.arguments[0].real_type
    assert pickle.loads(pickle.dumps(found)) is found
    assert repr(found) == f"<SchemaType {found.text}>"


def test_a_description_of_a_result_has_pytorchs_names():
    from mindtorch_core.backend import TensorSpec

    spec = TensorSpec((2, 3), torch.float32, strides=(3, 1))
    assert spec.stride == spec.strides == (3, 1)
    assert repr(spec) == "TensorSpec([2, 3], torch.float32, strides=(3, 1))"


# ---- rules, checks and tables -------------------------------------------------------------------


def test_a_default_that_is_given_is_taken_whatever_its_type():
    lib = torch.library.Library("detail", "FRAGMENT")
    lib.define("q(Tensor x, int n=7, Tensor? y=None) -> Tensor")
    lib.impl("q", lambda x, n=7, y=None: x + n, "CPU")
    call = torch.ops.detail.q
    assert [call(torch.ones(1), *rest).item() for rest in ((), (7,), (7, None))] == [8, 8, 8]
    with pytest.raises(
        RuntimeError, match="Expected a value of type 'int' for argument 'n' but instead f"
    ):
        call(torch.ones(1), "7", None)
    with pytest.raises(RuntimeError, match=r"Expected a value of type 'Tensor\?' for argument '"):
        call(torch.ones(1), 7, 7)


@torch.library.custom_op("detail::fewer", mutates_args=())
def fewer(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Two results."""
    return x.clone(), x.clone()


def test_an_op_object_is_explained_and_its_rule_compared():
    assert explain(fewer, torch.ones(1)).op == "detail::fewer"

    @torch.library.custom_op("detail::counted", mutates_args=())
    def counted(x: torch.Tensor) -> list[torch.Tensor]:
        return [x.clone(), x.clone()]

    counted.register_fake(lambda x: [torch.empty_like(x)])
    with pytest.raises(Exception, match="the fake run gave 1 tensors, the real one 2"):
        torch.library.opcheck(counted, (torch.ones(1),), test_utils="test_faketensor")


def test_an_op_that_takes_neither_tensors_nor_a_device():
    lib = torch.library.Library("detail", "FRAGMENT")
    lib.define("plain(int n) -> int")
    lib.impl("plain", lambda n: n + 1, "CompositeExplicitAutograd")
    shown = explain("detail::plain")
    assert DispatchKey.CPU not in {row.key for row in shown.rows}
    assert torch.ops.detail.plain(3) == 4


def test_an_op_without_a_schema_is_in_no_table():
    registry.register_kernel("detail::bare", "CPU", abs)
    assert "detail::bare" not in {each.op for each in coverage("cpu").ops}
    assert "aten::add" in {each.op for each in coverage("cpu").ops}
