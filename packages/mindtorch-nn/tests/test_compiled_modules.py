"""Modules that `torch.compile` gives: calls are compiled, the rest is the original's."""

import copy
import io
import pickle

import pytest

import mindtorch_core as torch
from mindtorch_nn import modules as nn


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))


def test_it_computes_what_the_module_does():
    module, plain = network(), network()
    compiled = torch.compile(module)
    for i in range(12):
        x = torch.full((5, 3), float(i))
        found, wanted = compiled(x), plain(x)
        assert torch.equal(found, wanted)
        found.square().sum().backward()
        wanted.square().sum().backward()
    assert all(
        torch.equal(a.grad, b.grad)
        for a, b in zip(compiled.parameters(), plain.parameters(), strict=True)
    )
    assert torch.equal(module[1].running_mean, plain[1].running_mean)


def test_methods_are_compiled_by_what_compiled_the_module():
    module = network().eval()
    seen = []
    compiled = torch.compile(
        module, backend=lambda graph, inputs: seen.append(graph) or graph.forward
    )
    step = compiled.dynamo_ctx(lambda x: module(x).square().mean())
    x = torch.ones(2, 3)
    assert torch.equal(step(x), module(x).square().mean())
    assert len(seen) == 1


def test_it_is_the_module_otherwise():
    module = network()
    compiled = torch.compile(module)
    assert isinstance(compiled, nn.Module)
    assert isinstance(compiled, torch._dynamo.eval_frame.OptimizedModule)
    assert isinstance(compiled, torch._dynamo.OptimizedModule)
    assert not isinstance(module, torch._dynamo.OptimizedModule)
    assert compiled._orig_mod is module
    assert [*compiled.state_dict()] == [f"_orig_mod.{name}" for name in module.state_dict()]
    assert [*map(id, compiled.parameters())] == [*map(id, module.parameters())]
    compiled.eval()
    assert not module.training
    assert not compiled.training
    compiled.train()
    assert module[1].training
    compiled.extra = 3
    assert module.extra == 3
    del compiled.extra
    assert not hasattr(module, "extra")
    with pytest.raises(AttributeError, match="nothing_like_it"):
        compiled.nothing_like_it
    assert compiled.load_state_dict(compiled.state_dict()).missing_keys == []
    compiled.double()
    assert module[0].weight.dtype is torch.float64
    assert "OptimizedModule" in repr(compiled)


def test_copies_and_files():
    compiled = torch.compile(network().eval())
    x = torch.ones(2, 3)
    for other in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        assert isinstance(other, torch._dynamo.OptimizedModule)
        assert other._orig_mod is not compiled._orig_mod
        assert torch.equal(other(x), compiled(x))
    file = io.BytesIO()
    torch.save(compiled.state_dict(), file)
    file.seek(0)
    assert [*torch.load(file)] == [*compiled.state_dict()]


def test_hooks_of_the_original_run():
    module, calls = network(), []
    module.register_forward_hook(lambda m, args, out: calls.append(m))
    torch.compile(module)(torch.ones(2, 3))
    assert calls == [module]


def test_compile_in_place():
    module = network()
    module.compile(mode="reduce-overhead")
    plain = network()
    for _ in range(6):
        x = torch.ones(4, 3)
        assert torch.equal(module(x), plain(x))
    assert not isinstance(module, torch._dynamo.OptimizedModule)


def test_its_length_is_that_of_the_original():
    assert len(torch.compile(nn.Sequential(nn.ReLU(), nn.ReLU()))) == 2
    assert torch.compile(nn.Linear(2, 2))
    with pytest.raises(TypeError, match="no len"):
        len(torch.compile(nn.Linear(2, 2)))
