"""Backward where gradients are none, what was saved is a list, names are odd, or a walk fails half-way."""

import re
from collections import OrderedDict, UserDict, namedtuple

import pytest

import mindtorch_core as torch
from both import both, leaf
from mindtorch_core.testing.comparison import outcome

pt = pytest.importorskip("torch")


def same_words(call):
    """Both refuse a call with the same type and words."""
    found, expected = (outcome(call, lib) for lib in (torch, pt))
    assert isinstance(expected, Exception)
    assert type(found).__name__ == type(expected).__name__
    assert str(found).replace("mindtorch_core", "torch") == str(expected)


@pytest.mark.parametrize("kind", [UserDict, OrderedDict, dict, tuple])
def test_inputs_in_containers(kind):
    def of(x):
        return (x, x) if kind is tuple else kind(a=x)

    def call(lib):
        x = leaf(lib, 3)
        (x * x).sum().backward(inputs=of(x))
        return x.grad, lib.autograd.grad((x * x).sum(), of(x))

    found, expected = (outcome(call, lib) for lib in (torch, pt))
    if isinstance(expected, Exception):
        same_words(call)
    else:
        both(lambda lib: call(lib)[0])
        assert isinstance(found[1], type(expected[1]))


def without_gradient(lib):
    class WithoutGradient(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return None

    return WithoutGradient.apply


@pytest.mark.parametrize("changed", ["part", "whole"])
@pytest.mark.parametrize("used", ["part", "whole"])
def test_no_gradient_reaches_what_was_changed_in_place(changed, used):
    def call(lib):
        x = leaf(lib, 4)
        tensors = {"whole": x * 1}
        tensors["part"] = tensors["whole"][:2]
        tensors[changed].mul_(3)
        without_gradient(lib)(tensors[used]).sum().backward()
        return x.grad

    both(call)


def taken(lib):
    x, at = leaf(lib, 6), lib.tensor([1, 2])
    return x, at, x[at]


def test_a_list_that_was_saved():
    def call(lib):
        _, at, y = taken(lib)
        (saved,) = y.grad_fn._saved_indices
        return isinstance(y.grad_fn._saved_indices, tuple), saved is at, saved

    both(call)


def test_a_list_that_was_changed_since():
    def look(lib):
        _, at, y = taken(lib)
        at.add_(1)
        return y.grad_fn._saved_indices

    def walk(lib):
        _, at, y = taken(lib)
        at.add_(1)
        y.sum().backward()

    both(look)
    both(walk)


def test_a_list_has_no_hooks_of_its_own():
    with pytest.raises(TypeError, match="saved as 'indices' is no single tensor"):
        taken(torch)[2].grad_fn._raw_saved_indices.register_hooks(lambda t: t, lambda t: t)


@pytest.mark.parametrize("moved", [0, 1])
def test_a_list_goes_through_hooks(moved):
    def call(lib):
        seen = []

        def pack(t):
            seen.append(t.tolist())
            return t + moved

        with lib.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            x, _, y = taken(lib)
        y.sum().backward()
        return seen, x.grad

    both(call)


def test_nodes_as_text():
    def call(lib):
        node = (leaf(lib, 2) * 2).grad_fn
        return [re.sub("0x[0-9a-f]+", "", repr(n)) for n in (node, node.next_functions[0][0])]

    assert call(torch) == call(pt)


def test_strided_views_of_bases_that_repeat_elements():
    def call(lib):
        x = leaf(lib, 3)
        (x.expand(2, 3).as_strided((3,), (1,), 0) * leaf(lib, 3).detach()).sum().backward()
        y = leaf(lib, 4)
        twice = y.as_strided((3, 2), (1, 1))
        (twice.as_strided((2,), (1,), 1) * leaf(lib, 2).detach()).sum().backward()
        return x.grad, y.grad

    both(call)


def test_callbacks_of_a_walk_that_failed_are_forgotten():
    def call(lib):
        events = []
        engine = lib.autograd.Variable._execution_engine

        class Failing(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, g):
                raise ValueError("the walk fails")

        x = leaf(lib, 2)
        y = Failing.apply(x) * 2
        y.register_hook(lambda g: engine.queue_callback(lambda: events.append("failed")))
        with pytest.raises(ValueError, match="the walk fails"):
            y.sum().backward()
        z = x * 2
        z.register_hook(lambda g: engine.queue_callback(lambda: events.append("ended")))
        z.sum().backward()
        return events, x.grad.tolist()

    assert call(torch) == call(pt) == (["ended"], [2, 2])


def test_functions_without_a_rule_for_vmap():
    same_words(lambda lib: lib.autograd.Function.vmap(None, (0,), lib.ones(2)))


def test_functions_that_may_write():
    def call(lib):
        kind = lib.autograd.function.InplaceFunction
        return kind(True).inplace, kind(inplace=False).inplace, kind().inplace

    both(call)


def test_conjugates_among_keyword_arguments_and_outputs():
    def call(lib):
        x = lib.tensor([1 + 2j, 3 - 1j]).conj()
        found = [
            lib.sum(x, dim=0, dtype=lib.complex128),
            lib.cumsum(x, dim=0),
            lib.add(x, other=x, alpha=2j),
        ]
        out = lib.zeros(0, dtype=lib.complex64).conj()
        made = lib.mul(x, other=x, out=out)
        again = x.reshape(2)
        return [
            *found,
            out,
            made is out,
            out.is_conj(),
            again,
            again.is_conj(),
            x.contiguous().is_conj(),
        ]

    both(call)


def test_a_scaler_that_has_scaled_takes_another_state():
    state = {
        "scale": 2.0, "growth_factor": 3.0, "backoff_factor": 0.5, "growth_interval": 7,
        "_growth_tracker": 5,
    }  # fmt: skip

    def call(lib):
        scaler = lib.amp.GradScaler("cpu", init_scale=4.0)
        before = scaler.scale(lib.ones(1))
        scaler.load_state_dict(state)
        return before, scaler.get_scale(), scaler.scale(lib.ones(1)), scaler.state_dict()

    both(call)


def test_a_scaler_keeps_named_tuples():
    pair = namedtuple("pair", "a b")(torch.ones(1), torch.ones(2))
    found = torch.amp.GradScaler("cpu", init_scale=4.0).scale(pair)
    assert type(found) is type(pair)
    assert found.b.tolist() == [4, 4]
