"""Backward passes that are replayed as one item, and what makes the engine walk after all."""

import contextlib
import threading

import pytest

import mindtorch_core as torch
from mindtorch_core.gradients import replayed
from mindtorch_core.nn import functional
from mindtorch_core.utils._python_dispatch import TorchDispatchMode


class Net:
    """A small network with its loss, deferred or not."""

    def __init__(self):
        torch.manual_seed(0)
        self.x, self.y = torch.randn(6, 4), torch.randint(0, 3, (6,))
        self.w = [torch.randn(5, 4) * 0.5, torch.zeros(5), torch.randn(3, 5) * 0.5, torch.zeros(3)]
        for w in self.w:
            w.requires_grad_()
        self.factor = 1.0
        self.walks = []

    def loss(self):
        a, b, c, d = self.w
        h = functional.gelu(functional.linear(self.x, a, b)) * self.factor
        return functional.cross_entropy(functional.linear(h, c, d), self.y)

    def before(self):
        for w in self.w:
            w.grad = None

    def step(self):
        self.before()
        loss = self.loss()
        loss.backward()
        with torch.no_grad():
            for w in self.w:
                w.sub_(w.grad, alpha=0.1)
        return loss

    def run(self, steps, piped, through=True):
        losses = []
        for i in range(steps):
            self.at(i)
            if piped:
                with torch.pipeline(through_backward=through) as pipe:
                    loss = self.step()
                self.walks.append(pipe.stats()["replayed_walks"])
            else:
                loss = self.step()
            losses.append(loss.item())
        return losses, [w.tolist() for w in self.w], [w.grad.tolist() for w in self.w]

    def at(self, i):
        pass


@pytest.mark.parametrize("through", [True, False])
def test_the_engine_walks_no_more(through):
    net = Net()
    assert net.run(8, True, through) == Net().run(8, piped=False)
    assert net.walks[-4:] == [1] * 4


class OtherNumbers(Net):
    def at(self, i):
        self.factor = 1.0 + i * 0.25


class NegativeZero(Net):
    def at(self, i):
        self.factor = 0.0 if i < 4 else -0.0


class OtherGraph(Net):
    """The gate is detached in some runs, by the same line."""

    def at(self, i):
        self.w[1].requires_grad_(i not in (4, 5))

    def step(self):
        self.before()
        loss = self.loss()
        loss.backward()
        with torch.no_grad():
            self.w[0].sub_(self.w[0].grad, alpha=0.1)
        self.w[1].grad = torch.zeros(5) if self.w[1].grad is None else self.w[1].grad
        return loss


class Accumulating(Net):
    """Gradients of two steps are added up."""

    def before(self):
        self.count = getattr(self, "count", 0) + 1
        if self.count % 2:
            super().before()


class WithoutGradients(Net):
    def loss(self):
        with torch.set_grad_enabled(self.count < 4):
            h = self.w[0] * 2
        return ((self.w[0] * h).sum() + super().loss()) * 1.0

    def at(self, i):
        self.count = i


class OneLeafHasGone(Net):
    """Another tensor takes a weight's place."""

    def at(self, i):
        if i == 5:
            self.w[0] = self.w[0].detach().clone().requires_grad_()


class Scaled(torch.autograd.Function):
    """Its gradient is what Python says at the time."""

    factor = 1

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * Scaled.factor


class FormulasInPython(Net):
    def loss(self):
        return Scaled.apply(super().loss()) * 1.0

    def at(self, i):
        Scaled.factor = 1 + i // 4


@pytest.mark.parametrize(
    "kind",
    [
        OtherNumbers,
        NegativeZero,
        OtherGraph,
        Accumulating,
        WithoutGradients,
        OneLeafHasGone,
        FormulasInPython,
    ],
)
@pytest.mark.parametrize("through", [True, False])
def test_guards(kind, through):
    assert kind().run(11, True, through) == kind().run(11, piped=False)


BLOCKS = {
    "through": lambda: torch.pipeline(through_backward=True),
    "default": torch.pipeline,
    "eager": torch.enable_grad,
}


