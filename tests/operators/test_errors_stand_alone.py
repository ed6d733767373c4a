"""Errors of ops come alone: no traceback of what a kernel tried first, and of another library's words."""

from dataclasses import replace

import pytest

import mindtorch_core as torch
from mindtorch_core import plugins
from mindtorch_core.opdefs.define import definitions
from mindtorch_core.opdefs.torch_ops import overload_of
from mindtorch_core.testing.samples import samples

plugins.load_all()


def larger(recipe):
    return replace(recipe, shape=tuple(n + 1 for n in recipe.shape) or (7,), values=None)


def other(recipe):
    return replace(recipe, shape=(5, 7), values=None)


def single(recipe):
    return replace(recipe, shape=(), values=None)


def boolean(recipe):
    return replace(recipe, dtype="bool", low=0, high=1, values=None)


def spoiled(sample, place, change):
    """A sample with one of its tensors changed."""
    count = iter(range(1000))
    return sample.changed(lambda recipe: change(recipe) if next(count) == place else recipe)


def alone(error):
    return error.__suppress_context__ or error.__context__ is None


FAMILIES = sorted({d.name[0] for d in definitions()})


@pytest.mark.parametrize("letter", FAMILIES)
def test_refusals_of_spoiled_samples_stand_alone(letter):
    chained = {}
    for d in definitions():
        if d.name[0] != letter:
            continue
        for sample in samples(d)[:1]:
            for place in range(min(len(sample.recipes()), 3)):
                for change in (larger, other, single, boolean):
                    args, kwargs = spoiled(sample, place, change).build("cpu")
                    try:
                        overload_of(d.name)(*args, **kwargs)
                    except Exception as error:  # noqa: BLE001 (whatever it is, it must be alone)
                        if not alone(error):
                            chained[d.name] = error
    assert not chained


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.ones(2) + torch.ones(3),
        lambda: torch.ones(2) - torch.ones(3),
        lambda: torch.ones(2).add(torch.ones(3), alpha=2.5),
        lambda: torch.ones(2).div(torch.ones(3), rounding_mode="floor"),
        lambda: torch.ones(40_000).add_(torch.ones(40_001)),
        lambda: torch.ones(40_000) * torch.ones(40_001),
        lambda: torch.where(torch.ones(2) > 0, torch.ones(3), 1.0),
        lambda: torch.cat([torch.ones(2, 3), torch.ones(3, 2)]),
        lambda: torch.ones(3).transpose(0, 1),
        lambda: torch.ones(3).permute(0, 1),
        lambda: torch.linalg.cholesky(-torch.eye(2)),
        lambda: torch.linalg.inv(torch.zeros(2, 2)),
        lambda: torch.linalg.solve(torch.zeros(2, 2), torch.ones(2)),
        lambda: torch.ones(3)[torch.tensor([5])],
        lambda: torch.clamp(torch.ones(2), "a"),
    ],
)
def test_a_refusal_has_no_second_traceback(call):
    with pytest.raises((RuntimeError, IndexError, TypeError)) as caught:
        call()
    assert alone(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("bad", [[1, 2, 3, 5], [0, 2, 3, 4], [-2, -2, -4, 4], [1, 2, 3, -4]])
def test_exchanges_that_no_factorization_makes_are_refused(bad):
    packed, pivots, b = torch.eye(4), torch.tensor(bad, dtype=torch.int32), torch.ones(4, 1)
    with pytest.raises(RuntimeError, match="pivots must"):
        torch.linalg.ldl_solve(packed, pivots, b)
    if bad != [1, 2, 3, -4]:
        with pytest.raises(RuntimeError, match="pivots must all be greater or equal to 1 and"):
            torch.linalg.lu_solve(packed, pivots, b)


def test_the_error_that_a_user_handles_stays_in_sight():
    try:
        raise KeyError("mine")
    except KeyError:
        with pytest.raises(RuntimeError, match=r"size of tensor a \(2\)") as caught:
            torch.ones(2) + torch.ones(3)
    assert isinstance(caught.value.__context__, KeyError)
