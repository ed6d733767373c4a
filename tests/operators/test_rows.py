"""A row's keywords: which group they go to, and what is said of wrong ones."""

import pytest

from mindtorch_core.dispatch.opdef import Exposure, Traits
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs.define import op


@pytest.fixture
def scope():
    with registry.scope():
        yield


def define(name, **properties):
    properties.setdefault("namespaces", ())
    return op(f"{name}(Tensor self) -> Tensor", decomposition=lambda self: self, **properties)


@pytest.mark.usefixtures("scope")
def test_keywords_find_their_groups():
    d = define("_row_grouped", kinds="if", random=True, operators=(), out=True, out_needs=("apart",),
               inplace=True, inplace_namespaces=("nn",))  # fmt: skip
    assert (d.operands.kinds, d.operands.numbers) == ("if", False)
    assert (d.traits.random, d.traits.view) == (True, False)
    assert d.exposure.namespaces == ()
    assert d.out.needs == ("apart",)
    assert d.inplace.namespaces == ("nn",)
    variant = registry.entry("_row_grouped_").definition
    assert variant.functional is d
    assert variant.exposure.namespaces == ("nn",)
    assert (variant.traits.random, variant.operands.kinds) == (True, "if")
    assert variant.inplace is None
    assert variant.out is None


@pytest.mark.usefixtures("scope")
def test_groups_of_which_nothing_is_said_are_defaults():
    d = define("_row_plain")
    assert (d.inplace, d.out) == (None, None)
    assert d.traits is define("_row_plain_too").traits
    assert (d.traits.primitive, Exposure().namespaces) == (Traits().primitive, ("torch", "Tensor"))


@pytest.mark.usefixtures("scope")
@pytest.mark.parametrize(
    ("properties", "text"),
    [
        ({"inplace_rule": None}, "got inplace_rule, but not inplace=True"),
        ({"out_needs": ("dtype",)}, "got out_needs, but not out=True"),
        ({"kind": "f"}, "unexpected keyword argument 'kind'"),
    ],
)
def test_wrong_keywords_are_refused_and_define_nothing(properties, text):
    with pytest.raises(TypeError, match=text):
        define("_row_refused", **properties)
    assert registry.known("aten::_row_refused") is None
