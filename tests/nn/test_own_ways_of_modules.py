"""What modules do otherwise than PyTorch's, or say in other words, and what only they can be asked."""

import copy
import gc
import pickle

import pytest

import mindtorch_core as torch
from mindtorch_core import nn
from mindtorch_nn.modules.hooks import WrappedHook


def linear():
    made = nn.Linear(2, 2)
    nn.init.ones_(made.weight)
    nn.init.zeros_(made.bias)
    return made


@pytest.mark.parametrize(
    ("pre", "post", "of_input", "of_weight"),
    [
        (lambda m, g: g[0] * 2, None, [4.0, 4.0], 2.0),
        (None, lambda m, g, o: g[0] * 3, [6.0, 6.0], 1.0),
        (lambda m, g: (g[0] * 2,), lambda m, g, o: g[0] + o[0], [6.0, 6.0], 2.0),
    ],
)
def test_hooks_may_give_a_tensor_for_a_tuple_of_one(pre, post, of_input, of_weight):
    m = linear()
    if pre:
        m.register_full_backward_pre_hook(pre)
    if post:
        m.register_full_backward_hook(post)
    x = torch.ones(1, 2, requires_grad=True)
    m(x).sum().backward()
    assert x.grad.tolist() == [of_input]
    assert m.weight.grad.tolist() == [[of_weight] * 2] * 2


@pytest.mark.parametrize(
    "given", [lambda o: (o,), lambda o: o, lambda o: (None, o), lambda o: [None]]
)
def test_gradients_that_nobody_asked_for(given):
    """A hook of a module whose inputs require none has none to change."""
    m = linear()
    m.register_full_backward_hook(lambda m, i, o: given(o[0]))
    with (
        pytest.warns(UserWarning, match="since no inputs require gradients"),
        pytest.raises(RuntimeError, match="should always return None or None for all gradients"),
    ):
        m(torch.ones(1, 2)).sum().backward()


def test_none_for_gradients_that_nobody_asked_for():
    m, seen = linear(), []
    m.register_full_backward_hook(lambda m, i, o: seen.append((i, o[0].tolist())))
    m.register_full_backward_hook(lambda m, i, o: (None,))
    with pytest.warns(UserWarning, match="since no inputs require gradients"):
        m(torch.ones(1, 2)).sum().backward()
    assert seen == [((None,), [[1.0, 1.0]])]


def test_a_hook_that_outlives_its_module():
    module = nn.ReLU()
    hook = WrappedHook(lambda *args: args, module)
    assert hook(3) == copy.copy(hook)(3) == (module, 3)
    assert pickle.loads(pickle.dumps(WrappedHook(max)))(5, 6) == 6
    del module
    gc.collect()
    with pytest.raises(RuntimeError, match="call the hook of a dead Module"):
        hook(3)
    with pytest.raises(RuntimeError, match="revive the hook of a dead Module"):
        copy.copy(hook)


def test_replicas_of_recurrent_layers():
    """What parallel modules of old are made of: without parameters, and with lists of their own."""
    m = nn.LSTM(2, 2)
    replica = m._replicate_for_data_parallel()
    with pytest.warns(UserWarning, match="created with nn.DataParallel.. has no effect"):
        replica.zero_grad()
    assert replica._flat_weights is not m._flat_weights
    assert replica._flat_weights == m._flat_weights
    assert replica._flat_weights_names is not m._flat_weights_names
    assert not replica._parameters
    assert len(m._parameters) == 4


def test_a_state_that_does_not_fit_changes_nothing():
    m = nn.Module()
    m.s = nn.Parameter(torch.tensor(1.0))
    with pytest.raises(RuntimeError, match="Unexpected key"):
        m.load_state_dict({"s": torch.tensor([3.0]), "_extra_state": 3})
    assert m.s.item() == 1.0
    m.load_state_dict({"s": torch.tensor([3.0])})
    assert m.s.item() == 3.0


@pytest.mark.parametrize("size", [0, -1, (0, 2), (2, 0)])
def test_pools_without_elements(size):
    with pytest.raises(ValueError, match="kernel_size must be greater than 0, but got"):
        nn.FractionalMaxPool2d(size, output_size=2)
