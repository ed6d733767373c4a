"""Ops and backends by the names that people give them."""

import re

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.inspection import explain, find_op, key_of


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("add", "aten::add"),
        ("aten::add", "aten::add"),
        ("add.Tensor", "aten::add"),
        ("add.Scalar", "aten::add"),
        ("aten::add.Tensor", "aten::add"),
        ("aten.add.Tensor", "aten::add"),
        ("aten.add", "aten::add"),
        ("torch.add", "aten::add"),
        ("torch.ops.aten.add.Tensor", "aten::add"),
        (" add ", "aten::add"),
        ("max", "aten::max"),
        ("max.default", "aten::max"),
        ("max.dim", "aten::max.dim"),
        ("aten.max.other", "aten::max.other"),
        ("add_", "aten::add_"),
        ("Tensor.add_", "aten::add_"),
        ("F.softmax", "aten::softmax"),
        ("torch.nn.functional.softmax", "aten::softmax"),
        ("torch.softmax", "aten::softmax"),
        ("linear", "aten::linear"),
    ],
)
def test_a_name_finds_its_op(name, found):
    assert find_op(name).name == found


def test_overloads_packets_and_functions_are_found():
    assert find_op(torch.ops.aten.max.dim).name == "aten::max.dim"
    assert find_op(torch.ops.aten.max).name == "aten::max"
    assert find_op(torch.max).name == "aten::max"
    assert find_op(torch.Tensor.add_).name == "aten::add_"
    assert find_op(torch.nn.functional.softmax).name == "aten::softmax"


@pytest.mark.parametrize(
    "op", ["max", torch.max, torch.ops.aten.max], ids=["name", "function", "packet"]
)
def test_arguments_choose_among_overloads(op):
    t = torch.ones(2, 2)
    assert explain(op, t).op == "aten::max"
    assert explain(op, t, 0).op == "aten::max.dim"
    assert explain(op, t, t).op == "aten::max.other"
    assert explain(op, t, 0).siblings == ("aten::max", "aten::max.other")


@pytest.mark.parametrize("args", [("nonsense",), (object(), 1, 2), (torch.ones(2), "nonsense")])
def test_where_no_overload_takes_the_arguments_it_is_the_first(args):
    assert find_op("max", args).name == find_op("max").name == "aten::max"
    assert find_op("exp", args).name == "aten::exp"


@pytest.mark.parametrize(
    ("name", "loads"),
    [("naming_test::op", 1), ("naming_test::nonesuch", 1), ("add", 0), ("F.elu", 0)],
)
def test_backends_are_loaded_for_what_is_unknown_without(name, loads, monkeypatch):
    loaded = []

    def define():
        loaded.append(True)
        registry.register_schema("naming_test::op", "op(Tensor x) -> Tensor")

    with registry.scope():
        monkeypatch.setattr(registry, "load_backends", define)
        if name.endswith("nonesuch"):
            with pytest.raises(RuntimeError, match="Could not find an operator named"):
                find_op(name)
        else:
            assert find_op(name).name in (name, f"aten::{name.removeprefix('F.')}")
        monkeypatch.undo()
    assert len(loaded) == loads


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("naming_test.op", "naming_test::op"), ("naming_test.op.two", "naming_test::op.two"),
        ("naming_test::op.two", "naming_test::op.two"), ("naming_test::op", "naming_test::op"),
        ("torch.ops.naming_test.op", "naming_test::op"),
        ("naming_test::op.default", "naming_test::op"),
    ],
)  # fmt: skip
def test_ops_of_other_namespaces_are_written_with_dots_too(name, found):
    lib = torch.library.Library("naming_test", "DEF")
    try:
        lib.define("op(Tensor x) -> Tensor")
        lib.define("op.two(Tensor x, int n) -> Tensor")
        assert find_op(name).name == found
        assert find_op("naming_test.op", (torch.ones(1), 2)).name == "naming_test::op.two"
        with pytest.raises(RuntimeError, match="naming_test::op has no overload named 'three'"):
            find_op("naming_test.op.three")
        with pytest.raises(RuntimeError, match=r"operator named naming_test::nonesuch\.two"):
            find_op("naming_test.nonesuch.two")
    finally:
        lib._destroy()


def test_an_overload_with_a_kernel_of_its_own_is_another_op():
    with registry.scope():
        assert find_op(torch.ops.aten.add.Scalar).name == "aten::add"
        registry.register_schema("aten::add.Scalar", "add.Scalar(Tensor self, Scalar b) -> Tensor")
        registry.register_kernel("aten::add.Scalar", "CPU", lambda self, b: self)
        assert find_op("add.Scalar").name == "aten::add.Scalar"
        assert find_op("add.Tensor").name == "aten::add"
    assert find_op("add.Scalar").name == "aten::add"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ad", "Could not find an operator named aten::ad. Did you mean aten::add"),
        ("torch.sofmax", "Did you mean aten::softmax"),
        ("aten::add.Foo", "aten::add has no overload named 'Foo': it has aten::add.Tensor, "),
        ("max.Foo", "it has aten::max.default, aten::max.dim, aten::max.other"),
        ("nowhere::op", "Could not find an operator named nowhere::op."),
        ("", "Could not find an operator named aten::."),
    ],
)
def test_an_unknown_op_suggests_the_nearest(name, text):
    with pytest.raises(RuntimeError, match=re.escape(text)):
        find_op(name)


@pytest.mark.parametrize("value", [3, None, len, torch.float32, object()])
def test_what_is_no_op_is_refused(value):
    with pytest.raises(TypeError, match="is no op: give its name"):
        find_op(value)


@pytest.mark.parametrize(
    ("backend", "key"),
    [
        ("cpu", "CPU"),
        ("cpu:0", "CPU"),
        (torch.device("meta"), "Meta"),
        ("CUDA", "CUDA"),
        (DispatchKey.SparseCPU, "SparseCPU"),
    ],
)
def test_a_backend_is_a_device_or_a_key(backend, key):
    assert key_of(backend) is DispatchKey[key]


@pytest.mark.parametrize(
    ("backend", "text"),
    [
        ("cpuu", "no device and no dispatch key is called 'cpuu'. Did you mean cpu"),
        ("Autograd", "Autograd is not the key of a backend"),
        ("Pipeline", "Pipeline is not the key of a backend"),
        (DispatchKey.AutogradCPU, "AutogradCPU is not the key of a backend"),
        ("zzz", "No installed backend provides it"),
        ("cuda", "no installed backend provides the device 'cuda'"),
        ("sparsecpuu", "Did you mean SparseCPU"),
        ("Quantizedcud", "Did you mean QuantizedCUDA"),
        ("mta", "Did you mean mtia or meta or Metal?"),
    ],
)
def test_what_is_no_backend_is_refused(backend, text):
    with pytest.raises(RuntimeError, match=re.escape(text)):
        key_of(backend)
