"""Means and factors that `native_group_norm` gives beside its result have gradients, alone and together."""

import itertools

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

SHAPE, GROUPS = (2, 6, 2, 2), 3
EPS = 0.1


def composed(x, weight, bias):
    """The same of plain ops of PyTorch's."""
    rows = x.reshape(SHAPE[0], GROUPS, -1)
    mean = rows.mean(2)
    factor = (rows.var(2, correction=0) + EPS).rsqrt()
    result = ((rows - mean.unsqueeze(2)) * factor.unsqueeze(2)).reshape(SHAPE)
    return result * weight[:, None, None] + bias[:, None, None], mean, factor


def native(x, weight, bias):
    return torch.native_group_norm(x, weight, bias, 2, 6, 4, GROUPS, EPS)


def played(lib, norm, chosen, wanted):
    given = [lib.linspace(-2, 3, n, dtype=lib.float64).sin() for n in (48, SHAPE[1], SHAPE[1])]
    given[0] = given[0].reshape(SHAPE)
    given = [t.requires_grad_(flag) for t, flag in zip(given, wanted, strict=True)]
    results = norm(*given)
    loss = 0
    for i in chosen:
        towards = lib.linspace(1, 2, results[i].numel(), dtype=lib.float64).cos()
        loss = loss + (results[i] * towards.reshape(results[i].shape)).sum()
    leaves = [t for t in given if t.requires_grad]
    found = lib.autograd.grad(loss, leaves, allow_unused=True)
    return [None if g is None else g.tolist() for g in found]


@pytest.mark.parametrize("wanted", [(True, False, False), (True, True, True), (False, True, True)])
@pytest.mark.parametrize(
    "chosen", [c for n in (1, 2, 3) for c in itertools.combinations(range(3), n)], ids=str
)
def test_gradients_of_any_of_the_results(chosen, wanted):
    if not wanted[0] and 0 not in chosen:
        return  # nothing leads from the weights there
    found, expected = played(torch, native, chosen, wanted), played(pt, composed, chosen, wanted)
    for mine, other in zip(found, expected, strict=True):
        zero = torch.zeros(SHAPE[1], dtype=torch.float64)  # for weights that only the result has
        mine, other = (
            zero if g is None else torch.tensor(g, dtype=torch.float64) for g in (mine, other)
        )
        torch.testing.assert_close(mine, other)
