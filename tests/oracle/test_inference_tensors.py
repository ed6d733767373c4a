"""Inference tensors against PyTorch: what becomes one, and what that refuses."""

import contextlib
import copy
import pickle

import numpy as np
import pytest

import mindtorch_core as torch
from both import both, inside, made
from mindtorch_core.opdefs.define import definitions
from mindtorch_core.testing.comparison import assert_close, outcome
from mindtorch_core.testing.conformance.cases import Case
from mindtorch_core.testing.conformance.checks import is_mutable, tensors_of
from mindtorch_core.testing.samples import samples

pt = pytest.importorskip("torch")


def leaf(lib):
    return lib.ones(3, requires_grad=True)


# ---- what becomes an inference tensor -----------------------------------------------------------

# A normal tensor n, an inference tensor i, a leaf w: each call gives tensors.
CALLS = {
    "add": lambda lib, n, i, w: (n + 1, i + 1, w + 1, n + i, i + w),
    "sum": lambda lib, n, i, w: (n.sum(), i.sum(), w.sum()),
    "clone": lambda lib, n, i, w: (n.clone(), i.clone(), w.clone()),
    "several": lambda lib, n, i, w: (*lib.max(n.view(1, 3), 0), *lib.max(i.view(1, 3), 0)),
    "view": lambda lib, n, i, w: (n.view(3, 1), i.view(3, 1), i.view(3, 1).view(1, 3)),
    "index": lambda lib, n, i, w: (n[0], i[0], n[[0, 1]], i[[0, 1]], n[n > 0], i[i > 0]),
    "transpose": lambda lib, n, i, w: (n.view(3, 1).t(), i.view(3, 1).t()),
    "expand": lambda lib, n, i, w: (n.expand(2, 3), i.expand(2, 3)),
    "copying reshape": lambda lib, n, i, w: tuple(t.expand(2, 3).reshape(-1) for t in (n, i)),
    "viewing reshape": lambda lib, n, i, w: (n.reshape(3, 1), i.reshape(3, 1)),
    "split": lambda lib, n, i, w: (*n.split(2), *i.split(2)),
    "unbind": lambda lib, n, i, w: (*n.unbind(), *i.unbind()),
    "detach": lambda lib, n, i, w: (n.detach(), i.detach(), w.detach()),
    "itself": lambda lib, n, i, w: (n.contiguous(), i.contiguous(), n.to(lib.float32), i.float()),
    "converted": lambda lib, n, i, w: (n.to(lib.float64), i.to(lib.float64), n.long(), i.long()),
    "written": lambda lib, n, i, w: (n.add_(1), n.copy_(i), n.mul_(i), n.zero_()),
    "likes": lambda lib, n, i, w: (
        lib.zeros_like(n), lib.zeros_like(i), n.new_ones(2), i.new_ones(2), i.new_tensor([1.0]),
    ),
    "joined": lambda lib, n, i, w: (lib.cat((n, i)), lib.stack((n, i, w))),
    "composed": lambda lib, n, i, w: (n.softmax(0), i.softmax(0), i.mean(), i.var()),
    "factories": lambda lib, n, i, w: (lib.ones(2), lib.arange(3), lib.rand(2), lib.empty(2)),
    "data": lambda lib, n, i, w: (
        lib.tensor([1.0]), lib.tensor(2), lib.as_tensor([1, 2]), lib.as_tensor(n), lib.as_tensor(i),
    ),
    "arrays": lambda lib, n, i, w: (
        lib.from_numpy(np.ones(2)), lib.as_tensor(np.ones(2)), lib.tensor(np.ones(2)),
        lib.from_dlpack(np.ones(2)),
    ),
    "copies": lambda lib, n, i, w: (
        copy.deepcopy(n), copy.deepcopy(i), copy.deepcopy(w), pickle.loads(pickle.dumps(n)),
    ),
    "random state": lambda lib, n, i, w: (lib.get_rng_state(),),
}  # fmt: skip


@pytest.mark.parametrize("within", [True, False], ids=["inside", "outside"])
@pytest.mark.parametrize("name", CALLS)
def test_which_results_are_inference_tensors(name, within):
    def call(lib):
        n, i, w = lib.ones(3), made(lib), leaf(lib)
        with lib.inference_mode() if within else contextlib.nullcontext():
            results = CALLS[name](lib, n, i, w)
        return [
            (t.is_inference(), lib.is_inference(t), t.requires_grad, t.is_leaf)
            + ((t._is_view(),) if t.is_inference() else ())
            for t in results
        ]

    both(call)


CASES = [Case(d, s) for d in definitions() for s in samples(d)]


def tensors_among(values):
    for v in values:
        if torch.is_tensor(v):
            yield v
        elif isinstance(v, list | tuple):
            yield from tensors_among(v)


