"""Compositions refuse the dtypes that their op's rule refuses: devices without a kernel agree."""

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs.define import definitions

OF_KIND = {"b": torch.bool, "i": torch.int32, "f": torch.float32, "c": torch.complex64}


def limited():
    """Functions of one tensor that serve some kinds of dtypes and are made of other ops."""
    registry.on_demand.define_all()
    return [
        d
        for d in definitions()
        if "pointwise" in d.tags
        and d.operands.kinds != "bifc"
        and d.decomposition is not None
        and d.functional is None
        and sum(not a.has_default for a in registry.entry(d.name).schema.arguments) == 1
    ]


@pytest.mark.parametrize("d", limited(), ids=lambda d: d.name)
def test_what_the_rule_refuses(d):
    for kind in sorted(set("bifc") - set(d.operands.kinds)):
        x = torch.ones(2).to(OF_KIND[kind])
        if d.rule is not None:
            with pytest.raises((NotImplementedError, RuntimeError)):
                d.rule(x)
        with pytest.raises((NotImplementedError, RuntimeError)):
            d.decomposition(x)


@pytest.mark.parametrize("d", [torch.complex64, torch.complex128, torch.bool])
@pytest.mark.parametrize("mode", ["floor", "trunc"])
def test_rounded_quotients_are_refused_at_the_call(mode, d):
    """In the middle of a block as without one, in the same words."""
    x = torch.ones(3).to(d)
    for call in (
        lambda: torch.div(x, x, rounding_mode=mode),
        lambda: torch.divide(x, 2 if d.is_complex else True, rounding_mode=mode),
        lambda: x.div_(x, rounding_mode=mode),
    ):
        words = f"\"div_{mode}\" not implemented for '{d.label}'"
        with pytest.raises(NotImplementedError, match=words):
            call()
        with torch.pipeline(), pytest.raises(NotImplementedError, match=words):
            call()
