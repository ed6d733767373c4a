"""Forward mode of every op beside PyTorch's; of every sixth, unless MINDTORCH_OPINFO is ``all``."""

import pytest

pytest.importorskip(
    "torch.testing._internal.common_methods_invocations",
    reason="PyTorch (with expecttest) supplies the samples",
)

from checks import EVERYTHING, OPS
from known import TANGENTS, reason_for
from survey import FAILED, MISSING, NONE, outcome
from tangents import tangent_cases

NAMES = list(OPS)[:: 1 if EVERYTHING else 6]
CASES = [(op, check, run) for op in NAMES for check, run in tangent_cases(OPS[op])]


@pytest.mark.parametrize(
    ("op", "check", "run"), [pytest.param(*c, id=f"{c[0]}-{c[1]}") for c in CASES]
)
def test_agrees_with_pytorch(op, check, run):
    found, text = outcome(run)
    if reason_for(op, check) is None:
        assert found not in (FAILED, MISSING), text
    elif found == NONE:
        pytest.skip(f"PyTorch has no sample for it ({text})")
    else:
        assert found in (FAILED, MISSING), "it passes now: take it off the list in known.py"
        pytest.xfail(reason_for(op, check))


def test_the_list_names_ops_that_exist():
    assert not {*TANGENTS} - {*OPS}
