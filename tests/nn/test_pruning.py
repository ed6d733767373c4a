"""Pruning of parameters agrees with PyTorch's: amounts, dimensions, scores, masks on masks, errors."""

import pytest
import torch.nn.utils.prune  # noqa: F401  (PyTorch does not import it itself)
from collecting import Scenarios
from module_scenarios import attempt, fill, numbers, play

scenario = Scenarios()
AMOUNTS = (0, 0.0, 1, 3, 0.4, 1.0, 12, 13, -1, -0.5, 1.5, "x", None)


def uneven(t, model):
    """A module with parameters of which no two are equally far from zero."""
    with t.no_grad():
        for p in fill(t, model).parameters():
            p += 0.01
    return model


def linear(t):
    return uneven(t, t.nn.Linear(4, 3))


def pruned(call):
    """What is left of a weight, or the error."""
    what, found = attempt(call)
    return [what, numbers(found.weight) if what == "returned" else found]


@scenario
def amounts(t):
    p = t.nn.utils.prune
    found = []
    for amount in AMOUNTS:
        t.manual_seed(5)
        found += [
            pruned(lambda a=amount: p.l1_unstructured(linear(t), "weight", a)),
            pruned(lambda a=amount: p.random_unstructured(linear(t), "weight", a)),
            pruned(lambda a=amount: p.random_structured(linear(t), "weight", a, 0)),
            pruned(lambda a=amount: p.ln_structured(linear(t), "weight", a, 1, 1)),
        ]
    return found


@scenario
def dimensions_and_norms(t):
    p = t.nn.utils.prune
    found = []
    for dim in (0, 1, -1, -2, 2):
        t.manual_seed(7)
        found += [pruned(lambda d=dim: p.random_structured(linear(t), "weight", 2, d))]
        for n in (1, 2, float("inf"), -float("inf"), "fro"):
            found += [pruned(lambda d=dim, n=n: p.ln_structured(linear(t), "weight", 2, n, d))]
    conv = uneven(t, t.nn.Conv2d(2, 3, 2))
    p.ln_structured(conv, "weight", 1, 2, dim=1)
    p.ln_structured(conv, "weight", 1, 2, dim=0)
    return [
        *found,
        numbers(conv.weight),
        attempt(lambda: p.ln_structured(conv, "bias", 1, 2, 0)),
        attempt(lambda: p.ln_structured(linear(t), "weight", 1, 2, -3))[0],
    ]


@scenario
def scores_that_decide(t):
    p = t.nn.utils.prune
    other = t.arange(12.0).reshape(3, 4).flip(0)
    a, b = linear(t), linear(t)
    p.global_unstructured(
        [(a, "weight"), (b, "weight")], p.L1Unstructured, {(b, "weight"): other}, amount=9
    )
    p.global_unstructured([(a, "weight"), (b, "bias")], p.L1Unstructured, amount=0.5)
    method = p.L1Unstructured(amount=2)
    return [
        pruned(lambda: p.l1_unstructured(linear(t), "weight", 5, other)),
        pruned(lambda: p.ln_structured(linear(t), "weight", 2, 1, 0, other)),
        attempt(lambda: p.l1_unstructured(linear(t), "weight", 5, other[:2])),
        numbers(a.weight),
        numbers(b.weight),
        numbers(b.bias),
        numbers(method.prune(linear(t).weight)),
        numbers(method.prune(linear(t).weight, (other > 3).float())),
        numbers(method.prune(linear(t).weight, importance_scores=other)),
        attempt(lambda: method.prune(linear(t).weight, importance_scores=other[:1])),
        attempt(lambda: p.global_unstructured(5, p.L1Unstructured, amount=1))[0],
        attempt(lambda: p.global_unstructured([(a, "weight")], p.L1Unstructured, 5, amount=1)),
        attempt(lambda: p.global_unstructured([(a, "weight")], p.LnStructured, amount=1, n=1))[0],
    ]


@scenario
def masks_on_masks(t):
    p = t.nn.utils.prune
    m = linear(t)
    found = []
    for prune in (
        lambda: p.l1_unstructured(m, "weight", 2),
        lambda: p.l1_unstructured(m, "weight", 0.5),
        lambda: p.ln_structured(m, "weight", 0.5, 1, -1),
        lambda: p.ln_structured(m, "weight", 1, 2, 0),
        lambda: p.custom_from_mask(m, "weight", t.eye(3, 4)),
        lambda: p.identity(m, "weight"),
        lambda: p.l1_unstructured(m, "bias", 1),
    ):
        found += [attempt(prune)[0], numbers(m.weight), numbers(m.weight_mask)]
    (container, of_bias) = m._forward_pre_hooks.values()
    kinds = [type(each).__name__ for each in container]
    found += [type(container).__name__, type(of_bias).__name__, len(container), kinds]
    found += [type(container[1]).__name__, p.is_pruned(m), p.is_pruned(t.nn.Sequential(m))]
    alone = t.nn.Sequential(linear(t))
    found += [p.is_pruned(alone), attempt(lambda: p.remove(m, "x"))[0]]
    with t.no_grad():
        m.weight_orig += 1
    m(t.ones(1, 4))
    found += [numbers(m.weight)]
    p.remove(m, "weight")
    return [*found, numbers(m.weight), sorted(m.state_dict()), p.is_pruned(m)]


@scenario
def containers(t):
    p = t.nn.utils.prune
    one, other = p.L1Unstructured(2), p.L1Unstructured(1)
    one._tensor_name, other._tensor_name = "weight", "bias"
    container = p.PruningContainer(one)
    ones = t.ones(3, 4)
    strange = p.L1Unstructured(1)
    strange._tensor_name, strange.PRUNING_TYPE = "weight", "x"
    without = p.CustomFromMask(ones)
    without._tensor_name, without.PRUNING_TYPE = "weight", "structured"
    return [
        numbers(container.compute_mask(linear(t).weight, ones)),
        attempt(lambda: container.add_pruning_method(5)),
        attempt(lambda: container.add_pruning_method(other))[0],
        attempt(lambda: p.PruningContainer(strange).compute_mask(linear(t).weight, ones)),
        attempt(lambda: p.PruningContainer(without).compute_mask(linear(t).weight, ones)),
        attempt(lambda: p.BasePruningMethod())[0],
        len(container),
    ]


@scenario
def amounts_that_are_checked(t):
    p = t.nn.utils.prune
    return [
        attempt(lambda check=check, amount=amount: check(amount))[0]
        for amount in (0, 3, 9, 0.0, 0.25, 1.0, 1.5, -1, -0.5, "x", True)
        for check in (
            p._validate_pruning_amount_init,
            lambda amount: p._validate_pruning_amount(amount, 8),
            lambda amount: p._compute_nparams_toprune(amount, 8),
        )
        if not isinstance(amount, str) or check is p._validate_pruning_amount_init
    ]


@pytest.mark.parametrize("scenario", scenario, ids=lambda s: s.__name__)
def test_agrees_with_pytorch(scenario):
    play(scenario)
