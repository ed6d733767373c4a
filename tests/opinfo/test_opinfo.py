"""Every op of PyTorch's OpInfo database, on PyTorch's samples, against PyTorch."""

import pytest

pytest.importorskip(
    "torch.testing._internal.common_methods_invocations",
    reason="PyTorch (with expecttest) supplies the samples",
)

from checks import OPS, cases
from known import FAILING, MISSING, reason_for
from survey import FAILED, NONE, outcome
from survey import MISSING as ABSENT

CASES = [(op, check, run) for op in OPS for check, run in cases(OPS[op])]


@pytest.mark.parametrize(
    ("op", "check", "run"), [pytest.param(*c, id=f"{c[0]}-{c[1]}") for c in CASES]
)
def test_agrees_with_pytorch(op, check, run):
    found, text = outcome(run)
    if reason_for(op, check) is None:
        assert found not in (FAILED, ABSENT), text
    elif found == NONE:
        pytest.skip(f"PyTorch has no sample for it ({text})")
    else:
        told_apart = op in MISSING and check == "errors"  # any error is as good as the right one
        assert found in (FAILED, ABSENT) or told_apart, (
            "it passes now: take it off the list in known.py"
        )
        pytest.xfail(reason_for(op, check))


def test_the_list_names_ops_that_exist():
    assert not {*MISSING, *FAILING} - {*OPS}
