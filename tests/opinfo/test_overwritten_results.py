"""Results that are written before the backward pass: that is refused where PyTorch does, or of no matter."""

import itertools

import pytest

pytest.importorskip(
    "torch.testing._internal.common_methods_invocations",
    reason="PyTorch (with expecttest) supplies the samples",
)

import numpy as np
import torch as oracle
from checks import DOUBLE, OPS
from convert import Converter, Unsupported, tensors_in
from counterparts import function_of
from pytorch_samples import making_samples

import mindtorch_core as torch

NAMES = [
    n
    for n, op in OPS.items()
    if op.supports_autograd and DOUBLE in op.supported_backward_dtypes("cpu")
]
SAMPLES = 2
# Here some results are views, which may not be written where a leaf is seen, and one loss is saved.
REFUSED = ["as_strided_partial_views", "nn_functional_ctc_loss"]


def gradients(lib, function, args, write):
    """By what an op was given, of its first result times a half; or how that was refused."""
    leaves = [t for t in tensors_in(args, lib.Tensor) if t.requires_grad and t.is_leaf]
    made = tensors_in([function(args[0], *args[1], **args[2])], lib.Tensor)
    first = next((t for t in made if t.requires_grad and t.is_floating_point()), None)
    if first is None:
        return None
    try:
        halved = first.mul_(0.5) if write else first * 0.5
        found = lib.autograd.grad((halved * 1).sum(), leaves, allow_unused=True)
    except RuntimeError as error:
        return str(error).partition(":")[0]
    return [None if g is None else g.detach().numpy() for g in found]


def alike(found, wanted):
    """Whether gradients are the same."""
    return all(
        (a is None) == (b is None) and (a is None or np.allclose(a, b, equal_nan=True))
        for a, b in zip(found, wanted, strict=True)
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_results_that_are_written(name):
    op, compared = OPS[name], 0
    with making_samples():
        samples = list(
            itertools.islice(op.sample_inputs("cpu", DOUBLE, requires_grad=True), SAMPLES)
        )
    mine = function_of(op)
    for sample in samples:
        given = [sample.input, list(sample.args), sample.kwargs]
        try:
            ours = Converter()(given)
        except Unsupported:
            continue
        theirs = gradients(oracle, op.op, given, write=True)
        try:
            found = gradients(torch, mine, ours, write=True)
        except AttributeError as error:
            pytest.skip(f"not there: {error}")
        compared += 1
        # What PyTorch refuses, as it has saved the result, may be made of other ops here.
        if not isinstance(found, str):
            assert found is None or alike(found, gradients(torch, mine, ours, write=False))
        elif name not in REFUSED:
            assert isinstance(theirs, str), found
    if not compared:
        pytest.skip("its samples have layouts that are not compared")
