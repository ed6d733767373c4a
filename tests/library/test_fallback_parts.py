"""What a fallback to the CPU takes apart: containers, devices, arguments that are written; and kernels by name."""

from collections import namedtuple
from contextlib import suppress

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.library.cpu_fallback import _copied, _device_of, _mapped, _written

Pair = namedtuple("Pair", "a b")
A, B, C = torch.zeros(1), torch.ones(2), torch.ones(3, device="meta")


@pytest.mark.parametrize(
    ("value", "mapped"),
    [(A, "A"), ([A, B], ["A", "B"]), ((A, 1), ("A", 1)), (Pair(A, [B]), Pair("A", ["B"])), ({"k": (B,)}, {"k": ("B",)}),
     (3, 3), (None, None), ("text", "text"), ((), ())],
    ids=["tensor", "list", "tuple", "named", "dict", "number", "None", "text", "empty"],
)  # fmt: skip
def test_each_tensor_in_containers_is_replaced(value, mapped):
    found = _mapped(lambda t: "A" if t is A else "B", value)
    assert found == mapped
    assert type(found) is type(mapped)


def test_a_device_becomes_the_cpu():
    assert _mapped(id, torch.device("meta")) == torch.device("cpu")
    assert _mapped(id, [torch.device("npu:1")]) == [torch.device("cpu")]


@pytest.mark.parametrize(
    ("args", "kwargs", "found"),
    [((A, C), {}, "meta"), ((A, B), {}, "cpu"), ((A, [B, C]), {}, "meta"), ((), {"x": C}, "meta"),
     ((), {"device": "meta"}, "meta"), ((), {}, "cpu"), ((), {"device": None}, "cpu"), ((C,), {"device": "cpu"}, "meta")],
    ids=range(8),
)  # fmt: skip
def test_the_device_is_that_of_the_first_tensor_that_is_not_on_the_cpu(args, kwargs, found):
    assert _device_of(registry.get("aten::add.Tensor"), args, kwargs).type == found


def test_one_tensor_given_twice_is_copied_once():
    copies = {}
    assert _copied(B, copies) is _copied(B, copies)
    assert _copied(A, copies) is not _copied(B, copies)


WRITES = "written(Tensor x, Tensor(a!) y, Tensor(b!)[] zs, *, Tensor(c!)? out=None, Tensor? other=None) -> ()"


@pytest.mark.parametrize(
    ("schema", "args", "kwargs", "written"),
    [
        (WRITES, (A, B, [A, B]), {}, [B, A, B]),
        (WRITES, (A, B, []), {"out": A, "other": B}, [B, A]),
        (WRITES, (A,), {"y": B, "zs": [A]}, [B, A]),
        (WRITES, (A, B, []), {"other": A}, [B]),
        ("written(Tensor x, Tensor y) -> Tensor", (A, B), {}, []),
        (None, (A, B), {}, []),
    ],
    ids=range(6),
)
def test_what_an_op_writes(schema, args, kwargs, written):
    with registry.scope():
        if schema is not None:
            registry.register_schema("fallback_parts::written", schema)
        registry.register_kernel("fallback_parts::written", "CPU", lambda *args, **kwargs: None)
        found = _written(registry.entry("fallback_parts::written"), args, kwargs)
    assert [id(t) for t in found] == [id(t) for t in written]


@pytest.mark.parametrize("way", ["called", "decorator"])
@pytest.mark.parametrize(
    ("types", "served"),
    [(None, ["cpu", "meta"]), ("cpu", ["cpu"]), (["cpu", "meta"], ["cpu", "meta"])],
)
def test_a_kernel_is_for_all_devices_where_none_is_named(types, served, way):
    def run(lib):
        own = lib.library.Library("fallback_parts", "DEF")
        try:
            own.define("kernel(Tensor x) -> Tensor")
            kernel = lambda x: lib.empty_like(x)  # noqa: E731
            if way == "called":
                lib.library.register_kernel("fallback_parts::kernel", types, kernel, lib=own)
            else:
                lib.library.register_kernel("fallback_parts::kernel", types, lib=own)(kernel)
            found = []
            for device in ("cpu", "meta"):
                with suppress(NotImplementedError):
                    made = lib.ops.fallback_parts.kernel(lib.ones(2, device=device))
                    found.append(made.device.type)
            return found
        finally:
            own._destroy()

    assert run(torch) == served
    assert run(pytest.importorskip("torch")) == served
