"""Changes in place under autograd, against PyTorch: writes to views, and saved values that changed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mindtorch_core as torch
from both import both, leaf

pt = pytest.importorskip("torch")


WRITES = {
    "add": lambda t: t.add_(2),
    "mul": lambda t: t.mul_(3),
    "exp": lambda t: t.exp_(),
    "zero": lambda t: t.zero_(),
    "fill": lambda t: t.fill_(5),
    "pow": lambda t: t.pow_(2),
    "relu": lambda t: t.relu_(),
    "abs": lambda t: t.abs_(),
    "div": lambda t: t.div_(t.detach() + 1),
    "copy": lambda t: t.copy_(t.detach() * 2),
    "masked_fill": lambda t: t.masked_fill_(t.detach() > 3, 0.0),
    "clamp": lambda t: t.clamp_(2, 4),
    "setitem": lambda t: t.__setitem__(0, 7.0),
    "neg": lambda t: t.neg_(),
    "sub": lambda t: t.sub_(t.detach()),
}
VIEWS = {
    "whole": lambda t: t,
    "row": lambda t: t[0],
    "column": lambda t: t[:, 1],
    "element": lambda t: t[1, 2],
    "transposed": lambda t: t.t(),
    "stepped": lambda t: t[:, ::2],
    "flat": lambda t: t.view(-1),
    "part": lambda t: t.view(-1)[1:5],
    "diagonal": lambda t: t.diagonal(),
    "nested": lambda t: t.t()[1:].t()[0],
    "unsqueezed": lambda t: t.unsqueeze(1),
    "narrow": lambda t: t.narrow(1, 0, 2),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_writes_to_views_of_results(view, write):
    def call(lib):
        x = leaf(lib, 2, 3)
        y = x * 1.5
        part = view(y)
        other = view(y)
        if part.dim() or write is not WRITES["setitem"]:
            write(part)
        (y * y).sum().backward(retain_graph=True)
        first = x.grad.clone()
        x.grad = None
        (part * other).sum().backward()
        return [y.detach(), part.detach(), first, x.grad]

    both(call)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(VIEWS)), st.sampled_from(sorted(WRITES))),
        min_size=1,
        max_size=4,
    )
)
def test_sequences_of_writes(steps):
    def call(lib):
        x = leaf(lib, 2, 3)
        y = x * 1.5
        kept = []
        for view, write in steps:
            part = VIEWS[view](y)
            if part.dim() or write != "setitem":
                WRITES[write](part)
            kept.append(part)
        total = (y * y).sum()
        for part in kept:
            total = total + part.sum()
        total.backward()
        return [y.detach(), x.grad]

    both(call)


def test_writing_tracked_values_into_views():
    def call(lib):
        x, v = leaf(lib, 2, 3), leaf(lib, 3)
        y = lib.zeros(2, 3)
        y[0] = v * 2
        y[1].copy_(x[0] * v)
        y[:, 0] += x[:, 1]
        y.view(-1)[3:5].mul_(v[:2])
        (y * y).sum().backward()
        return [y.detach(), x.grad, v.grad]

    both(call)


def test_writing_a_tracked_value_into_a_base_gives_its_views_history():
    def call(lib):
        base = lib.zeros(4)
        part = base[1:3]
        v = leaf(lib, 2)
        base[:2] = v
        return [part.requires_grad, base.requires_grad, *lib.autograd.grad((part * part).sum(), v)]

    both(call)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: changed(x * 2, lambda y: y.exp(), lambda y, z: z.add_(1)),
        lambda x: changed(x * 2, lambda y: y * y, lambda y, z: y.add_(1)),
        lambda x: changed(x * 2, lambda y: y + y, lambda y, z: y.add_(1)),
        lambda x: changed(x * 2, lambda y: y * 3, lambda y, z: y.add_(1)),
        lambda x: changed(x * 2, lambda y: y.sin(), lambda y, z: y[0].add_(1)),
        lambda x: changed(x * 2, lambda y: y.sin(), lambda y, z: y.detach().add_(1)),
        lambda x: changed(x * 2, lambda y: y.sigmoid(), lambda y, z: y.zero_()),
        lambda x: changed(x * 2, lambda y: y.relu(), lambda y, z: z.mul_(2)),
        lambda x: changed(x * 2, lambda y: y.sum(), lambda y, z: y.zero_()),
        lambda x: changed(x * 2, lambda y: y.view(-1).exp(), lambda y, z: z.view(-1).neg_()),
        lambda x: changed(x * 2, lambda y: y.softmax(0), lambda y, z: z.mul_(2)),
        lambda x: changed(x * 2, lambda y: y.clone(), lambda y, z: y.mul_(2)),
    ],
)
def test_changed_saved_values_are_noticed(function):
    def call(lib):
        x = leaf(lib, 3)
        function(x)
        return x.grad

    both(call)


@pytest.mark.parametrize(
    "put",
    [
        lambda lib, b, v: b.__setitem__(0, v),
        lambda lib, b, v: b.__setitem__(lib.tensor([0, 1]), v),
        lambda lib, b, v: b.__setitem__(b > 1, v[0]),
        lambda lib, b, v: b.index_put_((lib.tensor([0]), lib.tensor([1])), v[:1], accumulate=True),
        lambda lib, b, v: b.masked_fill_(b > 1, v[0]),
        lambda lib, b, v: b.copy_(v),
    ],
)
def test_values_that_were_put_somewhere_may_change(put):
    """Their gradients need none of their elements, nor those that they replaced."""

    def call(lib):
        x, base = leaf(lib, 3), leaf(lib, 2, 3)
        v, b = x * 1, base * 1
        put(lib, b, v)
        v.mul_(2)
        b.sum().backward()
        return x.grad, base.grad

    both(call)


@pytest.mark.parametrize(
    "change",
    [
        lambda y, v: y.mul_(2),
        lambda y, v: v.mul_(2),
        lambda y, v: y.__setitem__(0, 5.0),
        lambda y, v: y[1:].mul_(2),
        lambda y, v: v[:1].mul_(2),
        lambda y, v: (v.mul_(2), y.mul_(3), y[:1].neg_()),
    ],
)
@pytest.mark.parametrize("of", ["base", "view"])
def test_gradients_are_retained_after_changes(of, change):
    """Of the base and of the view, whichever of them, or of its views, an op changed in place."""

    def call(lib):
        x = leaf(lib, 3)
        y = x * 2
        v = y[:2]
        kept = y if of == "base" else v
        kept.retain_grad()
        change(y, v)
        (y * y).sum().backward(retain_graph=True)
        (v * v).sum().backward()
        return x.grad, kept.grad, kept.retains_grad

    both(call)


def test_changes_through_data_are_not_noticed():
    both(lambda lib: changed(leaf(lib, 3) * 2, lambda y: y.sin(), lambda y, z: y.data.add_(1)))


def changed(y, compute, change):
    z = compute(y)
    change(y, z)
    z.sum().backward()


def test_changed_leaf_is_noticed():
    def call(lib):
        x, w = leaf(lib, 2), leaf(lib, 2)
        y = (x * w).sum()
        with lib.no_grad():
            w.add_(1)
        y.backward()

    both(call)


@pytest.mark.parametrize("whole", [True, False])
def test_bits_as_whole_numbers_have_no_history(whole):
    """Neither are they refused, nor do they get the history of what they show."""

    def call(lib):
        x = leaf(lib, 4)
        y = x if whole else x * 2
        bits = y.view(lib.int32)
        bits.add_(1)
        if not whole:
            y.mul_(2)
        return bits.requires_grad, bits + 0, y.detach()

    both(call)


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, x: lib.cat([x, x], out=lib.empty(0)),
        lambda lib, x: lib.stack((lib.ones(3), x), out=lib.empty(0)),
        lambda lib, x: lib.add(lib.ones(3), other=x, out=lib.empty(0)),
        lambda lib, x: lib.hstack([x], out=lib.empty(0)),
    ],
)
def test_out_is_refused_wherever_a_recorded_operand_stands(call):
    both(lambda lib: call(lib, leaf(lib, 3)))
    with torch.no_grad(), pt.no_grad():
        both(lambda lib: call(lib, leaf(lib, 3)))


@pytest.mark.parametrize(
    "compute",
    [
        lambda lib, x: lib.nn.functional.embedding(lib.tensor([[0, 1]]), x),
        lambda lib, x: x.roll(1),
        lambda lib, x: x.put(lib.tensor([0]), lib.tensor([2.0], dtype=x.dtype)),
        lambda lib, x: lib.nn.functional.unfold(x[None, None], 2),
        lambda lib, x: lib.nn.functional.fold(x.reshape(1, 4, 3), (2, 4), 2),
    ],
)
def test_writes_to_results_of_compositions(compute):
    """What they end with is a view of something that nobody has seen: no view of a leaf."""

    def call(lib):
        x = leaf(lib, 4, 3)
        y = compute(lib, x)
        y.mul_(3)
        y.sin_().sum().backward()
        return y._is_view(), y, x.grad

    both(call)


@pytest.mark.parametrize("inner", [False, True])
def test_reshapes_stay_views(inner):
    """The result of a composition that shows its argument."""

    def call(lib):
        base = leaf(lib, 3, 4)
        x = base * 1 if inner else base
        y = x.reshape(-1)
        y.mul_(2)
        x.sum().backward()
        return y._is_view(), base.grad

    both(call)


@pytest.mark.parametrize("count", [3, 31, 32, 33, 40, 100])
def test_each_of_many_views_follows_a_change_of_their_base(count):
    def call(lib):
        x = lib.arange(200.0, requires_grad=True)
        base = x * 1
        kept = []
        for i in range(count):
            base[i]  # gone at once
            kept.append(base[i])
        base.mul_(3)
        names = {type(v.grad_fn).__name__ for v in kept}
        lib.stack(kept).sum().backward()
        return len(names), x.grad

    both(call)
