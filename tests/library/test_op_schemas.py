"""Ops whose schemas use the less common parts of the grammar: defaults, writes, nested and odd types."""

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from scenarios import as_in_pytorch, refused

NS = "op_schemas_test"


def fragment(t):
    return t.library._scoped_library(NS, "FRAGMENT")


def ops(t):
    return getattr(t.ops, NS)


DEFAULTS = (
    "int[2] k=1, Device? d=None, ScalarType s=float, str w='a', bool b=True, Scalar c=2, "
    "float[] g=[1.5, 2], *, Device e='cpu', int[] h=[3], ScalarType? z=None"
)


@as_in_pytorch
def test_arguments_of_every_kind_in_place_of_defaults(t):
    got = []

    def kernel(x, *args, **kwargs):
        got.append(([str(a) for a in args], {k: str(v) for k, v in kwargs.items()}))
        return x.clone()

    with fragment(t) as lib:
        lib.define(f"f(Tensor x, {DEFAULTS}) -> Tensor")
        lib.impl("f", kernel, "CPU")
        args = ([4, 5], "cpu", t.int64, "b", False, 3, [2.5])
        ops(t).f(t.ones(1), *args, e="meta", h=(1,), z=t.float16)
        return got


def test_defaults_are_converted_like_arguments():
    got = []

    def kernel(x, *args, **kwargs):
        got.extend([*args, *kwargs.values()])
        return x.clone()

    with fragment(torch) as lib:
        lib.define(f"f(Tensor x, {DEFAULTS}) -> Tensor")
        lib.impl("f", kernel, "CPU")
        ops(torch).f(torch.ones(1))
    assert got[:7] == [[1, 1], None, torch.float32, "a", True, 2, [1.5, 2.0]]
    assert got[7:] == [torch.device("cpu"), [3], None]


@as_in_pytorch
def test_odd_types(t):
    with fragment(t) as lib:
        lib.define("nested(Tensor[][] xs, int[][] ys) -> int")
        lib.define("mapping(Dict(str, int) x, Any y) -> int")
        lib.define("pair((Tensor, int) x) -> Tensor")
        lib.define("imaginary(complex x) -> complex")
        lib.define("options(Tensor x, *, Generator? g=None, MemoryFormat? m=None) -> Tensor")
        everywhere = "CompositeExplicitAutograd"
        lib.impl("nested", lambda xs, ys: len(xs[0]) + len(ys), everywhere)
        lib.impl("mapping", lambda x, y: x["a"], everywhere)
        lib.impl("pair", lambda x: x[0] + x[1], everywhere)
        lib.impl("imaginary", lambda x: x * 2, everywhere)
        lib.impl("options", lambda x, g=None, m=None: x + (g is not None), everywhere)
        x, o = t.ones(1), ops(t)
        return [
            o.nested([[x, x]], [[1, 2], [3]]),
            o.mapping({"a": 3}, "anything"),
            o.pair((x, 2)),
            o.imaginary(1),
            o.imaginary(1j),
            o.options(x, g=t.Generator(), m=t.contiguous_format),
        ]


@as_in_pytorch
def test_results_written_to_out(t):
    with fragment(t) as lib:
        lib.define("plus_one(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
        lib.impl("plus_one", lambda x, *, out: out.copy_(x + 1), "CPU")
        out = t.zeros(1)
        made = ops(t).plus_one(t.ones(1), out=out)
        return made is out, out, refused(ops(t).plus_one, t.ones(1))


@as_in_pytorch
def test_an_in_place_op(t):
    with fragment(t) as lib:
        lib.define("increment_(Tensor(a!) self, Tensor by) -> Tensor(a!)")
        lib.impl("increment_", lambda self, by: self.add_(by), "CPU")
        x = t.ones(1)
        made = ops(t).increment_(x, t.ones(1))
        return made is x, x, x._version > 0


@as_in_pytorch
def test_a_view(t):
    with fragment(t) as lib:
        lib.define("tail(Tensor(a) x) -> Tensor(a)")
        lib.impl("tail", lambda x: x[1:], "CPU")
        x = t.ones(3)
        y = ops(t).tail(x)
        y.add_(1)
        return x, y, ops(t).tail.default.is_view


@as_in_pytorch
def test_names_that_python_functions_give_a_meaning(t):
    with fragment(t) as lib:
        lib.define("minus(Tensor self, Tensor input) -> Tensor")
        lib.impl("minus", lambda self, input: self - input, "CPU")
        x, y = t.ones(1), t.ones(1) * 3
        minus = ops(t).minus
        return minus(x, y), minus(self=x, input=y), minus(input=x, self=y)


@as_in_pytorch
def test_dots_take_nothing(t):
    with fragment(t) as lib:
        lib.define("anything(...) -> ...")
        lib.impl("anything", lambda *args: args[0], "CPU")
        return refused(ops(t).anything, t.ones(1), 2)


def test_a_kernel_without_schema_is_no_op_yet():
    with torch.library._scoped_library(NS, "IMPL") as lib:
        lib.impl("dangling", lambda x: x, "CPU")
        with pytest.raises(AttributeError, match="it has kernels but no schema; define it"):
            ops(torch).dangling
        with pytest.raises(RuntimeError, match="it has kernels and no schema; define it first"):
            torch.library.register_fake(f"{NS}::dangling", lambda x: x)


def test_a_key_that_does_not_exist_suggests_others():
    with fragment(torch) as lib:
        lib.define("f(Tensor x) -> Tensor")
        with pytest.raises(
            RuntimeError, match=r"could not parse dispatch key: CPUU.*Did you mean CPU"
        ):
            lib.impl("f", lambda x: x, "CPUU")


def test_a_schema_that_is_needed_and_missing_says_what_to_do():
    with torch.library._scoped_library(NS, "IMPL") as lib:
        lib.impl("dangling", lambda x: x, "CPU")
        entry = registry.get(f"{NS}::dangling")
        assert entry.schema is None
        with pytest.raises(
            RuntimeError, match=f"schema for {NS}::dangling, .* define it with torch"
        ):
            entry.needed_schema
