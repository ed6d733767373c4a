"""Gradients and second gradients of every op, of its in-place method too, by finite differences."""

from fnmatch import fnmatchcase

import pytest

pytest.importorskip(
    "torch.testing._internal.common_methods_invocations",
    reason="PyTorch (with expecttest) supplies the samples",
)

from checks import OPS
from gradchecks import gradcheck_cases
from known import GRADCHECK, reason_for
from survey import FAILED, MISSING, NONE, outcome

CASES = [(op, check, run) for op in OPS for check, run in gradcheck_cases(OPS[op])]


@pytest.mark.parametrize(
    ("op", "check", "run"), [pytest.param(*c, id=f"{c[0]}-{c[1]}") for c in CASES]
)
def test_agrees_with_finite_differences(op, check, run):
    found, text = outcome(run)
    if reason_for(op, check) is None:
        assert found not in (FAILED, MISSING), text
    elif found == NONE:
        pytest.skip(f"no sample to move ({text})")
    else:
        assert found in (FAILED, MISSING), "it passes now: take it off the list in known.py"
        pytest.xfail(reason_for(op, check))


def test_the_list_names_checks_that_exist():
    listed = {(op, pattern) for op, patterns in GRADCHECK.items() for pattern in patterns}
    found = {(op, check) for op, check, _ in CASES}
    assert not [
        (op, pattern)
        for op, pattern in listed
        if not any(op == o and fnmatchcase(check, pattern) for o, check in found)
    ]