def as_inference(value):
    if torch.is_tensor(value):
        return inside(torch, value.clone)
    return [as_inference(v) for v in value] if isinstance(value, list | tuple) else value


def call_in_kind(case, kind):
    """The outcome of a sample call inside the mode, or outside it on inference tensors."""
    args, kwargs = case.sample.build("cpu")
    if kind != "inside, normal":
        args = tuple(map(as_inference, args))
        kwargs = {k: as_inference(v) for k, v in kwargs.items()}
    mode = contextlib.nullcontext() if kind == "outside, inference" else torch.inference_mode()
    with mode:
        return outcome(case.call, args, kwargs), list(tensors_among((*args, *kwargs.values())))


# They may write running statistics, which their schemas, PyTorch's, do not say.
UPDATING = {"batch_norm", "instance_norm", "native_batch_norm"}


@pytest.mark.parametrize("case", CASES[::3], ids=lambda c: c.id)
def test_every_op_gives_the_same_in_the_mode(case):
    """A result that shares memory with an argument is of its kind; new memory follows the mode."""
    args, kwargs = case.sample.build("cpu")
    wanted = outcome(case.call, args, kwargs)
    for kind in ("inside, normal", "inside, inference", "outside, inference"):
        found, given = call_in_kind(case, kind)
        writes = is_mutable(case.op) or case.op.base_name in UPDATING
        if kind.startswith("outside") and writes and given and isinstance(found, Exception):
            assert isinstance(found, RuntimeError)
            continue
        assert not (kind.startswith("outside") and is_mutable(case.op) and given)
        if isinstance(wanted, Exception):
            assert type(found) is type(wanted)
            continue
        if not case.op.traits.undefined:
            assert_close(found, wanted, equal_nan=True)
        for t in tensors_of(found):
            shared = [a for a in given if a.untyped_storage() is t.untyped_storage()]
            expected = shared[0].is_inference() if shared else kind.startswith("inside")
            assert t.is_inference() is expected


# ---- what inference tensors refuse --------------------------------------------------------------

REFUSED = {
    "add_": lambda lib, i, w: i.add_(1),
    "add_ of a normal tensor": lambda lib, i, w: i.add_(lib.ones(3)),
    "write to a view": lambda lib, i, w: i[:1].zero_(),
    "setitem": lambda lib, i, w: i.__setitem__(0, 5.0),
    "out": lambda lib, i, w: lib.add(lib.ones(3), 1, out=i),
    "version": lambda lib, i, w: i._version,
    "requires_grad_": lambda lib, i, w: i.requires_grad_(),
    "requires_grad": lambda lib, i, w: setattr(i, "requires_grad", True),
    "mul by a leaf": lambda lib, i, w: i * w,
    "leaf by": lambda lib, i, w: w * i,
    "mul_ of a result": lambda lib, i, w: (w * 1).mul_(i),
    "div": lambda lib, i, w: w / i,
    "pow": lambda lib, i, w: w**i,
    "matmul": lambda lib, i, w: i.expand(2, 3) @ w,
    "maximum": lambda lib, i, w: lib.maximum(w, i),
    "view of it": lambda lib, i, w: w * i.view(3),
    "index": lambda lib, i, w: w[i.long()].detach(),
    "register_hook": lambda lib, i, w: i.register_hook(print),
    "retain_grad": lambda lib, i, w: i.retain_grad(),
    "backward": lambda lib, i, w: i.sum().backward(),
    "add": lambda lib, i, w: (i + w).requires_grad,
    "cat": lambda lib, i, w: lib.cat((i, w)).requires_grad,
    "where": lambda lib, i, w: lib.where(lib.ones(3) > 0, w, i).requires_grad,
    "clone": lambda lib, i, w: (i.clone() * w).requires_grad,
    "copy of it": lambda lib, i, w: lib.zeros(3).copy_(i),
    "no_grad": lambda lib, i, w: lib.no_grad()(lambda: i * w)(),
    "requires_grad_(False)": lambda lib, i, w: i.requires_grad_(False),
    "linear": lambda lib, i, w: lib.nn.functional.linear(
        lib.ones(2, 3), i.expand(4, 3), w[0]
    ).sum(),
    "read": lambda lib, i, w: (i.tolist(), i.numpy(), float(i.sum())),
}


@pytest.mark.parametrize("name", REFUSED)
def test_inference_tensors_outside(name):
    both(lambda lib: REFUSED[name](lib, made(lib), leaf(lib)))


def test_refusals_say_what_to_do():
    i, w = made(torch), leaf(torch)
    with pytest.raises(
        RuntimeError, match=r"Inplace update to inference tensor outside Infer.*clone"
    ):
        i.add_(1)
    with pytest.raises(RuntimeError, match=r"cannot be saved for backward.*clone"):
        i * w
    with pytest.raises(
        RuntimeError, match=r"Setting requires_grad=True on inference tensor.*clone"
    ):
        i.requires_grad_()
    with pytest.raises(RuntimeError, match="do not track version counter"):
        i._version


