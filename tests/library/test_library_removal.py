"""Taking registrations back, fallbacks for all ops, and transactions of plugins."""

import gc
import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.dispatcher import dispatch_with_keyset
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from scenarios import as_in_pytorch, refused


def fragment(t, ns="library_test"):
    return t.library._scoped_library(ns, "FRAGMENT")


# ---- taking back --------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["abc", "cba", "bca", "bac", "acb", "cab"])
@as_in_pytorch
def test_kernels_are_removed_in_any_order(t, order):
    def new():
        return t.library._scoped_library("library_test", "IMPL")

    seen = []
    with fragment(t) as lib:
        lib.define("f(Tensor x) -> Tensor")
        open_ = {}
        for n, name in enumerate("abc", 1):
            open_[name] = new()
            open_[name].__enter__().impl("f", lambda x, n=n: x * n, "CPU")
        for name in order:
            seen.append(t.ops.library_test.f(t.ones(1)))
            open_[name].__exit__(None, None, None)
        missing = refused(t.ops.library_test.f, t.ones(1))
        return seen, missing


@as_in_pytorch
def test_a_destroyed_library_takes_everything_back(t):
    lib = t.library.Library("library_test", "FRAGMENT")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CPU")
    works = t.ops.library_test.f(t.ones(1))
    packet = t.ops.library_test
    lib._destroy()
    return works, refused(lambda: packet.f), refused(lib.define, "g(Tensor x) -> Tensor")


@as_in_pytorch
def test_a_library_that_nobody_keeps_takes_everything_back(t):
    lib = t.library.Library("library_test", "FRAGMENT")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CPU")
    assert t.ops.library_test.f(t.ones(1)).item() == 2
    del lib
    gc.collect()
    return refused(lambda: t.ops.library_test.f)


@as_in_pytorch
def test_an_op_may_be_defined_again_after_it_was_taken_back(t):
    seen = []
    for n in (1, 2):
        with fragment(t) as lib:
            lib.define("f(Tensor x) -> Tensor" if n == 1 else "f(Tensor x, int n=5) -> Tensor")
            lib.impl("f", (lambda x: x + 1) if n == 1 else (lambda x, n=5: x + n), "CPU")
            seen.append(t.ops.library_test.f(t.ones(1)))
            seen.append(len(t.ops.library_test.f.default._schema.arguments))
    return seen


@as_in_pytorch
def test_a_library_destroyed_twice(t):
    lib = t.library.Library("library_test", "FRAGMENT")
    lib.define("f(Tensor x) -> Tensor")
    lib._destroy()
    return lib._destroy()


@as_in_pytorch
def test_a_gradient_goes_with_the_library_that_brought_it(t):
    """And not with that of the op; then the op is what its kernel computes."""
    found = []
    with fragment(t) as own:
        own.define("f(Tensor x) -> Tensor")
        own.impl("f", lambda x: x * 3, "CompositeExplicitAutograd")
        f, x = t.ops.library_test.f, t.ones(2, requires_grad=True)
        with fragment(t) as other:
            t.library.register_autograd("library_test::f", lambda ctx, g: g * 5, lib=other)
            found += t.autograd.grad(f(x).sum(), x)
            found.append(type(f(x).grad_fn).__name__)
        found.append(type(f(x).grad_fn).__name__)
    return found


# ---- fallbacks ----------------------------------------------------------------------------------


def test_a_fallback_is_handed_the_op_first():
    seen = []

    def fallback(op, *args, **kwargs):
        seen.append((str(op), len(args), kwargs))
        return torch.zeros(1)

    with torch.library._scoped_library("_", "IMPL", "PrivateUse1") as lib:
        lib.fallback(fallback)
        dispatch_with_keyset("aten::mm", DispatchKey.PrivateUse1, None, 1, 2)
        dispatch_with_keyset("aten::add", DispatchKey.PrivateUse1, None, 1, 2, alpha=3)
        with pytest.raises(RuntimeError, match="multiple backend fallbacks"):
            lib.fallback(fallback)
    assert seen == [("aten.mm.default", 2, {}), ("aten.add.Tensor", 2, {"alpha": 3})]
    with pytest.raises(torch.NoKernelError):
        dispatch_with_keyset("aten::mm", DispatchKey.PrivateUse1, None, torch.ones(1), 2)


@as_in_pytorch
def test_what_fallback_refuses(t):
    with t.library._scoped_library("library_test", "IMPL", "PrivateUse1") as lib:
        return refused(lib.fallback, lambda op, *args: None)


# ---- transactions -------------------------------------------------------------------------------


def test_what_a_plugin_registers_through_a_library_is_rolled_back():
    kept = []

    def load():
        with registry.transaction("a plugin"):
            lib = torch.library.Library("library_test", "DEF")
            kept.append(lib)
            lib.define("f(Tensor x) -> Tensor")
            lib.impl("f", lambda x: x, "CPU")
            torch.library.Library("aten", "IMPL").impl("neg", lambda x: x, "PrivateUse1")
            torch.library.register_fake("library_test::f", lambda x: x)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        load()
    assert not hasattr(torch.ops.library_test, "f")
    assert not torch.ops.aten.neg.default.has_kernel_for_dispatch_key("PrivateUse1")
    torch.library.Library("library_test", "DEF")._destroy()
    kept[0]._destroy()


def test_warnings_are_errors_of_the_caller():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with fragment(torch) as lib:
            lib.define("f(Tensor x) -> Tensor")
            lib.impl("f", lambda x: x, "CPU")
            with pytest.raises(UserWarning):
                lib.impl("f", lambda x: x + 1, "CPU")
            assert torch.ops.library_test.f(torch.ones(1)).item() == 1
