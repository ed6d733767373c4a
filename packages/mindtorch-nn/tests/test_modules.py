"""What modules do here beyond PyTorch's scenarios, and with no other library."""

import copy
import pickle
import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core import nn


def test_an_error_says_in_which_module_it_happened():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Sequential(nn.Identity(), nn.Linear(4, 2))])

        def forward(self, x):
            return self.layers[0](x)  # the list is not called

    with pytest.raises(RuntimeError) as caught:
        Net()(torch.ones(1, 3))
    (note,) = caught.value.__notes__
    assert note == "in layers.0.1 (Linear(in_features=4, out_features=2, bias=True))"
    with pytest.raises(RuntimeError) as caught:
        nn.Linear(4, 2)(torch.ones(1, 3))
    assert caught.value.__notes__ == ["in Linear(in_features=4, out_features=2, bias=True)"]


def test_an_error_of_a_module_with_parts_names_its_class():
    class Bad(nn.Module):
        def __init__(self):
            super().__init__()
            self.part = nn.ReLU()

        def forward(self, x):
            raise ValueError("no")

    with pytest.raises(ValueError, match=r"^no") as caught:
        nn.Sequential(Bad())(1)
    assert caught.value.__notes__ == ["in 0 (Bad(...))"]


def test_ops_on_parameters_give_tensors():
    p = nn.Parameter(torch.ones(2))
    assert type(p * 2) is type(p.detach()) is type(p[0]) is torch.Tensor
    assert p.is_leaf
    p.data.mul_(3)
    assert p.tolist() == [3, 3]
    with torch.no_grad():
        assert p.add_(1) is p
    assert pickle.loads(pickle.dumps(p)).tolist() == [4, 4]
    assert copy.deepcopy(p).requires_grad
    assert repr(p).startswith("Parameter containing:\ntensor([4., 4.]")


def test_training_with_a_module():
    torch.manual_seed(0)
    m = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
    x = torch.linspace(-1, 1, 32).unsqueeze(1)
    y = 3 * x - 1
    first = last = None
    for _ in range(200):
        loss = nn.functional.mse_loss(m(x), y)
        m.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in m.parameters():
                p -= 0.2 * p.grad
        last = loss.item()
        first = last if first is None else first
    assert last < first / 5


def test_a_module_in_a_pipeline_gives_the_same():
    torch.manual_seed(0)
    m = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.LayerNorm(4), nn.Linear(4, 2))
    x = torch.rand(5, 3)
    expected = m(x).tolist()
    with torch.pipeline():
        out = m(x)
        loss = out.square().sum()
        assert out._pending
        loss.backward()
    for a, b in zip(out.detach().tolist(), expected, strict=True):
        assert a == pytest.approx(b)
    assert m[0].weight.grad is not None


def test_a_recurrent_layer_in_a_pipeline_gives_the_same():
    torch.manual_seed(0)
    m = nn.LSTM(3, 4)
    x = torch.rand(6, 2, 3)
    expected, _ = m(x)
    with torch.pipeline():
        found, _ = m(x)
    assert (found - expected).abs().max().item() < 1e-6


def test_memory_that_processes_share():
    m = nn.Linear(1, 1)
    assert all(p.is_shared() for p in m.share_memory().parameters())
    with pytest.raises(RuntimeError, match="only available on CPU"):
        nn.Linear(1, 1, device="meta").share_memory()


def test_compile_calls_the_module():
    m = nn.Linear(2, 1)
    expected = m(torch.ones(1, 2)).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # once in a process it is said that nothing is compiled
        m.compile()
    assert m(torch.ones(1, 2)).tolist() == expected
    assert copy.deepcopy(m)(torch.ones(1, 2)).tolist() == expected


def test_a_copy_of_a_parametrized_module_outlives_the_original():
    m = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
    c = copy.deepcopy(m)
    nn.utils.parametrize.remove_parametrizations(m, "weight")
    assert c.weight.tolist() == m.weight.tolist()
    assert type(m) is nn.Linear
    assert c(torch.ones(1, 2)).shape == (1, 2)


def test_a_failed_hook_registration_leaves_no_trace():
    m = nn.Linear(2, 2)
    with pytest.raises(ValueError, match="smaller than the number"):
        nn.utils.prune.l1_unstructured(m, "weight", amount=99)
    assert [n for n, _ in m.named_parameters()] == ["bias", "weight"]
    assert not nn.utils.prune.is_pruned(m)


def test_one_device_is_no_parallel():
    m = nn.Linear(2, 2)
    p = nn.DataParallel(m)
    assert list(p.state_dict()) == ["module.weight", "module.bias"]
    assert p(torch.ones(1, 2)).tolist() == m(torch.ones(1, 2)).tolist()
    with pytest.raises(NotImplementedError, match="names 2 of them"):
        nn.DataParallel(m, device_ids=[0, 1])


def test_handles_of_hooks_survive_a_copy():
    m = nn.Linear(1, 1)
    calls = []
    m.handle = m.register_forward_hook(lambda *a: calls.append(1))
    c = copy.deepcopy(m)
    c.handle.remove()
    c(torch.ones(1))
    assert calls == []
    m(torch.ones(1))
    assert calls == [1]


@pytest.mark.parametrize("name", sorted(nn.modules.__all__))
def test_every_public_class_is_documented(name):
    kind = getattr(nn, name)
    assert kind.__doc__
    assert kind.__module__.startswith("mindtorch_nn.modules.")


def test_gradients_through_complex_parameters():
    """The conjugate of a parameter is taken as that of any tensor."""
    grads = []
    for made in (nn.Parameter, torch.Tensor.requires_grad_):
        x = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
        w = made(torch.tensor([2 - 1j, 1 + 1j]))
        (x * w).sum().abs().backward()
        grads.append((x.grad, w.grad))
    assert torch.equal(grads[0][0], grads[1][0])
    assert torch.equal(grads[0][1], grads[1][1])


def test_an_argument_that_the_base_class_is_given_already_is_given_twice():
    with pytest.raises(TypeError, match=r"__init__\(\) got multiple values for argument 'mode'"):
        torch.nn.LSTM(2, 3, mode="LSTM")
