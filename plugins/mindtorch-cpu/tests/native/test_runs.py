"""Small blocks that come again: their element-wise runs are one kernel, and give the bits of eager calls."""

import contextlib
import random
import signal

import pytest

import mindtorch_core as torch
from mindtorch_core.deferred.replay.sites import forget_sites
from mindtorch_cpu import compiled
from mindtorch_cpu.bound_calls import CALLS
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.native.reference import probes, same
from mindtorch_cpu.straight import compiling, lines

ONE = ["exp", "neg", "sqrt", "sin", "tanh", "abs", "floor", "sigmoid", "relu"]
ADDED = ["add", "sub"]
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
        kind = draw.choice(
            ["one", "two", "two", "number", "row", "write", "view", "into", "scaled", "passed"]
        )
        name = draw.choice(ONE if kind in ("one", "view") else TWO[:3] if kind == "write" else TWO)
        steps.append((kind, name, left, right, draw.choice([0.5, -2, 3, -0.0])))
    kept = draw.sample(range(len(steps) + 2), 2)

    def run(x, y, row):
        values = [x.clone(), y.clone()]
        for kind, name, left, right, number in steps:
            a, b = values[left], values[right]
            if kind == "one":
                made = getattr(torch, name)(a)
            elif kind == "view":
                made = getattr(torch, name)(a.reshape(-1)).reshape(a.shape)
            elif kind == "write":
                made = getattr(values[0], f"{name}_")(number)
            elif kind == "into":
                other = row if left % 3 == 0 else b
                made = getattr(a, f"{ADDED[right % 2]}_")(other, alpha=abs(number))
            elif kind == "scaled":
                made = getattr(torch, ADDED[right % 2])(a, b, alpha=number)
            elif kind == "passed":
                made = torch.ops.aten.threshold_backward(a, b, number)
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


def test_a_run_makes_what_is_used_after_it_and_nothing_else(now, monkeypatch):
    runs, found = [], compiling.run_from
    monkeypatch.setattr(
        compiling, "run_from", lambda *given: runs.append(found(*given)) or runs[-1]
    )
    x, y = torch.linspace(0, 1, 3001), torch.linspace(1, 2, 3001)
    for _ in range(8):
        with torch.pipeline():
            a = ((x + y) * 2).exp()
            b = (a + 1).sqrt() * x
    assert torch.equal(b, (((x + y) * 2).exp() + 1).sqrt() * x)
    assert [len(run.outputs) for run in runs if run is not None] == [2]


def test_a_run_of_few_elements_is_one_kernel_too_relu_included(now):
    x, y = torch.tensor([-1.0, float("nan")]), torch.tensor([2.0, -0.0])
    for _ in range(8):
        with torch.pipeline():
            a = ((x * y + 1).relu() - y) * 0.5
        assert same(a.numpy(), (((x * y + 1).relu() - y) * 0.5).numpy())
    assert [key[1] for key in CALLS if key[0][0] == "run"] == [(2,)]


def update(w, v, g, alpha):
    with torch.pipeline():
        v.mul_(0.9).add_(g)
        w.sub_(v, alpha=alpha)


def test_an_update_in_place_is_one_kernel_whose_rate_may_change(now):
    weights = [torch.linspace(-1, 1, 3000), torch.linspace(0, 3, 3000), torch.linspace(2, 1, 3000)]
    ours, theirs = [t.clone() for t in weights], [t.clone() for t in weights]
    for i in range(9):
        update(*ours, 0.1 / (i + 1))
        w, v, g = theirs
        v.mul_(0.9).add_(g)
        w.sub_(v, alpha=0.1 / (i + 1))
        for one, other in zip(ours, theirs, strict=True):
            assert torch.equal(one, other)
    assert [key[1] for key in CALLS if key[0][0] == "run"] == [(3000,)]


@pytest.mark.parametrize("shift", [-1, 0, 1, 7, 200])
@pytest.mark.parametrize("learned", ["together", "apart"])
def test_writes_to_tensors_that_share_memory_go_in_order(now, shift, learned):
    def steps(w, v, g):
        v.mul_(0.9).add_(g)
        w.add_(g, alpha=0.5)
        y = v * 2
        w.mul_(3)
        return y, w + g

    ours, theirs = torch.linspace(0, 1, 1000), torch.linspace(0, 1, 1000)
    apart, g = torch.linspace(1, 2, 600), torch.linspace(-1, 1, 600)
    for i in range(9):
        found = []
        for base in (ours, theirs):
            share = learned == "together" or i >= 5
            v = base[100 + shift : 700 + shift] if share else apart.clone()
            if base is ours:
                with torch.pipeline():
                    made = steps(base[100:700], v, g)
            else:
                made = steps(base[100:700], v, g)
            found.append((base, v, *made))
        for one, other in zip(*found, strict=True):
            assert torch.equal(one, other)


