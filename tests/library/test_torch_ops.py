"""``torch.ops``: namespaces, packets and overloads, and what they tell about themselves."""

import copy
import pickle

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from scenarios import as_in_pytorch, needs_pytorch, pt, refused

NS = "torch_ops_test"


def shared_overloads():
    """Every overload that both libraries have, by name."""
    registry.load_backends()
    found = {}
    if pt is None:
        return found
    for op in dir(torch.ops.aten):
        theirs = getattr(pt.ops.aten, op, None)
        for name in getattr(torch.ops.aten, op).overloads() if theirs is not None else ():
            if name in theirs.overloads():
                found[f"{op}.{name}"] = (
                    getattr(getattr(torch.ops.aten, op), name),
                    getattr(theirs, name),
                )
    return found


SHARED = shared_overloads()


@needs_pytorch
def test_there_are_many_of_them():
    assert len(SHARED) > 300


@needs_pytorch
@pytest.mark.parametrize(
    "attribute", ["namespace", "_opname", "_overloadname", "__name__", "is_view"]
)
def test_attributes(attribute):
    for ours, theirs in SHARED.values():
        assert getattr(ours, attribute) == getattr(theirs, attribute), ours


@needs_pytorch
def test_texts():
    for ours, theirs in SHARED.values():
        assert (str(ours), repr(ours), ours.name()) == (str(theirs), repr(theirs), theirs.name())
        packets = ours.overloadpacket, theirs.overloadpacket
        assert repr(packets[0]) == repr(packets[1])
        assert len({f"{p}{p.__name__}{p._qualified_op_name}" for p in packets}) == 1


# ---- tags ---------------------------------------------------------------------------------------

# PyTorch's own choice of basic ops, and what it says of ops it generates, is not ours.
NOT_OURS = {"core", "generated", "maybe_aliasing_or_mutating"}
# Overloads that PyTorch tags otherwise: what it has too little, and what we do.
PYTORCH_FORGETS = {"pointwise": ["abs_", *(f"{c}_" for c in ("eq", "ne", "lt", "le", "gt", "ge")),
                                 "floor_divide", "floor_divide_", "rsub", "_prelu_kernel",
                                 "complex", "copysign_", "gcd_", "gelu_", "hardswish",
                                 "hardswish_", "heaviside_", "lcm_", "log_sigmoid", "masked_fill",
                                 "masked_fill_", "mish_",
                                 *(f"{name}_backward" for name in (
                                     "elu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
                                     "leaky_relu", "log_sigmoid", "mish", "softplus", "softshrink")),
                                 "relu6_", "special_ndtr", "threshold_", "xlogy_"],
                   "reduction": ["nanmean"]}  # fmt: skip
WE_LACK = {
    "equal.default": {"pointwise"},
    # Neither draws: dropout is refused.
    "_scaled_dot_product_flash_attention_for_cpu.default": {"nondeterministic_seeded"},
    **{  # their dropout draws by an op of its own
        f"{name}.{overload}": {"nondeterministic_seeded"}
        for name in ("gru", "lstm", "rnn_relu", "rnn_tanh")
        for overload in ("input", "data")
    },
    "true_divide.Tensor": {"pointwise"},
    "index.Tensor": {"dynamic_output_shape"},
    "masked_select.default": {"dynamic_output_shape"},
    "resize_.default": {"inplace_view"},
    "resize_as_.default": {"inplace_view"},
}


@needs_pytorch
def test_tags():
    differ = {}
    for name, (ours, theirs) in SHARED.items():
        have = {t.name for t in ours.tags}
        wanted = {t.name for t in theirs.tags} - NOT_OURS
        extra = {
            t for t in have - wanted if name.partition(".")[0] not in PYTORCH_FORGETS.get(t, ())
        }
        if extra or wanted - have != WE_LACK.get(name, set()):
            differ[name] = (wanted - have, extra)
    assert differ == {}


@needs_pytorch
def test_the_names_of_tags_are_pytorchs():
    assert {t.name for t in torch.Tag} <= set(pt.Tag.__members__)


# ---- schemas ------------------------------------------------------------------------------------

