"""Dispatch modes, as in PyTorch: what they see, in which order, and what is restored."""

import threading

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.keys import ACTIVE, MASKS, DispatchKey
from mindtorch_core.modes import active_modes
from mindtorch_core.utils._python_dispatch import TorchDispatchMode
from scenarios import as_in_pytorch, pt, refused


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    yield
    assert (MASKS.include, MASKS.keep, MASKS.blocked, ACTIVE) == (0, -1, 0, [])
    assert active_modes() == ()


def mode_class(t):
    if t is pt:
        from torch.utils._python_dispatch import TorchDispatchMode as theirs

        return theirs
    return torch.DispatchMode


def logger(t, log, name=None, handle=None):
    """A mode that writes what it sees into a list: the op's name, or its own name and the op's."""

    class Log(mode_class(t)):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append(str(func) if name is None else (name, str(func)))
            return (handle or (lambda f, a, k: f(*a, **k)))(func, args, kwargs or {})

    return Log()


def seen(t, body):
    """The ops that a mode sees while ``body()`` runs, and its result."""
    log = []
    with logger(t, log):
        result = body()
    return log, result


# ---- what is seen -------------------------------------------------------------------------------

CALLS = {
    "pointwise": lambda t, x: t.exp(x * 2 + x) - 1,
    "operators": lambda t, x: (x > 0.5) & (x != 1),
    "reductions": lambda t, x: [x.sum(), x.amax(1), x.argmax(), x.mean()],
    "views": lambda t, x: [
        x.view(6),
        x.transpose(0, 1),
        x.unsqueeze(0),
        x[0],
        x[:, 1:],
        x.expand(2, 3),
    ],
    "in-place": lambda t, x: x.clone().add_(1).mul_(x).zero_(),
    "joining": lambda t, x: t.cat([x, x]),
    "out": lambda t, x: t.mul(x, x).copy_(x),
    "factories": lambda t, x: [t.zeros(2), t.full((2,), 3.0), t.ones(1), t.empty(0)],
    "selection": lambda t, x: [t.where(x > 0, x, x), t.gather(x, 1, t.tensor([[0], [1]]))],
    "compositions": lambda t, x: [x.chunk(3, 1)[0].shape, x.square(), x.narrow(1, 0, 2)],
    "matrices": lambda t, x: [t.mm(x, x.transpose(0, 1)), t.bmm(x[None], x[None].transpose(1, 2))],
}
# Names that differ: PyTorch has more overloads, or an inner op where ours is one.
SAME_OP = {
    "aten.gt.Scalar": "aten.gt.Tensor",
    "aten.ne.Scalar": "aten.ne.Tensor",
    "aten.lift_fresh.default": None,
    "aten.detach.default": None,
    "aten.pow.Tensor_Scalar": "aten.pow.Tensor_Tensor",
    "aten.sum.dim_IntList": "aten.sum.default",
    "aten.bitwise_and.Tensor": "aten.bitwise_and.Tensor",
}


def plain(log):
    """A log with the names that both have."""
    return [n for n in (SAME_OP.get(name, name) for name in log) if n is not None]


@pytest.mark.parametrize("name", CALLS)
@as_in_pytorch
def test_ops_arrive_as_overloads(t, name):
    x = t.tensor([[0.0, 0.5, 1.0], [1.5, 2.0, 2.5]])
    log, result = seen(t, lambda: CALLS[name](t, x))
    return plain(log), result


def test_what_is_decomposed_otherwise_than_in_pytorch():
    # An op that is made of others arrives as those others, unless the backend has a kernel for it.
    x = torch.tensor([[0.0, 0.5, 1.0], [1.5, 2.0, 2.5]])
    for call, names in {
        (lambda: torch.stack([x, x])): ["unsqueeze.default"] * 2 + ["cat.default"],
        (lambda: torch.zeros_like(x)): ["zeros.default"],
        (lambda: x.reshape(6)): ["reshape.default"],
        (lambda: x @ x.t()): ["transpose.int", "matmul.default"],
        (lambda: torch.softmax(x, 1)): ["softmax.int"],
    }.items():
        assert seen(torch, call)[0] == [f"aten.{n}" for n in names]


def test_a_composition_arrives_whole_where_the_backend_has_a_kernel_for_it():
    x = torch.ones(2, 2)
    parts = seen(torch, lambda: torch.square(x))[0]
    with torch.library._scoped_library("aten", "IMPL") as lib:
        lib.impl("square", lambda x: x * x, "CPU")
        whole = seen(torch, lambda: torch.square(x))[0]
    assert (parts, whole) == (["aten.pow.Tensor_Tensor"], ["aten.square.default"])


@as_in_pytorch
def test_arguments_that_equal_their_defaults_are_left_out(t):
    calls = []

    class Arguments(mode_class(t)):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            calls.append((str(func), len(args), sorted(kwargs or {}), types))
            return func(*args, **(kwargs or {}))

    x = t.ones(2, 3)
    with Arguments():
        t.add(x, x, alpha=1)
        t.add(x, x, alpha=2)
        x.amax(1, False)
        x.amax(1, True)
        t.amax(x, dim=1, keepdim=True)
        x.transpose(0, 1)
    return calls


