"""The primitives are enough: what passes on the CPU passes on a device that has nothing else.

The device leaves host ops (`Traits.host`) to the CPU, and fails if any other op reaches its fallback.
"""

import pytest

pytest.importorskip(
    "torch.testing._internal.common_methods_invocations",
    reason="PyTorch (with expecttest) supplies the samples",
)

import bare
from checks import EVERYTHING, OPS, cases
from known import BARE, reason_for
from survey import FAILED, NONE, outcome
from survey import MISSING as ABSENT

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.inspection import coverage
from mindtorch_core.opdefs.define import definitions

SAMPLES = 8 if EVERYTHING else 2  # per check; the CPU's tests run more
CASES = [
    (op, check, run) for op in OPS for check, run in cases(OPS[op]) if reason_for(op, check) is None
]


@pytest.fixture(scope="module", autouse=True)
def device(tmp_path_factory):
    """The bare device, for this module's tests only."""
    with bare.loaded(tmp_path_factory.mktemp("bare")):
        yield


@pytest.mark.parametrize(
    ("op", "check", "run"), [pytest.param(*c, id=f"{c[0]}-{c[1]}") for c in CASES]
)
def test_agrees_with_pytorch(op, check, run):
    found, text = outcome(run, "bare", most=SAMPLES)
    reason = BARE.get(op, {}).get(check)
    if found == NONE:
        pytest.skip(f"PyTorch has no sample for it ({text})")
    if reason is None:
        assert found not in (FAILED, ABSENT), text
    else:
        assert found in (FAILED, ABSENT), "it passes now: take it off the list in known.py"
        pytest.xfail(reason)


def test_its_kernels_are_the_primitives():
    served = {each.op: each.served for each in coverage("bare").ops}
    primitives = {each.op for each in coverage("bare").primitives}
    assert {name for name, by in served.items() if by == "kernel"} == primitives
    assert len(primitives) <= 60


def test_an_op_is_a_primitive_or_left_to_the_host_or_made_of_others():
    for d in definitions():
        kinds = [d.traits.primitive, d.traits.host, d.decomposition is not None]
        assert kinds.count(True) == 1, f"{d.name}: primitive, host, decomposition are {kinds}"


def test_no_other_op_may_be_left_to_the_host():
    x = torch.ones(2, device="bare")
    assert torch.lgamma(x).tolist() == [0.0, 0.0]
    with registry.scope():
        registry.register_schema("bare_test::op", "op(Tensor x) -> Tensor")
        registry.register_kernel("bare_test::op", "CPU", lambda x: x)
        with pytest.raises(AssertionError, match="bare_test::op is not an op that is left"):
            torch.ops.bare_test.op(x)


def test_the_list_names_checks_that_exist():
    known = {op: {check for check, _ in cases(OPS[op])} for op in BARE}
    assert all(set(checks) <= known[op] for op, checks in BARE.items())