# Options of factories and copies: PyTorch has more of them.
OPTIONS = {"layout", "device", "pin_memory", "memory_format", "requires_grad", "generator", "dtype"}
# What PyTorch splits into overloads is one entry here, whose schema has the arguments of all.
ONE_ENTRY = {
    *["all.default", "all.dim", "any.default", "any.dim", "mean.default", "mean.dim", "sum.default"],
    *["sum.dim_IntList", "prod.default", "prod.dim_int", "eye.default", "eye.m", "arange.start"],
    *(f"{d}.{o}" for d in ("div", "div_", "divide", "divide_")
      for o in ("Tensor", "Scalar", "Tensor_mode", "Scalar_mode")),
    *(f"{o}.Scalar" for o in ("add", "add_", "sub", "sub_", "rsub", "subtract", "subtract_")),
    # alpha by keyword
}  # fmt: skip


def signature(schema):
    return [
        (a.name, a.kwarg_only, str(a.default_value) if a.has_default_value() else "")
        for a in schema.arguments
        if a.name not in OPTIONS
    ]


@needs_pytorch
def test_schemas_have_pytorchs_arguments():
    differ = [n for n, (o, t) in SHARED.items() if signature(o._schema) != signature(t._schema)]
    assert sorted(differ) == sorted(ONE_ENTRY)


@needs_pytorch
def test_schemas_say_what_is_written_and_what_is_aliased():
    for ours, theirs in SHARED.values():
        assert ours._schema.is_mutable == theirs._schema.is_mutable, ours
        for found, expected in zip(ours._schema.returns, theirs._schema.returns, strict=True):
            assert (found.alias_info is None) == (expected.alias_info is None), ours


# ---- packets and overloads ----------------------------------------------------------------------


@as_in_pytorch
def test_identity(t):
    add = t.ops.aten.add
    return [
        t.ops.aten is t.ops.aten,
        t.ops.aten.add is add,
        add.Tensor is t.ops.aten.add.Tensor,
        add.Tensor is not add.Scalar,
        add.Tensor.overloadpacket is add,
        copy.deepcopy(add.Tensor) is add.Tensor,
        add.Tensor.__qualname__,
        len({add.Tensor, add.Tensor, add.Scalar}),
        add.Tensor == t.ops.aten.add.Tensor,
        callable(add),
    ]


def test_a_copy_is_the_op_itself():
    add = torch.ops.aten.add
    assert copy.copy(add.Tensor) is add.Tensor
    assert copy.copy(add) is copy.deepcopy(add) is add


def test_overloads_are_not_pickled():
    with pytest.raises(TypeError, match=r"pickle its name, 'aten::add.Tensor', instead"):
        pickle.dumps(torch.ops.aten.add.Tensor)
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(torch.ops.aten.add)


@as_in_pytorch
def test_unknown_names(t):
    return [
        refused(lambda: t.ops.aten.ad),
        refused(lambda: t.ops.nowhere.op),
        refused(lambda: t.ops.aten.add.Bogus),
        hasattr(t.ops, "nowhere"),
        hasattr(t.ops.aten, "bogus"),
        hasattr(t.ops.aten.add, "Bogus"),
    ]


def test_unknown_names_suggest_near_ones():
    with pytest.raises(
        AttributeError, match=r"'_OpNamespace' 'aten' .* 'relux'. Did you mean relu"
    ):
        torch.ops.aten.relux
    with pytest.raises(AttributeError, match="no overload name 'Tenso'; it has Tensor, Scalar"):
        torch.ops.aten.add.Tenso


@as_in_pytorch
def test_overloads_of_a_packet(t):
    with t.library._scoped_library(NS, "FRAGMENT") as lib:
        for overload in ("", ".Tensor", ".out"):
            lib.define(f"several{overload}(Tensor x) -> Tensor")
        packet = getattr(t.ops, NS).several
        return [
            packet.overloads(),
            [str(o) for o in packet.op_overloads()],
            packet.default.name(),
            packet.out.name(),
            set(packet.overloads()) <= set(dir(packet)),
        ]


