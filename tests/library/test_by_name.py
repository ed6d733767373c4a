"""``define``, ``impl``, ``register_kernel`` and ``get_kernel``: ops by name, as in PyTorch."""

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.keys import DispatchKey, DispatchKeySet
from mindtorch_core.dispatch.registry import registry
from scenarios import as_in_pytorch, refused

NS = "by_name_test"


def fragment(t):
    return t.library._scoped_library(NS, "FRAGMENT")


@as_in_pytorch
def test_define_and_impl(t):
    with fragment(t) as lib:
        t.library.define(f"{NS}::f", "(Tensor x, int n=2) -> Tensor", lib=lib)
        t.library.impl(f"{NS}::f", "cpu", lambda x, n=2: x * n, lib=lib)

        @t.library.impl(f"{NS}::f", ["meta"], lib=lib)
        def on_meta(x, n=2):
            return x.new_empty(7)

        op = getattr(t.ops, NS).f
        return op(t.ones(1), 3), op(t.ones(1, device="meta")).shape


@as_in_pytorch
def test_types_are_devices_or_keys(t):
    with fragment(t) as lib:
        seen = []
        for n, types in enumerate(("default", "CompositeImplicitAutograd", "CPU", ("cpu", "meta"))):
            t.library.define(f"{NS}::f{n}", "(Tensor x) -> Tensor", lib=lib)
            t.library.impl(f"{NS}::f{n}", types, lambda x: x + 1, lib=lib)
            seen.append(getattr(getattr(t.ops, NS), f"f{n}")(t.ones(1)))
        wrong = refused(t.library.impl, f"{NS}::f0", "cpuu", lambda x: x, lib=lib)
        return seen, isinstance(wrong, RuntimeError)


@as_in_pytorch
def test_tags(t):
    with fragment(t) as lib:
        t.library.define(f"{NS}::one", "(Tensor x) -> Tensor", lib=lib, tags=t.Tag.pointwise)
        both = (t.Tag.pointwise, t.Tag.core)
        t.library.define(f"{NS}::two", "(Tensor x) -> Tensor", lib=lib, tags=both)
        lib.define("three(Tensor x) -> Tensor", tags=t.Tag.reduction)
        ops = getattr(t.ops, NS)
        return [sorted(tag.name for tag in op.default.tags) for op in (ops.one, ops.two, ops.three)]


def test_tags_are_members_of_the_enumeration():
    with fragment(torch) as lib:
        for tags in ("pointwise", ["pointwise"]):
            with pytest.raises(TypeError, match=r"members of torch.Tag, got 'p"):
                lib.define("four(Tensor x) -> Tensor", tags=tags)


@as_in_pytorch
def test_what_is_refused(t):
    define, impl = t.library.define, t.library.impl
    return [
        refused(define, "noname", "(Tensor x) -> Tensor"),
        refused(define, f"{NS}::f", "f(Tensor x) -> Tensor"),
        refused(define, f"{NS}::f", "Tensor x"),
        refused(impl, "noname", "cpu", lambda x: x),
    ]


@as_in_pytorch
def test_decorators_of_a_library(t):
    with fragment(t) as lib:

        @t.library.define(lib, "everywhere(Tensor x) -> Tensor")
        def everywhere(x):
            return x + 1

        lib.define("on_cpu(Tensor x) -> Tensor")

        @t.library.impl(lib, "on_cpu", "CPU")
        def on_cpu(x):
            return x + 2

        ops = getattr(t.ops, NS)
        return ops.everywhere(t.ones(1)), ops.on_cpu(t.ones(1)), everywhere(1), on_cpu(1)


@as_in_pytorch
def test_register_kernel(t):
    with fragment(t) as lib:
        lib.define("f(Tensor x) -> Tensor")
        t.library.register_kernel(f"{NS}::f", None, lambda x: x + 1, lib=lib)
        before = getattr(t.ops, NS).f(t.ones(1))

        @t.library.register_kernel(getattr(t.ops, NS).f.default, "cpu", lib=lib)
        def _(x):
            return x + 2

        return (
            before,
            getattr(t.ops, NS).f(t.ones(1)),
            refused(t.library.register_kernel, 3, "cpu", lambda x: x),
        )


def test_what_is_registered_without_a_library_stays():
    with registry.scope():
        torch.library.define(f"{NS}::kept", "(Tensor x) -> Tensor")
        torch.library.impl(f"{NS}::kept", "cpu", lambda x: x + 1)
        assert torch.ops.by_name_test.kept(torch.ones(1)).item() == 2


# ---- kernels that are there ---------------------------------------------------------------------


@as_in_pytorch
def test_a_kernel_around_another(t):
    before = t.library.get_kernel("aten::neg", "CPU")
    x = t.tensor([1.0, -2.0], requires_grad=True)
    with t.library._scoped_library("aten", "IMPL") as lib:
        lib.impl("neg", lambda keys, x: before.call_boxed(keys, x) * 10, "CPU", with_keyset=True)
        y = t.neg(x)
        y.sum().backward()
    return y.detach(), x.grad, t.neg(x).detach()


@as_in_pytorch
def test_composite_kernels_count(t):
    with fragment(t) as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x + 1, "CompositeExplicitAutograd")
        kernel = t.library.get_kernel(f"{NS}::f", "CPU")
        lib.impl("f", lambda x: x + 2, "CPU")
        key = torch.DispatchKey.CPU
        keys = DispatchKeySet(key) if t is torch else t._C.DispatchKeySet(t._C.DispatchKey.CPU)
        newer = t.library.get_kernel(f"{NS}::f", "CPU")
        return [k.call_boxed(keys, t.ones(1)) for k in (kernel, newer)]


def test_the_handle_says_where_the_kernel_is_from():
    assert "mindtorch_cpu" in repr(torch.library.get_kernel("aten::add", "CPU"))


def test_there_may_be_none():
    with pytest.raises(RuntimeError, match="operator aten::nope does not exist"):
        torch.library.get_kernel("aten::nope", "CPU")
    with pytest.raises(RuntimeError, match="aten::mm has no kernel that was registered for CUDA"):
        torch.library.get_kernel("aten::mm", DispatchKey.CUDA)
