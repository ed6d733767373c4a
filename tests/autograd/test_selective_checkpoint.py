"""Checkpoints that keep what some ops have computed."""

import importlib
from functools import partial

import pytest

import mindtorch_core as torch
from mindtorch_core.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)

POLICIES = ["MUST_SAVE", "PREFER_RECOMPUTE", "MUST_CPU_OFFLOAD", "True", "False", "list"]


def leaf(lib=torch):
    return lib.tensor([[0.1, 0.2], [0.3, -0.4]], dtype=lib.float64, requires_grad=True)


def policy_of(lib, kind):
    named = importlib.import_module(f"{lib.__name__}.utils.checkpoint").CheckpointPolicy
    if kind == "list":
        return [lib.ops.aten.mm.default, lib.ops.aten.exp.default]
    answer = kind == "True" if kind in ("True", "False") else getattr(named, kind)
    return lambda context, op, *args, **kwargs: answer


def ran(lib, kind, function):
    """What a checkpointed function gives, its gradient, and which of its ops ran in backward."""
    module = importlib.import_module(f"{lib.__name__}.utils.checkpoint")
    contexts = partial(module.create_selective_checkpoint_contexts, policy_of(lib, kind))
    x = leaf(lib)
    y = module.checkpoint(function, x, use_reentrant=False, context_fn=contexts)
    y.sum().backward()
    return y.tolist(), x.grad.tolist()


FUNCTIONS = {
    "products": lambda x: x.mm(x).exp().mm(x).sin(),
    "views": lambda x: x.t().contiguous().view(-1).exp() * 2,
    "several results": lambda x: x.exp().max(1).values * x.mm(x).split(1)[1],
}


@pytest.mark.parametrize("kind", POLICIES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_and_gradients_are_those_without(kind, name):
    function = FUNCTIONS[name]
    x = leaf()
    y = function(x)
    y.sum().backward()
    assert ran(torch, kind, function) == (y.tolist(), x.grad.tolist())


@pytest.mark.parametrize("kind", POLICIES)
def test_the_same_as_in_pytorch(kind):
    pt = pytest.importorskip("torch")
    for function in FUNCTIONS.values():
        for ours, theirs in zip(ran(torch, kind, function), ran(pt, kind, function), strict=True):
            assert torch.tensor(ours).allclose(torch.tensor(theirs))


def test_what_is_kept_is_not_computed_again():
    asked, calls = [], []

    class Count(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            calls.append("mine")
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g

    def policy(context, op, *args, **kwargs):
        asked.append((op.name(), context.is_recompute, context.op_output.shape))
        return op.name() == "aten::mm"

    from mindtorch_core.utils._python_dispatch import TorchDispatchMode

    class Seen(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            calls.append(func.name())
            return func(*args, **(kwargs or {}))

    def run(x):
        return Count.apply(x.mm(x).exp()).sin()

    x = leaf()
    contexts = partial(create_selective_checkpoint_contexts, policy)
    y = checkpoint(run, x, use_reentrant=False, context_fn=contexts).sum()
    names = [name for name, _, _ in asked]
    assert names[:2] == ["aten::mm", "aten::exp"]
    assert "aten::sin" in names
    assert not any(again for _, again, _ in asked)
    assert {shape for _, _, shape in asked} == {(2, 2)}
    before = len(asked)
    calls.clear()
    with Seen():
        y.backward()
    assert len(asked) == before
    assert calls.count("mine") == 1
    assert calls.count("aten::exp") == 1
    assert calls.count("aten::mm") == 2  # those of the gradient


def test_what_was_kept_must_stay_as_it_was():
    def run(x, kept):
        kept.append(x.exp())
        return kept[-1] * x

    for allowed in (False, True):
        contexts = partial(
            create_selective_checkpoint_contexts,
            [torch.ops.aten.exp.default],
            allow_cache_entry_mutation=allowed,
        )
        x, kept = leaf(), []
        y = checkpoint(run, x, kept, use_reentrant=False, context_fn=contexts).sum()
        kept[0].detach().add_(1)
        if allowed:
            y.backward()
        else:
            with pytest.raises(RuntimeError, match="has been mutated"):
                y.backward()


def test_an_op_in_place_behind_what_is_kept():
    contexts = partial(create_selective_checkpoint_contexts, [torch.ops.aten.mm.default])

    def run(x):
        return x.mm(x).add_(1).exp()

    y = checkpoint(run, leaf(), use_reentrant=False, context_fn=contexts).sum()
    with pytest.raises(RuntimeError, match="has been mutated"):
        y.backward()


def test_backward_once():
    contexts = partial(create_selective_checkpoint_contexts, [torch.ops.aten.exp.default])
    y = checkpoint(lambda x: x.exp() * x, leaf(), use_reentrant=False, context_fn=contexts).sum()
    y.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="backward an extra time"):
        y.backward()


def test_another_function_in_backward():
    runs = []

    def run(x):
        runs.append(1)
        return x.exp() * x if len(runs) == 1 else x.exp().exp() * x

    contexts = partial(create_selective_checkpoint_contexts, lambda *a, **k: False)
    y = checkpoint(run, leaf(), use_reentrant=False, context_fn=contexts).sum()
    with pytest.raises(RuntimeError, match=r"encountered during backward"):
        y.backward()


def test_what_is_no_policy():
    with pytest.raises(TypeError, match="either a function or a list of ops"):
        create_selective_checkpoint_contexts(3)
    with pytest.raises(ValueError, match=r"change it to `torch\.ops\.aten\.mm\.default`"):
        create_selective_checkpoint_contexts([torch.ops.aten.mm])
    with pytest.raises(ValueError, match="Expected op in `op_list` to be an OpOverload"):
        create_selective_checkpoint_contexts([torch.mm])
    assert CheckpointPolicy.MUST_SAVE.value == 0