@as_in_pytorch
def test_an_overload_that_comes_later_is_found(t):
    with t.library._scoped_library(NS, "FRAGMENT") as lib:
        lib.define("later.a(Tensor x) -> Tensor")
        lib.impl("later.a", lambda x: x + 1, "CPU")
        packet = getattr(t.ops, NS).later
        first = packet(t.ones(1))
        with t.library._scoped_library(NS, "FRAGMENT") as more:
            more.define("later.b(Tensor x, int y) -> Tensor")
            more.impl("later.b", lambda x, y: x + y, "CPU")
            packet = getattr(t.ops, NS).later
            both = packet.overloads(), packet(t.ones(1)), packet(t.ones(1), 5)
        return first, both, getattr(t.ops, NS).later.overloads()


def test_an_overload_that_was_taken_back_says_so_and_comes_back():
    def define(by):
        lib = torch.library.Library(NS, "FRAGMENT")
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x * by, "CPU")
        return lib

    lib = define(2)
    packet = getattr(torch.ops, NS).f
    overload = packet.default
    assert overload(torch.ones(1)).item() == 2
    lib._destroy()
    for call in (packet, overload):
        with pytest.raises(AttributeError, match="was taken back"):
            call(torch.ones(1))
    with define(3):
        assert getattr(torch.ops, NS).f.default is overload
        assert [c(torch.ones(1)).item() for c in (packet, overload)] == [3, 3]
        assert overload.has_kernel_for_dispatch_key("CPU")


def test_namespaces_list_their_ops():
    assert {"aten"} <= set(torch.ops)
    assert {"add", "relu", "matmul"} <= set(dir(torch.ops.aten))
    assert repr(torch.ops.aten) == "<torch.ops.aten>"


# ---- kernels ------------------------------------------------------------------------------------


def test_which_kernels_an_overload_has():
    add = torch.ops.aten.add.Tensor
    has = add.has_kernel_for_dispatch_key
    assert (has("CPU"), has(DispatchKey.Meta), has("PrivateUse1")) == (True, True, False)
    assert add.has_kernel_for_any_dispatch_key(DispatchKey.CPU | DispatchKey.CUDA)
    assert not add.has_kernel_for_any_dispatch_key(DispatchKey.CUDA | DispatchKey.XLA)
    with pytest.raises(RuntimeError, match="could not parse dispatch key: Bogus"):
        has("Bogus")


@as_in_pytorch
def test_decompose(t):
    x = t.ones(2, 3)
    return [
        t.ops.aten.square.default.decompose(x),
        t.ops.aten.add.Tensor.decompose(x, x),
        t.ops.aten.flatten.using_ints.decompose(x),
    ]


@as_in_pytorch
def test_decompose_an_op_of_a_third_party(t):
    with t.library._scoped_library(NS, "FRAGMENT") as lib:
        lib.define("parts(Tensor x) -> Tensor")
        lib.impl("parts", lambda x: x * 3, "CompositeImplicitAutograd")
        return getattr(t.ops, NS).parts.default.decompose(t.ones(1))


def test_py_impl_registers_a_kernel():
    with registry.scope(), torch.library._scoped_library(NS, "FRAGMENT") as lib:
        lib.define("f(Tensor x) -> Tensor")
        op = getattr(torch.ops, NS).f.default

        @op.py_impl("CPU")
        def kernel(x):
            return x * 5

        assert op(torch.ones(1)).item() == 5
        assert kernel(torch.ones(1)).item() == 5


@as_in_pytorch
def test_redispatch_starts_from_the_given_keys(t):
    def key(name):
        return pt._C._parse_dispatch_key(name) if t is pt else DispatchKey[name]

    def keys(name):
        return pt._C.DispatchKeySet(key(name)) if t is pt else torch.DispatchKeySet(key(name))

    with t.library._scoped_library(NS, "FRAGMENT") as lib:
        lib.define("where_am_i(Tensor x) -> str")
        for name in ("CPU", "AutogradCPU", "Meta"):
            lib.impl("where_am_i", lambda x, name=name: name, name)
        op, x = getattr(t.ops, NS).where_am_i.default, t.ones(1, requires_grad=True)
        return [op(x), *(op.redispatch(keys(n), x) for n in ("CPU", "AutogradCPU", "Meta"))]


@as_in_pytorch
def test_ops_are_a_module(t):
    own = {}
    exec(f"from {t.__name__}.ops import aten\nimport {t.__name__}.ops", own)
    return own["aten"] is t.ops.aten, isinstance(t.ops, type(t))
