"""Dispatch modes together with gradients, autocast, pipelines and custom ops; rules for single ops."""

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.keys import ACTIVE, MASKS, DispatchKey
from mindtorch_core.frontend.dispatch_modes import active_modes
from mindtorch_core.utils._python_dispatch import TorchDispatchMode
from scenarios import as_in_pytorch, logger, mode_class, seen


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    yield
    assert (MASKS.include, MASKS.keep, MASKS.blocked, ACTIVE) == (0, -1, 0, [])
    assert active_modes() == ()


@as_in_pytorch
def test_the_ops_of_a_backward_pass(t):
    x = t.tensor([0.5, 1.0], requires_grad=True)
    y = (x.exp() * x).sum()
    log, _ = seen(t, y.backward)
    return sorted(n for n in set(log) if ".mul." in n or ".exp." in n), x.grad


@as_in_pytorch
def test_gradients_under_a_mode(t):
    x = t.tensor([0.5, 1.0], requires_grad=True)
    with logger(t, []):
        (x.exp() * x + x.view(2, 1)[:, 0]).sum().backward()
        (g,) = t.autograd.grad((x**3).sum(), x, create_graph=True)
        (h,) = t.autograd.grad(g.sum(), x)
    return x.grad, g.detach(), h


@as_in_pytorch
def test_writes_under_a_mode_count(t):
    x = t.ones(2)
    before = x._version
    with logger(t, []):
        x.add_(1)
        x[0] = 5
    return x, x._version - before


@as_in_pytorch
def test_autocast_comes_before_modes(t):
    x = t.ones(2, 2)
    with t.autocast("cpu"):
        log, y = seen(t, lambda: t.mm(x, x))
    return [n for n in log if "mm" in n], y.dtype


@as_in_pytorch
def test_results_written_to_out(t):
    x, out = t.ones(2), t.empty(2)
    with logger(t, []):
        t.add(x, x, out=out)
    return out


@as_in_pytorch
def test_generators(t):
    g = t.Generator().manual_seed(3)
    _, values = seen(t, lambda: t.rand(2, generator=g))
    return values.tolist() == t.rand(2, generator=t.Generator().manual_seed(3)).tolist()


def test_modes_see_ops_before_they_are_deferred():
    log, x = [], torch.ones(2)
    with torch.pipeline() as pipe:
        with logger(torch, log):
            y = torch.exp(x) + 1
        assert y._pending
        with logger(torch, log, handle=lambda f, a, k: torch.full((2,), 3.0)):
            z = y * 2
    assert log == ["aten.exp.default", "aten.add.Tensor", "aten.mul.Tensor"]
    assert [round(v, 4) for v in y.tolist()] == [3.7183] * 2
    assert z.tolist() == [3, 3]
    assert pipe.stats()["breaks"] == {}


def test_a_pipeline_inside_a_mode():
    log, x = [], torch.ones(2)
    with logger(torch, log), torch.pipeline():
        y = x * 2
    assert y.tolist() == [2, 2]
    assert log[:1] == ["aten.mul.Tensor"]


def test_custom_ops_arrive_whole():
    @torch.library.custom_op("modes_test::whole", mutates_args=())
    def whole(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    log, y = seen(torch, lambda: whole(torch.ones(1)))
    assert log == ["aten.ones.default", "modes_test.whole.default"]
    assert y.item() == 2


# ---- rules for pairs of an op and a mode --------------------------------------------------------


@as_in_pytorch
def test_rules_for_an_op_and_a_mode(t):
    log = []

    class Mode(mode_class(t)):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append(f"handler {func}")
            return func(*args, **(kwargs or {}))

    with t.library._scoped_library("modes_test", "FRAGMENT") as lib:
        lib.define("ruled(Tensor x) -> Tensor")
        lib.impl("ruled", lambda x: x + 1, "CPU")

        @t.library.register_torch_dispatch("modes_test::ruled", Mode, lib=lib)
        def _(mode, func, types, args=(), kwargs=None):
            log.append(f"rule {type(mode).__name__} {func}")
            return func(*args, **(kwargs or {})) * 10

        op, x = t.ops.modes_test.ruled, t.ones(1)
        with Mode():
            inside = op(x)
            x * 2
        return inside, op(x), log


def test_a_rule_goes_with_its_library():
    class Mode(torch.DispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    x = torch.ones(1)
    with torch.library._scoped_library("aten", "IMPL") as lib:
        torch.library.register_torch_dispatch(
            "aten::neg", Mode, lambda mode, func, types, args, kwargs: args[0] * 5, lib=lib
        )
        with Mode():
            assert torch.neg(x).item() == 5
    with Mode():
        assert torch.neg(x).item() == -1
    with pytest.raises(TypeError, match="subclass of DispatchMode"):
        torch.library.register_torch_dispatch("aten::neg", int, lambda *args: None)


def test_rules_made_with_py_impl_and_the_registered_one_wins():
    class Mode(torch.DispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    with torch.library._scoped_library("modes_test", "FRAGMENT") as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x, "CPU")
        op, x = torch.ops.modes_test.f.default, torch.ones(1)
        op.py_impl(Mode)(lambda mode, x: x * 3)
        with Mode():
            assert op(x).item() == 3
            torch.library.register_torch_dispatch(
                "modes_test::f", Mode, lambda mode, f, types, args, kwargs: args[0] * 4, lib=lib
            )
            assert op(x).item() == 4


def test_pytorchs_name():
    assert TorchDispatchMode is torch.DispatchMode
    from mindtorch_core.utils import _python_dispatch

    assert torch.utils._python_dispatch is _python_dispatch


def test_an_inactive_mode_is_in_no_mask():
    x = torch.ones(1)
    with logger(torch, []):
        x + 1
    assert not ACTIVE
    assert not MASKS.include & DispatchKey.Python