def test_writes_to_windows_that_come_to_share_memory_go_in_order(now):
    ours, theirs, g = (torch.linspace(a, 1, 2000) for a in (0, 0, -1))
    g = g[:600]

    def steps(base, w, at):
        v = base[at : at + 600]
        v.mul_(0.9).add_(g)
        w.add_(g, alpha=0.5)
        return v * 2

    windows = ours[100:700], theirs[100:700]
    for at in (1000, 1001, 1002, 1003, 1004, 1005, 1006, 101, 100, 99, 700):
        bases = (ours.clone(), theirs.clone()) if at >= 1000 else (ours, theirs)
        with torch.pipeline() as pipe:
            found = steps(bases[0], windows[0], at)
        if at == 1006:
            assert pipe.stats()["replayed"] == 4
        assert torch.equal(found, steps(bases[1], windows[1], at))
        assert torch.equal(ours, theirs)


def test_what_two_tensors_show_alike_is_written_and_read_in_order(now):
    def twice(x):
        alias = x.view(x.shape)
        with torch.pipeline():
            x.add_(1)
            y = alias * 2
            alias.mul_(3)
            return y, x + alias

    for _ in range(8):
        x = torch.linspace(0, 1, 700)
        first = x.clone()
        y, z = twice(x)
        assert torch.equal(y, (first + 1) * 2)
        assert torch.equal(z, (first + 1) * 3 + (first + 1) * 3)


def heads(x, w):
    """Parts of rows as batches of matrices, and back, as attention has them."""
    q, k = (p.view(2, 5, 3, 4).transpose(1, 2) for p in x.split(12, 2))
    seen = torch.matmul(q, k.mT).softmax(-1)
    mixed = torch.matmul(seen, k).permute(2, 0, 3, 1)
    return torch.mm(q[:, 1].flatten(0, 1), w.t()), mixed.transpose(0, 1), mixed[1:, :, ::2].exp()


def test_views_of_views_and_of_what_is_in_another_order_are_no_calls(now, monkeypatch):
    called, source = [], lines.Writer.source

    def written(writer):
        text = source(writer)
        called.extend(getattr(held, "__name__", "") for held in writer.scope.values())
        return text

    monkeypatch.setattr(lines.Writer, "source", written)
    x, w = torch.linspace(-1, 1, 240).reshape(2, 5, 24), torch.linspace(-2, 2, 28).view(7, 4)
    for _ in range(8):
        with torch.pipeline():
            found = heads(x, w)
        for one, other in zip(found, heads(x, w), strict=True):
            assert torch.equal(one, other)
            assert one.stride() == other.stride()
    assert "softmax" in called
    assert not {"view", "transpose", "permute", "split", "select"} & {*called}


def test_dims_that_cannot_be_told_apart_are_put_in_order_by_kernels(now):
    x = torch.linspace(0, 1, 9).view(3, 3)
    alike, few = torch.tensor([6.0]).expand(3, 3), (x + 1).t()[:, :1]
    for _ in range(8):
        with torch.pipeline():
            found = alike.t() * x, few.t() + 1, few.permute(1, 0) * 2
        assert torch.equal(found[0], x * 6)
        assert torch.equal(found[1], (x + 1)[:1] + 1)
        assert torch.equal(found[2], (x + 1)[:1] * 2)


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


def test_an_interrupt_right_after_a_kernel_that_writes(now, monkeypatch):
    wanted = False

    def interrupted(work):
        def does(*arrays):
            done = work(*arrays)
            if wanted:
                raise KeyboardInterrupt
            return done

        return does

    class Calls(dict):
        def get(self, key):
            call = bound(key)
            return call and interrupted(call)

    bound = lines.CALLS.get
    monkeypatch.setattr(lines, "computed", interrupted(compiled.computed))
    monkeypatch.setattr(lines, "CALLS", Calls())
    u, v, w = (torch.ones(3000) for _ in range(3))
    for i in range(8):
        wanted = i == 7
        with contextlib.suppress(KeyboardInterrupt), torch.pipeline():
            u += 1
            v *= 2
            w -= 3
    for t in (u, v, w):  # whether it was written, nobody knows
        with pytest.raises(torch.PipelineError, match="KeyboardInterrupt"):
            t.sum()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_interrupts_of_updates_write_once_or_say_that_nobody_knows(now):
    def interrupt(number, frame):
        raise KeyboardInterrupt

    g = torch.ones(30_000)
    for _ in range(6):
        update(torch.zeros(30_000), torch.zeros(30_000), g, 0.5)
    told = []
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for i in range(200):
            w, v = torch.zeros(30_000), torch.zeros(30_000)
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + i * 2e-6)
                update(w, v, g, 0.5)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                pass
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            for t, right in ((v, {0.0, 1.0}), (w, {0.0, -0.5})):
                with contextlib.suppress(torch.PipelineError):  # nobody knows
                    assert {*t.unique().tolist()} <= right
                    told.append(t[0].item())
    finally:
        signal.signal(signal.SIGALRM, before)
    assert {0.0, 1.0} & {*told}
