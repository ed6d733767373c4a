"""Leaves against PyTorch: what lies in ``grad`` and how, what is frozen, ``data`` put in their place."""

import pytest

import mindtorch_core as torch
from both import both
from mindtorch_core.gradients.node import SHOWN

pt = pytest.importorskip("torch")


# ---- how a gradient lies in memory ------------------------------------------------------------


LEAVES = {
    "matrix": lambda lib: lib.ones(3, 4),
    "transposed": lambda lib: lib.ones(4, 3).t(),
    "with gaps": lambda lib: lib.ones(3, 8)[:, ::2],
    "repeated": lambda lib: lib.ones(3, 1).expand(3, 4),
}
USES = {
    "product": lambda lib, w: lib.ones(2, 4) @ w.t(),
    "transposed": lambda lib, w: w.t().exp(),
    "with a transposed one": lambda lib, w: w * lib.ones(4, 3).t(),
    "sum of rows": lambda lib, w: w.sum(0),
    "joined": lambda lib, w: lib.cat([w.t(), w.t()]),
    "twice": lambda lib, w: w.t() @ lib.ones(3, 2) + w.t() @ lib.ones(3, 2),
    "itself": lambda lib, w: w,
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("make", LEAVES.values(), ids=LEAVES)
@pytest.mark.filterwarnings("ignore:Using backward\\(\\) with create_graph=True")
def test_a_gradient_lies_as_its_leaf_does(make, use, create_graph):
    def call(lib):
        w = make(lib).detach().requires_grad_()
        y = use(lib, w)
        found = []
        for _ in range(2):  # a first gradient, and what is added to it
            g = (lib.arange(y.numel()) + 1.0).reshape(y.shape[::-1])
            g = g.t() if g.ndim == 2 else g
            y.backward(g, retain_graph=True, create_graph=create_graph)
            found += [w.grad.detach().clone(), w.grad.stride() if not create_graph else None]
        return found

    both(call)


def test_a_gradient_in_a_pipeline_lies_as_its_leaf_does():
    w = torch.ones(3, 4, requires_grad=True)
    with torch.pipeline():
        (torch.ones(2, 4) @ w.t()).sum().backward()
    assert w.grad.view(-1).tolist() == [2] * 12


def test_channels_last():
    def call(lib):
        w = lib.ones(2, 3, 4, 5).to(memory_format=lib.channels_last).requires_grad_()
        (w.contiguous() * lib.ones(2, 3, 4, 5)).sum().backward()
        return w.grad.stride()

    both(call)


# ---- what a gradient shares with others ---------------------------------------------------------


@pytest.mark.parametrize("write", ["numpy", "data", "hook", "detach"])
def test_writing_to_a_gradient_changes_no_other_walk(write):
    """The gradient that every walk from a number starts with reaches users as it is."""

    def call(lib):
        def seed(g):
            g.data.mul_(0)

        x = lib.tensor(2.0, requires_grad=True)
        y = x + 1
        if write == "hook":
            y.register_hook(seed)
        (g,) = lib.autograd.grad(y, x)
        if write == "numpy":
            g.numpy()[...] = 7
        elif write == "data":
            g.data.mul_(7)
        elif write == "detach":
            g.detach().mul_(7)
        (later,) = lib.autograd.grad(x + 1, x)
        return later

    both(call)


def hooked(x):
    y = x * 3
    y.register_hook(lambda g: g.data.mul_(0) and None)
    y.backward()


def in_a_function(x):
    class Triple(torch.autograd.Function):
        @staticmethod
        def forward(ctx, v):
            return v * 3

        @staticmethod
        def backward(ctx, g):
            g.data.mul_(0)
            return g * 3

    Triple.apply(x).backward()


def saved_by_a_recorded_walk(x):
    seen = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t) or t, lambda t: t):
        (x * x).backward(create_graph=True)
    for t in seen:
        if t is not x:
            t.data.mul_(0)


