"""Dispatch modes, as in PyTorch: what they see, in which order, and what is restored."""

import threading

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.keys import ACTIVE, MASKS
from mindtorch_core.frontend.dispatch_modes import active_modes
from scenarios import as_in_pytorch, logger, mode_class, refused, seen


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    yield
    assert (MASKS.include, MASKS.keep, MASKS.blocked, ACTIVE) == (0, -1, 0, [])
    assert active_modes() == ()


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
    "masks": lambda t, x: [
        x.masked_fill(x > 1, 0),
        x.masked_fill(x > 1, x[0, 0]),
        x.clone().masked_fill_(x > 1, 2.0),
    ],
    "compositions": lambda t, x: [x.chunk(3, 1)[0].shape, x.square(), x.narrow(1, 0, 2)],
    "numbers": lambda t, x: [
        x[0, 1].item(),
        bool(x[1, 1]),
        int(x[1, 2]),
        float(x[1, 0]),
        x.tolist(),
    ],
    "stacks": lambda t, x: [t.stack([x, x]), t.stack([x, x], 2)],
    "matrices": lambda t, x: [
        t.mm(x, x.transpose(0, 1)),
        x @ x.t(),
        t.bmm(x[None], x[None].transpose(1, 2)),
    ],
}
# Names that differ: PyTorch has more overloads, or an inner op where ours is one.
SAME_OP = {
    "aten.lift_fresh.default": None,
    "aten.detach.default": None,
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
        (lambda: torch.zeros_like(x)): ["zeros_like.default"],
        (lambda: x.reshape(6)): ["reshape.default"],
    }.items():
        assert seen(torch, call)[0] == [f"aten.{n}" for n in names]


def test_a_composition_arrives_whole_where_the_backend_has_a_kernel_for_it():
    x = torch.ones(2, 2)
    parts = seen(torch, lambda: torch.square(x))[0]
    with torch.library._scoped_library("aten", "IMPL") as lib:
        lib.impl("square", lambda x: x * x, "CPU")
        whole = seen(torch, lambda: torch.square(x))[0]
    assert (parts, whole) == (["aten.pow.Tensor_Scalar"], ["aten.square.default"])


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
def test_a_handler_may_answer_another_number(t):
    class Seven(mode_class(t)):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if str(func) == "aten._local_scalar_dense.default":
                return 7.0
            return func(*args, **(kwargs or {}))

    x = t.ones(1, requires_grad=True)
    with Seven():
        return x.item(), float(x), bool(x), refused(t.ones(2).item), refused(t.ones(0).item)


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


@as_in_pytorch
def test_a_mode_that_leaves_a_class_its_op_sees_what_that_makes_of_it(t):
    log = []

    class Wrapped(t.Tensor):
        @staticmethod
        def __new__(cls, inner):
            made = t.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
            made.inner = inner
            return made

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log.append(("class", str(func)))
            return cls(func(*[x.inner if isinstance(x, cls) else x for x in args]))

    class Leaves(mode_class(t)):
        def __init__(self, name, leaves):
            super().__init__()
            self.name, self.leaves = name, leaves

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append((self.name, str(func), len(types)))
            return NotImplemented if self.leaves and types else func(*args, **(kwargs or {}))

    x = Wrapped(t.ones(2))
    log.clear()
    with Leaves("alone", leaves=True):
        t.exp(x * 2)
    for outer, inner in ((True, True), (False, True), (True, False)):
        with Leaves("outer", outer), Leaves("inner", inner):
            t.exp(x)
    return log


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
