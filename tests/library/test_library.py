"""``torch.library.Library``: defining ops, registering kernels, and taking them back, as in PyTorch."""

from inspect import currentframe

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.keys import DispatchKey, DispatchKeySet
from scenarios import as_in_pytorch, pt, refused

KEYS = ("AutocastCPU", "AutogradCPU", "ADInplaceOrView", "BackendSelect", "CPU")


def parse(t, name):
    """A dispatch key by name."""
    return pt._C._parse_dispatch_key(name) if t is pt else DispatchKey[name]


def after(t, name):
    """The keys below one."""
    if t is pt:
        return pt._C._dispatch_keyset_full_after(parse(t, name))
    return DispatchKeySet.full_after(DispatchKey[name])


def names_in(t, keyset):
    return [k for k in KEYS if keyset.has(parse(t, k))]


def fragment(t, ns="library_test"):
    return t.library._scoped_library(ns, "FRAGMENT")


# ---- what a kernel sees -------------------------------------------------------------------------


def layered(t, lib):
    """An op with a kernel at every layer, each of which goes on to all that is below it."""
    seen = []
    lib.define("layers(Tensor x) -> Tensor")

    def at(key):
        below = "AutogradOther" if key == "Autograd" else key

        def kernel(keyset, x):
            seen.append((key, names_in(t, keyset)))
            if key == "CPU":
                return x.clone()
            return t.ops.library_test.layers.default.redispatch(keyset & after(t, below), x)

        return kernel

    for key in ("AutocastCPU", "Autograd", "ADInplaceOrView", "BackendSelect", "CPU"):
        lib.impl("layers", at(key), key, with_keyset=True)
    return seen


SITUATIONS = {
    "plain": lambda t: t.enable_grad(),
    "autocast": lambda t: t.autocast("cpu"),
}


@pytest.mark.parametrize("situation", SITUATIONS)
@as_in_pytorch
def test_kernels_run_layer_by_layer(t, situation):
    with fragment(t) as lib:
        seen = layered(t, lib)
        x = t.ones(2, requires_grad=True)
        with SITUATIONS[situation](t):
            made = t.ops.library_test.layers(x)
        return seen, made


@as_in_pytorch
def test_kernels_run_layer_by_layer_in_inference_mode(t):
    with fragment(t) as lib:
        seen = layered(t, lib)
        normal = t.ones(2, requires_grad=True)
        with t.inference_mode():
            t.ops.library_test.layers(t.ones(2))
            seen.append("normal tensor")
            t.ops.library_test.layers(normal)
        return seen


@as_in_pytorch
def test_a_kernel_may_call_its_op_again_with_other_arguments(t):
    with fragment(t) as lib:
        lib.define("down(Tensor x, int n) -> Tensor")
        lib.impl("down", lambda x, n: x if n == 0 else t.ops.library_test.down(x + 1, n - 1), "CPU")
        return t.ops.library_test.down(t.zeros(2), 3)


# ---- fallthrough --------------------------------------------------------------------------------


@as_in_pytorch
def test_a_fallthrough_is_skipped_for_its_op_only(t):
    through = t.library.fallthrough_kernel
    with fragment(t) as lib:
        for name in ("one", "two"):
            lib.define(f"{name}(Tensor x) -> Tensor")
            lib.impl(name, lambda x: x + 1, "CPU")
        lib.impl("one", through, "AutogradCPU")
        lib.impl("two", lambda x: x + 2, "AutogradCPU")
        x = t.ones(2, requires_grad=True)
        return t.ops.library_test.one(x).detach(), t.ops.library_test.two(x).detach()


@as_in_pytorch
def test_below_a_fallthrough_at_autograd_calls_are_recorded(t):
    with fragment(t) as lib:
        lib.define("square(Tensor x) -> Tensor")
        lib.impl("square", lambda x: x * x, "CPU")
        lib.impl("square", t.library.fallthrough_kernel, "Autograd")
        x = t.tensor([3.0], requires_grad=True)
        t.ops.library_test.square(x).backward()
        return x.grad


@as_in_pytorch
def test_a_fallthrough_at_a_backend_leads_to_no_other(t):
    with fragment(t) as lib:
        lib.define("f(Tensor x, Tensor y) -> Tensor")
        lib.impl("f", lambda x, y: x.clone(), "CPU")
        lib.impl("f", t.library.fallthrough_kernel, "Meta")
        return refused(t.ops.library_test.f, t.ones(2), t.ones(2, device="meta"))


@as_in_pytorch
def test_calling_the_mark_itself_is_an_error(t):
    return refused(t.library.fallthrough_kernel)