@pytest.mark.parametrize("write", [hooked, in_a_function, saved_by_a_recorded_walk])
def test_gradients_that_users_may_see_are_their_own(write, monkeypatch):
    """Also those of the first hook or Function of a process."""
    monkeypatch.setattr(SHOWN, "gradients", False)
    x = torch.tensor(2.0, requires_grad=True)
    (x * 3).backward()  # what it begins with is kept
    write(x)
    x.grad = None
    monkeypatch.setattr(SHOWN, "gradients", False)  # later walks take what is kept
    (x * 3).backward()
    assert x.grad.item() == 3


# ---- leaves that do not take part any more ------------------------------------------------------


@pytest.mark.parametrize("how", ["requires_grad_", "detach_"])
def test_a_leaf_frozen_after_its_use_gets_nothing(how):
    def call(lib):
        x, w = lib.ones(2, requires_grad=True), lib.ones(2, requires_grad=True)
        y = (x * w).sum()
        if how == "detach_":
            x.detach_()
        else:
            x.requires_grad_(False)
        y.backward()
        return x.grad is None, w.grad

    both(call)


def test_hooks_that_wait_for_the_gradient_of_a_frozen_leaf_are_not_called():
    """PyTorch calls them, though there is no gradient."""
    x = torch.ones(2, requires_grad=True)
    seen = []
    x.register_post_accumulate_grad_hook(seen.append)
    y = x.sum()
    x.requires_grad_(False)
    y.backward()
    assert seen == []


def test_detaching_in_place_keeps_the_gradient():
    def call(lib):
        x = lib.ones(2, requires_grad=True)
        y = x * 3
        y.retain_grad()
        y.sum().backward()
        out = []
        for t in (x, y):
            t.detach_()
            out += [t.grad, t.requires_grad, t.is_leaf]
        x.requires_grad_()
        (x * 2).sum().backward()
        return [*out, x.grad]

    both(call)


# ---- data ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["float16", "float64", "complex64", "int64"])
@pytest.mark.parametrize("requires_grad", [False, True])
def test_data_of_another_dtype(name, requires_grad):
    def call(lib):
        p = lib.ones(2, requires_grad=requires_grad)
        p.data = p.data.to(getattr(lib, name))
        return p, p.requires_grad, (p * 2).requires_grad

    both(call)


def test_data_on_another_device():
    p = torch.ones(2, requires_grad=True)
    p.data = p.data.to("meta")
    assert (p.device.type, p.requires_grad, (p * 2).device.type) == ("meta", True, "meta")


@pytest.mark.parametrize("first", ["sparse", "dense"])
@pytest.mark.parametrize("second", ["sparse", "dense"])
def test_sums_of_sparse_and_dense_gradients(first, second):
    def call(lib):
        table = lib.ones(4, 2, requires_grad=True)
        uses = {
            "sparse": lambda: lib.nn.functional.embedding(lib.tensor([1, 1]), table, sparse=True),
            "dense": lambda: table * 2,
        }
        uses[first]().sum().backward()
        held = table.grad
        uses[second]().sum().backward()
        return table.grad.to_dense(), table.grad is held, table.grad.is_sparse

    both(call)


def test_data_that_is_put_in_place_brings_no_version():
    def call(lib):
        p = lib.ones(2, requires_grad=True)
        with lib.no_grad():
            p.mul_(2)
        y = p * p
        new = lib.full((2,), 5.0)
        new.add_(1).add_(1)
        p.data = new
        version = p._version
        new.mul_(2)
        y.sum().backward()
        return p, version, p._version, p.grad, p.data.is_set_to(new)

    both(call)


def test_writes_through_data_in_a_pipeline_are_seen():
    x = torch.zeros(3)
    with torch.pipeline():
        x.data.add_(1)
        first = x.tolist()
        x.add_(1)
        data = x.data
        data.add_(1)
        second = x.tolist()
        x.mul_(2)
        third = data.tolist()
    assert (first, second, third) == ([1] * 3, [3] * 3, [6] * 3)
