"""What stands in the families' samples is about ops and functions that exist."""

from dataclasses import fields

import pytest

from mindtorch_core.dispatch.functions import FUNCTIONS
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs.define import definitions
from mindtorch_core.operators.family_samples import FamilySamples
from mindtorch_core.testing.samples import FAMILIES, samples

BY_BASE_NAME = {"domains", "no_limits", "no_differences", "unlike_pytorch"}


def known(part):
    """The names that a part of the samples may speak of."""
    registry.on_demand.define_all()
    functions = {f"{space}.{name}" for space, held in FUNCTIONS.items() for name in held}
    ops = {d.base_name if part in BY_BASE_NAME else d.name for d in definitions()}
    return {"functions": functions, "untested": functions | ops}.get(part, ops)


@pytest.mark.parametrize("part", [field.name for field in fields(FamilySamples)])
def test_every_name_is_one(part):
    named = [name for family in FAMILIES.values() for name in getattr(family, part)]
    assert named
    assert set(named) - known(part) == set()
    assert len(set(named)) == len(named), "two families speak of the same"


def test_an_operand_is_drawn_from_its_ops_domain():
    registry.on_demand.define_all()
    (d,) = (d for d in definitions() if d.name == "pow")
    base, exponent = next(iter(samples(d))).args
    assert (base.low, base.high) == (0.25, 4.0)
    assert (exponent.low, exponent.high) == (0.0, 3.0)
