"""The CPU's numbers are PyTorch's: compared with PyTorch, and with what was recorded from it."""

import json

import pytest

import mindtorch_core as torch
from random_cases import CASES, RECORDED, drawn, recorded_calls, steps, summary

NUMBERS = json.loads(RECORDED.read_text())
CALLS = [(case, dtype) for case in CASES for dtype in case.dtypes]


def names(calls):
    return [f"{case.name} {dtype}" for case, dtype, *_ in calls]


@pytest.fixture(autouse=True)
def forked():
    with torch.random.fork_rng():
        yield


KEPT = list(recorded_calls())


@pytest.mark.parametrize(("case", "dtype", "n"), KEPT, ids=names(KEPT))
def test_recorded_numbers(case, dtype, n):
    row = dict(NUMBERS[f"{case.name} {dtype}"])
    assert row.pop("n") == n
    numbers, _, state = drawn(torch, case, dtype, n, row.pop("seed"))
    assert summary(numbers, state) == row


def test_every_kept_case_is_recorded():
    assert set(NUMBERS) == set(names(KEPT))


@pytest.mark.parametrize(("case", "dtype"), CALLS, ids=names(CALLS))
@pytest.mark.parametrize("seed", [3, 2**63 + 5])
def test_against_pytorch(case, dtype, seed):
    pt = pytest.importorskip("torch")
    with pt.random.fork_rng():
        for n in case.sizes:
            ours, shown, state = drawn(torch, case, dtype, n, seed)
            theirs, their_shown, their_state = drawn(pt, case, dtype, n, seed)
            assert (shown, state) == (their_shown, their_state)
            apart = case.apart.get(dtype, 0)
            if apart is not None:
                assert max(map(steps, ours, theirs, [dtype] * len(ours)), default=0) <= apart


LARGE = """
t.rand(200_003)
t.rand(70_001, dtype=t.float64)
t.empty(70_001, dtype=t.complex64).uniform_(-1, 2)
t.randn(140_003)
t.randn(140_003, dtype=t.float64)
t.randn(140_003, dtype=t.bfloat16)
t.empty(140_003).normal_(0.3, 1.7)
t.empty(3, 30_001).t().normal_()
t.randint(0, 2**40, (70_001,))
t.randperm(100_003)
t.empty(70_001).bernoulli_(0.3)
t.empty(70_001, dtype=t.float64).exponential_()
t.poisson(t.rand(5_000) * 20)
""".strip().splitlines()


@pytest.mark.parametrize("call", LARGE)
def test_large_tensors(call):
    """What is drawn in chunks, and computed by several threads."""
    pt = pytest.importorskip("torch")
    made = []
    with pt.random.fork_rng():
        for lib in (torch, pt):
            lib.manual_seed(11)
            made.append((eval(call, {"t": lib}), bytes(lib.get_rng_state().tolist())))
    (ours, state), (theirs, their_state) = made
    assert state == their_state
    assert (
        bytes(ours._host()) == theirs.resolve_conj().contiguous().view(pt.uint8).numpy().tobytes()
    )