def test_a_refused_write_changes_nothing():
    w = leaf(torch)
    z = w * 2
    z.mul_(made(torch) * 5)  # by a normal tensor, since it was computed outside
    with pytest.raises(RuntimeError, match="saved for backward"):
        z.mul_(made(torch))
    assert z.tolist() == [10, 10, 10]
    assert z._version == 1
    i = made(torch)
    with pytest.raises(RuntimeError, match="Inplace update"):
        i.add_(1)
    assert i.tolist() == [1, 1, 1]


def test_inference_tensors_are_written_freely_inside():
    def call(lib):
        i, n = made(lib), lib.ones(3)
        with lib.inference_mode():
            found = [i.add_(1) is i, i.mul_(n) is i, i.view(3, 1).zero_().is_inference()]
            i[0] = 7
            lib.add(n, n, out=n)
        return found, i, n, n.is_inference()

    both(call)


def test_writing_elements_that_share_memory_is_refused_inside_too():
    both(lambda lib: inside(lib, lambda: made(lib, 1).expand(3).add_(1)))


def test_normal_tensors_count_versions_inside():
    def call(lib):
        n, w = lib.ones(3), leaf(lib)
        z = w * 1
        with lib.inference_mode():
            n.add_(1)
            n.view(3, 1).add_(1)
            w.add_(1)
            z.add_(1)
        return n._version, w._version, z._version, z.grad_fn is None, n, w

    both(call)


def test_a_write_inside_is_noticed_by_backward():
    def call(lib):
        w = leaf(lib)
        z = w.exp()
        out = z.exp()
        with lib.inference_mode():
            z.add_(1)
        out.sum().backward()

    both(call)


def test_views_made_inside_are_not_written_outside():
    def call(lib):
        base = leaf(lib) * 1
        view = inside(lib, base.view, 3, 1)
        view.add_(1)

    both(call)
    with pytest.raises(RuntimeError, match="created in inference mode"):
        call(torch)


def test_views_of_plain_tensors_are_written_outside():
    def call(lib):
        n = lib.ones(3)
        view = inside(lib, n.view, 3, 1)
        view.add_(1)
        return n, n._version, view._is_view(), view.is_inference()

    both(call)


def test_an_inference_tensor_that_requires_grad():
    def call(lib):
        with lib.inference_mode():
            i = lib.ones(3, requires_grad=True)
            j = lib.ones(3).requires_grad_()
            doubled = i * 2
        out = i * 2 + leaf(lib)
        out.sum().backward()
        return (
            [i.is_inference(), i.requires_grad, i.is_leaf, j.requires_grad],
            [doubled.requires_grad, out.requires_grad, out.is_inference()],
            i.grad,
        )

    both(call)


# ---- what is detached outside the mode ----------------------------------------------------------

WRITES = {
    "mul_": lambda lib, t: t.mul_(2),
    "copy_": lambda lib, t: t.copy_(lib.zeros(2, 3)),
    "zero_": lambda lib, t: t.zero_(),
    "masked_fill_": lambda lib, t: t.masked_fill_(t > 1, 0),
    "relu_": lambda lib, t: lib.relu_(t),
    "resize_": lambda lib, t: t.resize_(2, 2),
    "set_": lambda lib, t: t.set_(lib.ones(2)),
    "out=": lambda lib, t: lib.add(lib.ones(2, 3), 1, out=t),
    "index": lambda lib, t: t.__setitem__(0, 5.0),
    "a view": lambda lib, t: t[0].mul_(2),
    "a leaf's": lambda lib, t: t.add_(lib.ones(2, 3, requires_grad=True)),
}
DETACHED = {
    "detach": lambda t: t.detach(),
    "data": lambda t: t.data,
    "twice": lambda t: t.detach().detach(),
    "contiguous": lambda t: t.detach().contiguous(),
    "a view of it": lambda t: t.detach().view(2, 3),
    "itself": lambda t: t,
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("way", DETACHED)
def test_what_is_detached_outside_may_be_written(way, write):
    """As weights that were made in the mode are, by ``weight.data.copy_``; it stays an inference tensor."""

    def after(lib):
        with lib.inference_mode():
            t = 2 * lib.ones(2, 3)
        found = DETACHED[way](t)
        try:
            WRITES[write](lib, found)
        except RuntimeError as error:
            return "refused", found.is_inference(), "outside InferenceMode" in str(error)
        version = None if write in ("set_", "resize_") else found._version
        return found.tolist(), found.is_inference(), found.requires_grad, version

    assert after(torch) == after(pt)


def test_what_is_detached_inside_may_not_be_written_outside():
    for lib in (torch, pt):
        with lib.inference_mode():
            t = lib.ones(3)
            found = t.detach(), t.data
        for each in found:
            with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside"):
                each.mul_(2)