def hooked(net, i, seen):
    """What looks at a walk, registered in one run."""
    loss = net.loss()
    return {
        "leaf": lambda: net.w[0].register_hook(lambda g: seen.append("leaf") or g * 2),
        "result": lambda: loss.register_hook(lambda g: seen.append("result") or g * 3),
        "node": lambda: loss.grad_fn.register_hook(lambda *_: seen.append("node")),
        "accumulated": lambda: net.w[1].register_post_accumulate_grad_hook(
            lambda t: seen.append("accumulated")
        ),
    }, loss


@pytest.mark.parametrize("block", ["through", "default"])
@pytest.mark.parametrize("runs", [range(5, 7), range(5)], ids=["later", "at first"])
@pytest.mark.parametrize("what", ["leaf", "result", "node", "accumulated"])
def test_hooks_are_called(what, runs, block):
    def gradients(block):
        net, seen, found = Net(), [], []
        for i in range(8):
            net.before()
            with BLOCKS[block]():
                hooks, loss = hooked(net, i, seen)
                handle = hooks[what]() if i in runs else None
                loss.backward()
            found.append([w.grad.tolist() for w in net.w])
            if handle is not None:
                handle.remove()
        return found, seen

    found, seen = gradients(block)
    assert (found, seen) == gradients("eager")
    assert len(seen) == len(runs)


@pytest.mark.parametrize("block", ["through", "default"])
def test_hooks_on_saved_tensors_are_called(block):
    net, seen = Net(), []
    for i in range(8):
        net.before()
        with BLOCKS[block]():
            if i == 6:
                with torch.autograd.graph.saved_tensors_hooks(
                    lambda t: t, lambda t: seen.append(1) or t
                ):
                    loss = net.loss()
            else:
                loss = net.loss()
            loss.backward()
    assert seen


@pytest.mark.parametrize("block", ["through", "default"])
def test_a_graph_is_walked_once(block):
    net = Net()
    for i in range(7):
        net.before()
        with BLOCKS[block]():
            loss = net.loss()
            loss.backward()
        with pytest.raises(RuntimeError, match="second time"):
            loss.backward()
        assert net.w[0].grad is not None, i


@pytest.mark.parametrize("block", ["through", "default"])
def test_dispatch_modes_see_the_ops(block):
    class Names(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            names.append(str(func))
            return func(*args, **(kwargs or {}))

    names, net = [], Net()
    for i in range(7):
        net.before()
        with BLOCKS[block]():
            loss = net.loss()
            if i == 6:
                with Names():
                    loss.backward()
            else:
                loss.backward()
    assert any("gelu" in name or "mul" in name for name in names)


@pytest.mark.parametrize("block", ["through", "default"])
def test_two_walks_of_a_block(block):
    def gradients(block):
        a, b = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)
        found = []
        for _ in range(7):
            a.grad = b.grad = None
            with BLOCKS[block]() as pipe:
                (a * a).sum().backward()
                (b * a.grad.sum()).exp().sum().backward()
            found.append((a.grad.tolist(), b.grad.tolist()))
        return found, pipe

    found, pipe = gradients(block)
    assert found == gradients("eager")[0]
    assert pipe.stats()["replayed_walks"] == 2


@pytest.mark.parametrize("block", ["through", "default"])
def test_an_operand_that_is_overwritten_is_told(block):
    """Also where the write comes in a later run, before backward."""
    for i in range(8):
        x = torch.ones(3, requires_grad=True)
        y = torch.ones(3)
        with BLOCKS[block]():
            loss = (x * y).sum()
            if i == 6:
                y.add_(1)
            if i == 6:
                with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                    loss.backward()
            else:
                loss.backward()


def test_a_value_is_read_before_backward():
    net, eager = Net(), Net()
    for _ in range(7):
        with torch.pipeline() as pipe:
            net.before()
            loss = net.loss()
            value = loss.item()
            loss.backward()
        eager.before()
        wanted = eager.loss()
        wanted.backward()
        assert value == wanted.item()
        assert all(torch.equal(a.grad, b.grad) for a, b in zip(net.w, eager.w, strict=True))
    assert pipe.stats()["replayed_walks"] == 1


# ---- what was saved, and changed since ----------------------------------------------------------