@as_in_pytorch
def test_under_inference_mode_compositions_arrive_whole(t):
    x = t.ones(2, 3)
    with t.inference_mode():
        return seen(t, lambda: (x.flatten(), x.reshape(6)))[0]


@as_in_pytorch
def test_on_meta_tensors(t):
    x = t.ones(2, 3, device="meta")
    log, y = seen(t, lambda: t.exp(x).sum(1))
    return plain(log), y.shape, y.device


@as_in_pytorch
def test_ops_of_third_parties(t):
    with t.library._scoped_library("modes_test", "FRAGMENT") as lib:
        lib.define("twice(Tensor x, int n=2, *, bool flag=False) -> Tensor")
        lib.impl("twice", lambda x, n=2, flag=False: x * n, "CPU")
        lib.define("parts(Tensor x) -> Tensor")
        lib.impl("parts", lambda x: x + 1, "CompositeImplicitAutograd")
        ops, x = t.ops.modes_test, t.ones(1)
        return seen(t, lambda: [ops.twice(x), ops.twice(x, 3, flag=True), ops.parts(x)])


# ---- what a handler may do ----------------------------------------------------------------------


@as_in_pytorch
def test_a_handler_may_answer_something_else(t):
    def handle(func, args, kwargs):
        return t.full((2,), 7.0) if str(func) == "aten.mul.Tensor" else func(*args, **kwargs)

    x = t.tensor([1.0, 2.0], requires_grad=True)
    with logger(t, [], handle=handle):
        y = x * 3
    return y.detach(), y.requires_grad


@as_in_pytorch
def test_inside_its_handler_a_mode_is_off(t):
    log, x = [], t.ones(1)

    def handle(func, args, kwargs):
        (x + 1).exp()
        return func(*args, **kwargs)

    with logger(t, log, handle=handle):
        x * 2
    return log


@as_in_pytorch
def test_what_a_handler_computes_is_not_recorded(t):
    x = t.ones(1, requires_grad=True)
    recorded = []

    def handle(func, args, kwargs):
        recorded.append((x * 2).requires_grad)
        with t.enable_grad():
            recorded.append((x * 2).requires_grad)
        with t.no_grad():
            recorded.append((x * 2).requires_grad)
        return func(*args, **kwargs)

    with logger(t, [], handle=handle):
        y = x.exp()
    y.backward()
    return recorded[:3], x.grad


@as_in_pytorch
def test_a_mode_entered_in_a_handler(t):
    log, x = [], t.ones(1)

    def handle(func, args, kwargs):
        with logger(t, log, "inside"):
            return func(*args, **kwargs)

    with logger(t, log, "around"), logger(t, log, "handler", handle):
        x + 1
    return log


def declines(func, args, kwargs):
    return NotImplemented


@as_in_pytorch
def test_a_mode_that_declines(t):
    log, x = [], t.ones(1)
    with logger(t, log, handle=declines):
        return refused(lambda: t.exp(x)), refused(lambda: t.ones(1)), log


def test_declining_leaves_the_op_to_the_mode_around():
    # In PyTorch it is an error also where there is a mode around.
    log, x = [], torch.ones(1)
    outer = logger(torch, log, "outer")
    with outer, logger(torch, log, "middle", declines), logger(torch, log, "inner", declines):
        y = x + 1
    assert log == [(name, "aten.add.Tensor") for name in ("inner", "middle", "outer")]
    assert y.item() == 2


def test_the_error_names_the_op_and_the_modes():
    with (
        logger(torch, [], handle=declines),
        pytest.raises(
            TypeError, match=r"failed for 'aten.ones.default'; all .*NotImplemented: Log"
        ),
    ):
        torch.ones(1)


@as_in_pytorch
def test_a_mode_without_handler(t):
    class Nothing(mode_class(t)):
        pass

    with Nothing():
        return refused(t.ones, 1)


# ---- the stack ----------------------------------------------------------------------------------


@as_in_pytorch
def test_the_innermost_mode_comes_first(t):
    log, x = [], t.ones(1)
    with logger(t, log, "a"), logger(t, log, "b"), logger(t, log, "c"):
        x + 1
    return log


@as_in_pytorch
def test_the_same_mode_twice(t):
    log, x = [], t.ones(1)
    mode = logger(t, log)
    with mode, mode:
        x + 1
    with mode:
        x * 2
    return log


@as_in_pytorch
def test_an_exception_restores_the_stack(t):
    log, x = [], t.ones(1)

    def fails(func, args, kwargs):
        raise KeyError("mine")

    with logger(t, log, "around"):
        with logger(t, log, "inner", fails):
            error = refused(lambda: x + 1)
            again = refused(lambda: x + 1)
        x * 2
    x * 3
    return log, error, again


@as_in_pytorch
def test_modes_belong_to_their_thread(t):
    log, x = [], t.ones(1)
    results = []
    with logger(t, log):
        thread = threading.Thread(target=lambda: results.append((x + 1).item()))
        thread.start()
        thread.join()
    return log, results


@as_in_pytorch
def test_leaving_a_mode_takes_the_innermost_off(t):
    log = []
    outer, inner = logger(t, log, "outer"), logger(t, log, "inner")
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    t.ones(1)
    inner.__exit__(None, None, None)
    t.ones(1)
    return log


# ---- with everything else -----------------------------------------------------------------------


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
