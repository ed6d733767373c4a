"""Functions of DTensors that lie in many ways, beside those of plain tensors: values, and gradients."""

import itertools
import warnings

import mindtorch_core as torch
from mindtorch_core.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor


def beside(t, plain, mesh):
    """A tensor as what goes with another one: all of it on each rank."""
    return distribute_tensor(plain, mesh, [Replicate()]) if isinstance(t, DTensor) else plain


def compare(cases, mesh, count, strides=()):
    """Compare functions of operands cut in some ways with those of whole ones.

    Args:
        cases: by name, a function and its operands.
        mesh: of one dimension.
        count: how many ways are tried of each.
        strides: of which the results' strides are compared too.
    """
    for name, (compute, operands) in cases.items():
        ways = list(
            itertools.product(*([Replicate(), *map(Shard, range(t.ndim))] for t in operands))
        )
        whole = [t.clone().requires_grad_() for t in operands]
        expected = compute(*whole)
        weights = torch.linspace(-1, 2, expected.numel()).reshape(expected.shape)
        (expected * weights).sum().backward()
        for way in ways[:: len(ways) // count or 1]:
            parts = [
                distribute_tensor(t, mesh, [placement]).requires_grad_()
                for t, placement in zip(operands, way, strict=True)
            ]
            said = f"{name} {way}"
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                found = compute(*parts)
                (found * beside(found, weights, mesh)).sum().backward()
            assert not told, (said, [str(each.message) for each in told])
            if name in strides:
                assert found.stride() == expected.stride(), said
            torch.testing.assert_close(found.full_tensor(), expected.detach(), msg=said)
            for part, t in zip(parts, whole, strict=True):
                torch.testing.assert_close(part.grad.full_tensor(), t.grad, msg=said)