def _in_a_block(x):
    with torch.pipeline():
        x.mul_(2)


def _in_a_thread(x):
    thread = threading.Thread(target=lambda: x.mul_(2))
    thread.start()
    thread.join()


CHANGES = {
    "block": _in_a_block,
    "thread": _in_a_thread,
    "count": torch.autograd.graph.increment_version,
}
LOSSES = {
    "input": lambda w, x: ((w * x).sum(), x),
    "product": lambda w, x: (torch.einsum("i,i->", w, x), x),
    "output": lambda w, x: ((y := (w + x).exp()).sum(), y.detach()),
}


@pytest.mark.parametrize("looks", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("block", ["default", "through"])
def test_what_was_saved_has_changed(block, change, loss, looks):
    """The engine refuses, as outside of blocks, what a walk of known ops would have computed."""
    w, x, walks = torch.ones(3, requires_grad=True), torch.ones(3), []
    for i in range(8):
        w.grad = None
        with BLOCKS[block]() as pipe:
            result, saved = LOSSES[loss](w, x)
            if looks:
                result.item()
            refused = contextlib.nullcontext()
            if i >= 6:
                CHANGES[change](saved)
                refused = pytest.raises(RuntimeError, match="modified by an inplace operation")
            with refused:
                result.backward()
        walks.append(pipe.stats()["replayed_walks"])
    assert walks[6:] == [0, 0]
    if block == "default" and loss == "input":
        assert walks[5] == 1


def test_what_was_saved_has_changed_in_a_compiled_call():
    w, x, changes = torch.ones(3, requires_grad=True), torch.ones(3), []

    @torch.compile
    def step():
        loss = (w * x).sum()
        if changes:
            _in_a_block(x)
        loss.backward()

    for _ in range(6):
        step()
    changes.append(1)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            step()


@pytest.mark.parametrize("through", [True, False])
def test_the_ones_of_a_walk_are_followed_with_it(monkeypatch, through):
    given, hand_out = [], replayed.hand_out

    def noted(pipe, values, e):
        given.append(e.op.name)
        hand_out(pipe, values, e)

    monkeypatch.setattr(replayed, "hand_out", noted)
    assert Net().run(8, True, through) == Net().run(8, piped=False)
    assert given.count("aten::ones") >= 4


@pytest.mark.parametrize("through", [True, False])
def test_a_walk_starts_from_ones_like_what_it_begins_at(through):
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    ways = [
        lambda y: (y.sum(), None),
        lambda y: (y.sum().reshape(1), None),
        lambda y: (y.double().sum(), None),
        lambda y: (y.sum(), torch.tensor(3.0)),
        lambda y: (y.sum(), torch.ones(())),
    ]
    for way in [*(ways[i] for i in (0, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0)), *ways, *ways, *ways]:
        w.grad = None
        with torch.pipeline(through_backward=through):
            root, gradient = way(w * w)
            root.backward(gradient)
        wanted = 3 if way is ways[3] else 1
        assert w.grad.tolist() == [2 * wanted, -4 * wanted]


def test_another_mode_than_that_of_the_walk_makes_its_own_ones():
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    seen = []

    class Note(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    def block(mode):
        w.grad = None
        with torch.pipeline(through_backward=True):
            loss = (w * w).sum()
            with mode:
                loss.backward()
        return w.grad.tolist()

    for noted in [False] * 4 + [True, False, True]:
        seen.clear()
        assert block(Note() if noted else contextlib.nullcontext()) == [2, -4]
        assert any("ones" in name for name in seen) is noted


def test_a_walk_that_other_code_begins_is_not_that_of_the_trace():
    def one(loss):
        loss.backward()

    def other(loss):
        loss.backward()

    w, walks = torch.ones(3, requires_grad=True), []
    for begins in [one] * 5 + [other] + [one]:
        w.grad = None
        with torch.pipeline(through_backward=True) as pipe:
            loss = (w * 2).sum()
            begins(loss)
        walks.append(pipe.stats()["replayed_walks"])
        assert w.grad.tolist() == [2, 2, 2]
    assert walks[4:] == [1, 0, 1]