def test_a_fallback_may_fall_through():
    with (
        fragment(torch) as lib,
        torch.library._scoped_library("_", "IMPL", "DeferredInit") as every,
    ):
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x + 1, "CPU")
        every.fallback(torch.library.fallthrough_kernel)
        from mindtorch_core.dispatch.dispatcher import dispatch_with_keyset

        keys = DispatchKey.DeferredInit | DispatchKey.CPU
        assert dispatch_with_keyset("library_test::f", keys, None, torch.ones(1)).item() == 2


# ---- defining -----------------------------------------------------------------------------------


@as_in_pytorch
def test_what_define_returns_and_refuses(t):
    with fragment(t) as lib, t.library._scoped_library("library_test", "IMPL") as kernels:
        return [
            lib.define("f(Tensor x) -> Tensor"),
            lib.define("f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"),
            refused(lib.define, "f(Tensor x) -> Tensor"),
            refused(lib.define, "other::h(Tensor x) -> Tensor"),
            refused(kernels.define, "h(Tensor x) -> Tensor"),
            isinstance(refused(lib.define, "h(Tensor x -> Tensor"), RuntimeError),
            isinstance(refused(lib.define, "h(Tensr x) -> Tensor"), RuntimeError),
        ]


@as_in_pytorch
def test_kinds_and_namespaces(t):
    return [
        refused(t.library.Library, "library_test", "FOO"),
        refused(t.library.Library, "prim", "DEF"),
        refused(t.library.Library, "aten", "DEF"),
    ]


@as_in_pytorch
def test_one_def_library_for_a_namespace(t):
    with t.library._scoped_library("library_test_def", "DEF"):
        second = refused(t.library.Library, "library_test_def", "DEF")
        t.library.Library("library_test_def", "FRAGMENT")
    t.library.Library("library_test_def", "DEF")._destroy()
    return second


# ---- registering kernels ------------------------------------------------------------------------


@as_in_pytorch
def test_what_impl_refuses(t):
    with fragment(t) as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x, "CompositeImplicitAutograd")
        return [
            refused(lib.impl, "f", 3, "CPU"),
            refused(lib.impl, "f", lambda x: x, "cpu"),
            refused(lib.impl, "f", lambda x: x, "CPUU"),
            refused(lib.impl, "f", lambda x: x, "Meta"),
            refused(lib.impl, 7, lambda x: x, "CPU"),
            refused(lib.impl, "other::f", lambda x: x, "CPU"),
        ]


