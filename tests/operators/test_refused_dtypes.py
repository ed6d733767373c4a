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
