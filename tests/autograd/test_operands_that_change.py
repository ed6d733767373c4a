"""In-place ops whose operands show elements of what they write: gradients are those of the values before."""

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry


def names():
    """In-place ops of several tensors, all of which may be floating point."""
    for entry in map(registry.entry, registry.names()):
        d, schema = entry.definition, entry.schema
        if d is None or d.functional is None or schema is None:
            continue
        tensors = [a for a in schema.arguments if a.type == "Tensor" and not a.optional]
        plain = [a for a in schema.arguments if a.type != "Tensor" and not a.has_default]
        if (
            d.name != "copy_"
            and len(tensors) > 1
            and not plain
            and isinstance(d.functional.grad, dict)
        ):
            yield d.name.partition(".")[0], len(tensors) - 1


OPS = dict(names())
OPERANDS = {
    "itself": lambda x: x,
    "a view": lambda x: x.view(2, 2),
    "its data": lambda x: x.detach(),
}


@pytest.mark.parametrize("shown", OPERANDS)
@pytest.mark.parametrize("name", OPS)
def test_gradients_are_those_of_the_values_before(name, shown):
    def gradient(change):
        leaf = torch.tensor([[0.5, 1.5], [2.5, 0.75]], dtype=torch.float64, requires_grad=True)
        x = leaf.clone()
        made = change(x, [OPERANDS[shown](x)] * OPS[name])
        weights = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
        return torch.autograd.grad((made * made * weights).sum(), leaf)[0].flatten().tolist()

    try:
        wanted = gradient(lambda x, others: getattr(x, name[:-1])(*others))
    except (RuntimeError, TypeError):
        pytest.skip("not for operands of this kind")
    assert gradient(lambda x, others: getattr(x, name)(*others)) == pytest.approx(wanted)


def test_they_are_found():
    assert {"mul_", "div_", "addcmul_", "atan2_", "lerp_", "hypot_"} <= set(OPS)