@as_in_pytorch
def test_where_kernels_go_by_default(t):
    with fragment(t) as lib, t.library._scoped_library("library_test", "IMPL", "CPU") as on_cpu:
        for name in "fgh":
            lib.define(f"{name}(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x + 1)
        on_cpu.impl("g", lambda x: x + 2)
        lib.impl(t.ops.library_test.h.default, lambda x: x + 3, "Meta")
        other = refused(on_cpu.impl, "g", lambda x: x, "Meta")

        def has(n, k):
            return getattr(t.ops.library_test, n).default.has_kernel_for_dispatch_key(parse(t, k))

        keys = ("CPU", "Meta", "CompositeImplicitAutograd")
        return other, [[has(n, k) for k in keys] for n in "fgh"]


@as_in_pytorch
def test_the_kernel_may_come_before_the_op(t):
    with t.library._scoped_library("library_test", "IMPL") as kernels, fragment(t) as lib:
        kernels.impl("late", lambda x: x + 1, "CPU")
        before = refused(lambda: t.ops.library_test.late)
        lib.define("late(Tensor x) -> Tensor")
        return before, t.ops.library_test.late(t.ones(1))


@as_in_pytorch
def test_a_kernel_that_lost_its_op(t):
    with t.library._scoped_library("library_test", "IMPL") as kernels:
        with fragment(t) as lib:
            lib.define("f(Tensor x) -> Tensor")
            kernels.impl("f", lambda x: x + 1, "CPU")
        gone = refused(lambda: t.ops.library_test.f)
        with fragment(t) as lib:
            lib.define("f(Tensor x) -> Tensor")
            return gone, t.ops.library_test.f(t.ones(1))


@as_in_pytorch
def test_overloads_have_kernels_of_their_own(t):
    with fragment(t) as lib:
        lib.define("both.Tensor(Tensor x, Tensor y) -> Tensor")
        lib.define("both.Scalar(Tensor x, Scalar y) -> Tensor")
        lib.define("both(Tensor x) -> Tensor")
        lib.impl("both.Tensor", lambda x, y: x * y, "CPU")
        lib.impl("both.Scalar", lambda x, y: x + y, "CPU")
        lib.impl("both", lambda x: -x, "CPU")
        f, x = t.ops.library_test.both, t.ones(2) * 3
        return [
            f(x, x),
            f(x, 2),
            f(x),
            f.Tensor(x, x),
            f.Scalar(x, 2.5),
            f.default(x),
            f.overloads(),
        ]


@as_in_pytorch
def test_an_op_of_the_core_is_overridden_and_restored(t):
    x = t.ones(2)
    with t.library._scoped_library("aten", "IMPL") as aten:
        aten.impl("neg", lambda x: x * 10, "CPU")
        during = [t.neg(x), -x, x.neg(), t.ops.aten.neg(x)]
    return during, t.neg(x)


@as_in_pytorch
def test_an_op_of_the_core_is_overridden_below_autograd(t):
    x = t.ones(2, requires_grad=True)
    with t.library._scoped_library("aten", "IMPL") as aten:
        aten.impl("exp", lambda x: x * 10, "CPU")
        y = t.exp(x)
        y.sum().backward()
    return y.detach(), x.grad


def test_an_op_of_the_core_is_overridden_inside_a_pipeline():
    with torch.library._scoped_library("aten", "IMPL") as aten:
        with pytest.warns(UserWarning, match="Overriding"):
            aten.impl("neg", lambda x: x * 10, "CPU")
        with torch.pipeline() as pipe:
            y = torch.neg(torch.ones(2))
            assert y._pending
        assert y.tolist() == [10, 10]
        assert pipe.stats()["breaks"] == {}
    with torch.pipeline():
        y = torch.neg(torch.ones(2))
    assert y.tolist() == [-1, -1]


@as_in_pytorch
def test_one_overload_of_an_op_of_the_core_is_overridden(t):
    x = t.ones(2)
    with t.library._scoped_library("aten", "IMPL") as aten:
        aten.impl("add.Tensor", lambda a, b, alpha=1: a * 7, "CPU")
        during = [x + x, t.add(x, x), t.ops.aten.add.Tensor(x, x)]
    return during, x + x


def test_registering_twice_warns_of_both_places_and_the_later_wins():
    with fragment(torch) as lib:
        lib.define("f(Tensor x) -> Tensor")

        def first(x):
            return x

        def second(x):
            return x * 2

        lib.impl("f", first, "CPU")
        with pytest.warns(UserWarning, match="Overriding a previously registered kernel") as seen:
            lib.impl("f", second, "CPU")
        for kernel in (first, second):
            assert f"test_library.py:{kernel.__code__.co_firstlineno}" in str(seen[0].message)
        assert seen[0].filename == __file__
        assert torch.ops.library_test.f(torch.ones(1)).item() == 2
        with pytest.raises(RuntimeError, match="not allowed"):
            lib.impl("f", first, "CPU", allow_override=False)


def test_definitions_are_said_to_be_where_they_are_called_for():
    with torch.library._scoped_library("library_test_once", "DEF") as lib:
        made = currentframe().f_lineno - 1
        lib.define("f(Tensor x) -> Tensor")
        defined = currentframe().f_lineno - 1
        with pytest.raises(RuntimeError, match=rf"Previous one at: .*test_library\.py:{made}$"):
            torch.library.Library("library_test_once", "DEF")
        with pytest.raises(RuntimeError, match=rf"Tensor at .*test_library\.py:{defined}$"):
            lib.define("f(Tensor x) -> Tensor")


def test_a_kernel_that_cannot_take_the_arguments_is_refused_with_the_reason():
    with fragment(torch) as lib:
        lib.define("f(Tensor x, int n, *, str s='a') -> Tensor")
        for kernel, reason in (
            (lambda x: x, "takes 1 positional"),
            (lambda x, n: x, "keyword argument 's'"),
            (lambda x, n, m, s="": x, "requires 'm'"),
            (lambda x, n, *, s, z: x, "'z'"),
            (lambda keys, x: x, "keyword argument 's'|takes 2"),
        ):
            with pytest.raises(RuntimeError, match=reason) as caught:
                lib.impl("f", kernel, "CPU", with_keyset=len(caught_args(kernel)) == 2)
            assert "library_test::f(Tensor x, int n" in str(caught.value)
        lib.impl("f", lambda *args, **kwargs: args[0], "CPU")
        lib.impl("f", lambda keys, x, n, s="a": x, "Meta", with_keyset=True)


def caught_args(kernel):
    names = kernel.__code__.co_varnames
    return [n for n in names if n == "keys"] and names


def test_it_makes_no_difference_whether_the_backend_was_loaded_before(site):
    site.run(
        """
lib = torch.library.Library("aten", "IMPL")
lib.impl("neg", lambda x: x * 10, "CPU")
assert torch.neg(torch.ones(1)).item() == 10
lib._destroy()
assert torch.neg(torch.ones(1)).item() == -1
"""
    )


def test_which_kernels_there_are_is_asked_of_all_backends(site):
    site.run("assert torch.ops.aten.add.Tensor.has_kernel_for_dispatch_key('CPU')")
