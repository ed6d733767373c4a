"""What hooks ask of the backward pass that calls them, against PyTorch."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def parts(lib):
    if lib is torch:
        from mindtorch_core.autograd import Variable
        from mindtorch_core.ecosystem import _C

        return Variable, _C
    return pt.autograd.Variable, pt._C


def named(node):
    return None if node is None else node.name().rpartition(".")[2]


def story(lib):
    """What happens, in order, in a pass whose hooks ask and queue."""
    variable, c = parts(lib)
    queue, told = variable._execution_engine.queue_callback, []

    def ask(where):
        told.append((where, named(c._current_autograd_node()), c._current_graph_task_id() != -1))

    class Doubled(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            ask("formula")
            queue(lambda: told.append(("from formula", x.grad is not None)))
            return g * 2

    x = lib.ones(2, requires_grad=True)
    y = x.sin()
    z = Doubled.apply(y)
    y.register_hook(lambda g: ask("tensor"))
    y.grad_fn.register_prehook(lambda g: ask("before"))
    y.grad_fn.register_hook(lambda given, made: ask("after"))

    def at_leaf(p):
        ask("leaf")
        queue(
            lambda: (told.append(("end", p.grad is not None)), queue(lambda: told.append("last")))
        )

    x.register_post_accumulate_grad_hook(at_leaf)
    ask("outside")
    z.sum().backward()
    ask("outside")
    lib.autograd.grad(Doubled.apply(x).sum(), x)
    return told


def test_as_in_pytorch():
    assert story(torch) == story(pt)


@pytest.mark.parametrize("lib", [torch, pt], ids=["ours", "theirs"])
def test_outside_of_passes_and_after_errors(lib):
    queue = parts(lib)[0]._execution_engine.queue_callback
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward"):
        queue(print)
    x, told = lib.ones(2, requires_grad=True), []
    y = x * 2

    def fails(g):
        queue(lambda: told.append(1))
        raise ValueError("mine")

    handle = y.register_hook(fails)
    with pytest.raises(ValueError, match="mine"):
        y.sum().backward(retain_graph=True)
    handle.remove()
    y.sum().backward()
    assert told == []


def test_nested_passes_end_one_by_one():
    queue, told = parts(torch)[0]._execution_engine.queue_callback, []
    x = torch.ones(1, requires_grad=True)

    def inner(g):
        queue(lambda: told.append("outer"))
        z = (x * 3).clone()
        z.register_hook(lambda g: queue(lambda: told.append("inner")))
        torch.autograd.grad(z.sum(), x)
        told.append("between")

    with torch.enable_grad():
        y = x * 2
    y.register_hook(lambda g: torch.enable_grad()(inner)(g))
    y.sum().backward()
    assert told == ["inner", "between", "outer"]


def asked_within(lib):
    """What a function's backward hears of walking back once more, in three passes and in none."""
    seen = []

    class Ask(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append(lib.autograd._is_checkpoint_valid())
            return g

    x = lib.ones(2, requires_grad=True)
    seen.append(lib.autograd._is_checkpoint_valid())
    Ask.apply(x).sum().backward()
    lib.autograd.grad(Ask.apply(x).sum(), x)
    Ask.apply(x).sum().backward(inputs=[x])

    class Inner(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            with lib.enable_grad():
                Ask.apply(lib.ones(2, requires_grad=True)).sum().backward()
            return g

    lib.autograd.grad(Inner.apply(x).sum(), x)
    Inner.apply(x).sum().backward()
    return seen


def test_checkpoints_ask_whether_they_may_walk_back():
    pt = pytest.importorskip("torch")
    assert asked_within(torch) == asked_within(pt)
