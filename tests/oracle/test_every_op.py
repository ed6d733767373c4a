"""Every op on its own samples, in float64: results and gradients are PyTorch's.

The samples stand beside the ops' rows, so an op that is added is compared without a line here. What
PyTorch has nothing to compare with is listed, each with what judges it instead.
"""

import pytest

from mindtorch_core.testing.comparison import from_pytorch
from mindtorch_core.testing.samples import samples
from opinions import DIFFERENT, GRADIENTS, NOT_THERE, OPS, compare, opinions, ours, plain


@pytest.mark.parametrize("name", OPS)
def test_agrees(name):
    seen = False
    for case, sample, (expected, operands, gradients) in opinions(name):
        results, _, own = ours(case, sample, gradients is not None)
        if len(results) != len(expected):
            continue
        seen = True
        for found, want in zip(results, expected, strict=True):
            compare(found, plain(want), str(case))
        if gradients is None or name in GRADIENTS:
            continue
        assert own is not None, f"{case} has no gradient here"
        for i, (t, found, want) in enumerate(zip(operands, own, gradients, strict=True)):
            if want is not None and found is not None:
                # At NaN and infinity PyTorch's kernels give this or that, by the elements' number.
                odd = ~t.detach().isfinite()
                compare(
                    found.where(from_pytorch(~odd), 0),
                    plain(want).where(~odd, 0),
                    f"gradient {i} of {case}",
                )
    listed = name in DIFFERENT or name in NOT_THERE or not samples(OPS[name])
    assert seen or listed, "PyTorch compares nothing: find another judge, and list it"


def test_the_lists_name_ops():
    assert {*DIFFERENT, *GRADIENTS, *NOT_THERE} <= {*OPS}
