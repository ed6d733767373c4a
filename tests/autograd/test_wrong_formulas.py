"""A gradient formula that asks for what there is not: the first recorded call says what it may ask for."""

import pytest

import mindtorch_core as torch
from mindtorch_core.backend import TensorSpec, op
from mindtorch_core.dispatch.registry import registry


def recorded(schema, **grad):
    """A call of an op that is recorded."""
    with registry.scope():
        op(
            f"wrong_formulas::{schema}",
            rule=lambda self, *rest: TensorSpec(self.shape, self.dtype),
            grad=grad,
            namespaces=(),
        )
        name = schema.partition("(")[0]
        registry.register_kernel(f"wrong_formulas::{name}", "CPU", lambda self, *rest: self + 1)
        y = getattr(torch.ops.wrong_formulas, name)(torch.ones(2, requires_grad=True), 2.0)
        y.sum().backward()


@pytest.mark.parametrize(
    ("formula", "asked"),
    [
        (lambda g1: g1, "g1"),
        (lambda g, others: g, "others"),
        (lambda g, other_shape: g, "other_shape"),
        (lambda g, self_size: g, "self_size"),
        (lambda g, result1: g, "result1"),
        (lambda g, results: g, "results"),
    ],
)
def test_names_that_there_are_not(formula, asked):
    words = (
        f"the gradient formula of wrong_formulas::one for 'self' asks for '{asked}'. A formula may"
    )
    with pytest.raises(TypeError, match=words):
        recorded("one(Tensor self, float by) -> Tensor", self=formula)


def test_a_formula_for_no_tensor():
    words = (
        r"wrong_formulas::two has a gradient formula for 'other', and its tensors are \['self'\]"
    )
    with pytest.raises(TypeError, match=words):
        recorded("two(Tensor self, float by) -> Tensor", other=lambda g: g)


def test_names_that_there_are():
    recorded(
        "three(Tensor self, float by) -> Tensor", self=lambda g, by, self_shape, result: g * by
    )
