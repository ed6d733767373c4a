"""Small blocks that come again: their element-wise runs are one kernel, and give the bits of eager calls."""

import random
import signal

import pytest

import mindtorch_core as torch
from mindtorch_core.deferred.replay.sites import forget_sites
from mindtorch_cpu.bound_calls import CALLS
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.native.reference import probes, same

ONE = ["exp", "neg", "sqrt", "sin", "tanh", "abs", "floor", "sigmoid", "relu"]
TWO = ["add", "sub", "mul", "div", "maximum"]


@pytest.fixture
def now(monkeypatch):
    """Kernels are made at once."""
    torch.zeros(1)
    monkeypatch.setattr(KERNELS, "mode", "now")
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    forget_sites()  # tests share blocks, and one of them must not give up what others do there
    CALLS.clear()


def drawn(seed, d):
    """Ops drawn by chance: of two values each, in place now and then, on rows and numbers too."""
    draw = random.Random(seed)
    steps = []
    for i in range(draw.randint(3, 14)):
        left, right = draw.randrange(i + 2), draw.randrange(i + 2)
        kind = draw.choice(["one", "two", "two", "number", "row", "write", "view"])
        name = draw.choice(ONE if kind in ("one", "view") else TWO[:3] if kind == "write" else TWO)
        steps.append((kind, name, left, right, draw.choice([0.5, -2, 3, -0.0])))
    kept = draw.sample(range(len(steps) + 2), 2)

    def run(x, y, row):
        values = [x.clone(), y]
        for kind, name, left, right, number in steps:
            a, b = values[left], values[right]
            if kind == "one":
                made = getattr(torch, name)(a)
            elif kind == "view":
                made = getattr(torch, name)(a.reshape(-1)).reshape(a.shape)
            elif kind == "write":
                made = getattr(values[0], f"{name}_")(number)
            else:
                other = {"two": b, "row": row}.get(kind, number)
                if name == "maximum" and kind == "number":
                    other = b
                made = getattr(torch, name)(a, other)
            values.append(made)
        return [values[i] for i in kept] + [values[-1]]

    return run


@pytest.mark.parametrize("d", [torch.float32, torch.float64])
@pytest.mark.parametrize("seed", range(15))
def test_random_blocks_with_kernels_without_and_switched_in_the_middle(now, seed, d):
    run = drawn(seed, d)
    code = {torch.float32: "f4", torch.float64: "f8"}[d]
    rows, width = [(10, 70), (1, 3), (2, 1)][seed % 3]
    x, y = (
        torch.from_numpy(probes(code, seed + k, 700)[: rows * width]).reshape(rows, width)
        for k in (1, 2)
    )
    row = torch.from_numpy(probes(code, seed + 3, 70)[:width])
    KERNELS.mode = "off"
    wanted = run(x, y, row)
    KERNELS.mode = "now"
    for turn in range(9):
        if turn in (5, 7):
            KERNELS.mode = "off" if turn == 5 else "now"
        with torch.pipeline():
            found = run(x, y, row)
        for one, other in zip(found, wanted, strict=True):
            assert one.stride() == other.stride()
            assert same(one.numpy(), other.numpy())
    assert KERNELS.broken is None


def block(x, y, number=2.0):
    with torch.pipeline():
        a = (x + y) * number
        b = (-a).exp()
        c = (b + 1).sqrt() * x
    return b, c


def test_a_run_is_one_kernel_whose_numbers_are_given_at_each_launch(now):
    x, y = torch.linspace(0, 1, 3000), torch.linspace(1, 2, 3000)
    for i in range(8):
        number = 1.0 + i
        b, c = block(x, y, number)
        a = (x + y) * number
        assert torch.equal(b, (-a).exp())
        assert torch.equal(c, (b + 1).sqrt() * x)
    assert len([key for key in CALLS if key[0][0] == "run"]) == 1


def test_a_run_of_few_elements_is_one_kernel_too_relu_included(now):
    x, y = torch.tensor([-1.0, float("nan")]), torch.tensor([2.0, -0.0])
    for _ in range(8):
        with torch.pipeline():
            a = ((x * y + 1).relu() - y) * 0.5
        assert same(a.numpy(), (((x * y + 1).relu() - y) * 0.5).numpy())
    assert [key[1] for key in CALLS if key[0][0] == "run"] == [(2,)]


def test_results_that_share_no_memory_with_those_of_other_launches(now):
    x, y = torch.linspace(0, 1, 3000), torch.linspace(1, 2, 3000)
    made = [block(x, y, 1.0 + i) for i in range(8)]
    for i, (b, _) in enumerate(made):
        assert torch.equal(b, (-((x + y) * (1.0 + i))).exp())


def test_an_error_after_a_run_leaves_what_was_computed(now):
    x = torch.arange(1, 101)
    y = x.float()

    def fail(divisor):
        with torch.pipeline():
            a = (y + 1) * 2 - y
            b = x // divisor
            c = a * 3 + 1
        return a, b, c

    for _ in range(5):
        a, b, c = fail(x)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        fail(x - 7)
    a, b, c = fail(x)
    assert torch.equal(a, (y + 1) * 2 - y)
    assert torch.equal(c, a * 3 + 1)
    assert (b == 1).all()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_interrupts_leave_right_results(now):
    def interrupt(number, frame):
        raise KeyboardInterrupt

    # Below what the pool of memory keeps: an interrupt of a finaliser is one that Python only reports.
    x, y = torch.linspace(0, 1, 30_000), torch.linspace(1, 2, 30_000)
    for _ in range(6):
        wanted = block(x, y)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for i in range(150):
            made = None
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + i * 2e-6)
                made = block(x, y)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                pass
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            for one, other in zip(made or (), wanted, strict=False):
                assert torch.equal(one, other)
    finally:
        signal.signal(signal.SIGALRM, before)
