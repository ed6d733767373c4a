"""`torch.pipeline.capture`: the Python code of a step runs once."""

import threading

import pytest

import mindtorch_core as torch

F = torch.nn.functional


def weights():
    torch.manual_seed(0)
    return [w.requires_grad_() for w in (torch.randn(6, 8), torch.zeros(8), torch.randn(8, 3))]


def step_of(ws, calls):
    def step(x, y):
        calls.append(1)
        for w in ws:
            w.grad = None
        loss = F.cross_entropy(torch.tanh(x @ ws[0] + ws[1]) @ ws[2], y)
        loss.backward()
        with torch.no_grad():
            for w in ws:
                w.sub_(w.grad, alpha=0.1)
        return loss.detach(), ws[0]

    return step


@pytest.mark.usefixtures("way")
def test_a_training_step():
    plain, captured, calls = weights(), weights(), []
    eager = step_of(plain, [])
    step = torch.pipeline.capture(step_of(captured, calls))
    assert step.__name__ == "step"
    losses = []
    for i in range(5):
        torch.manual_seed(i)
        x, y = torch.randn(5, 6), torch.randint(0, 3, (5,))
        wanted, (loss, first) = eager(x, y)[0], step(x, y)
        losses.append(loss)
        assert torch.equal(loss, wanted)
        assert first is captured[0]
        for p, q in zip(plain, captured, strict=True):
            assert torch.equal(p, q)
            assert torch.equal(p.grad, q.grad)
    assert len(calls) == 1
    assert len({loss.item() for loss in losses}) == 5  # none is overwritten by the next call


@pytest.mark.usefixtures("way")
def test_results_views_and_constants():
    @torch.pipeline.capture
    def f(x, flag=True, *, names=("a", "b")):
        y = x * 2
        return {"y": y, "row": y[1], "x": x, "flag": flag, "names": names}

    for i in range(3):
        x = torch.full((2, 2), float(i))
        found = f(x)
        assert found["y"].tolist() == [[2.0 * i] * 2] * 2
        assert found["row"].tolist() == [2.0 * i] * 2
        assert found["x"] is x
        assert (found["flag"], found["names"]) == (True, ("a", "b"))
    found["row"].add_(1)
    assert found["y"][1].tolist() == [5.0, 5.0]


def test_random_numbers_are_drawn_anew():
    f = torch.pipeline.capture(lambda x: x + torch.rand(3))
    torch.manual_seed(0)
    found = [f(torch.zeros(3)) for _ in range(4)]
    torch.manual_seed(0)
    assert all(torch.equal(t, torch.rand(3)) for t in found)


def test_writes_to_arguments():
    f = torch.pipeline.capture(lambda x: x.mul_(2))
    for i in range(4):
        x = torch.full((2,), float(i))
        version = x._version
        assert f(x) is x
        assert x.tolist() == [2.0 * i] * 2
        assert x._version > version


def test_nothing_to_compute():
    f = torch.pipeline.capture(lambda x: 3)
    assert [f(torch.ones(1)), f(torch.zeros(1))] == [3, 3]


GUARDS = {
    "shape": (lambda: torch.ones(3), r"argument 'x' was \[2\] torch.float32 on cpu .* is \[3\]"),
    "dtype": (lambda: torch.ones(2, dtype=torch.float64), "is .2. torch.float64"),
    "strides": (lambda: torch.ones(4)[::2], "with strides .2,. now"),
    "grad": (lambda: torch.ones(2, requires_grad=True), "requiring grad"),
    "no tensor": (lambda: 2.0, "is 2.0 now"),
    "device": (lambda: torch.ones(2, device="meta"), "on meta"),
}


@pytest.mark.parametrize("guard", GUARDS)
def test_other_arguments_are_refused(guard):
    make, text = GUARDS[guard]
    total = torch.zeros(2)

    @torch.pipeline.capture
    def f(x, y=1):
        total.add_(x)
        return total * y

    f(torch.ones(2))
    with pytest.raises(torch.CaptureError, match=text):
        f(make())
    with pytest.raises(torch.CaptureError, match="other ones than when it was captured"):
        f(torch.ones(2), 1)
    assert total.tolist() == [1.0, 1.0]  # nothing was computed
    assert f(torch.ones(2)).tolist() == [2.0, 2.0]
    assert f.__wrapped__(torch.ones(3)[:2], 5).tolist() == [15.0, 15.0]


def test_other_values_are_refused():
    f = torch.pipeline.capture(lambda x, y, z=True: x * y if z else x)
    f(torch.ones(2), 2)
    for other in (3, 2.0, True, None, "2"):
        text = rf"argument 'y' was 2 when it was captured, and is {other!r} now"
        with pytest.raises(torch.CaptureError, match=text):
            f(torch.ones(2), other)


def test_parts_of_a_larger_tensor():
    data = torch.arange(12.0).reshape(6, 2)
    f = torch.pipeline.capture(lambda x: (x[1] * 2, x.sum()))
    for i in (0, 2, 4):
        row, total = f(data[i : i + 2])
        assert row.tolist() == (data[i + 1] * 2).tolist()
        assert total.item() == data[i : i + 2].sum().item()


def test_a_look_at_a_value_is_refused():
    seen = []

    @torch.pipeline.capture
    def f(x):
        seen.append(1)
        return x * 2 if x.sum() > 0 else x

    for n in (1, 2):  # it is run as it is each time
        with pytest.raises(
            torch.CaptureError, match=rf"looks at values: bool\(\) at {__file__}:"
        ) as raised:
            f(torch.ones(2))
        assert raised.value.result.tolist() == [2.0, 2.0]
        assert len(seen) == n


def test_an_op_that_cannot_wait_is_refused():
    f = torch.pipeline.capture(lambda x: x.nonzero())
    with pytest.raises(torch.CaptureError, match="aten::nonzero: shape depends on data"):
        f(torch.ones(2))


def test_reentry_is_refused():
    def f(x):
        return g(x) + 1

    g = torch.pipeline.capture(f)
    with pytest.raises(torch.CaptureError, match="was called while it runs"):
        g(torch.ones(2))
    inside, outside = threading.Event(), threading.Event()

    @torch.pipeline.capture
    def slow(x):
        inside.set()
        outside.wait(100)
        return x + 1

    thread = threading.Thread(target=slow, args=(torch.ones(2),))
    thread.start()
    inside.wait(100)
    with pytest.raises(torch.CaptureError, match="was called while it runs"):
        slow(torch.ones(2))
    outside.set()
    thread.join()
    assert slow(torch.ones(2)).tolist() == [2.0, 2.0]


def test_a_pipeline_around_is_refused():
    f = torch.pipeline.capture(lambda x: x + 1)
    with torch.pipeline(), pytest.raises(torch.CaptureError, match=r"torch.pipeline\(\)"):
        f(torch.ones(2))
    f(torch.ones(2))
    with torch.pipeline(), pytest.raises(torch.CaptureError, match=r"torch.pipeline\(\)"):
        f(torch.ones(2))


def test_what_it_uses_must_stay_as_it_was():
    w = torch.ones(2)
    f = torch.pipeline.capture(lambda x: x * w)
    f(torch.ones(2))
    w.data = torch.full((2,), 3.0)
    assert f(torch.ones(2)).tolist() == [3.0, 3.0]
    w.data = torch.ones(2, dtype=torch.float64)
    with pytest.raises(torch.CaptureError, match="a tensor that it used was"):
        f(torch.ones(2))


def test_arguments_that_share_memory():
    f = torch.pipeline.capture(lambda x, y: x.add_(1) + y)
    f(torch.ones(2), torch.ones(2))
    x = torch.ones(3)
    with pytest.raises(torch.CaptureError, match="share memory"):
        f(x[:2], x[1:])


def test_a_failing_op_is_named():
    f = torch.pipeline.capture(lambda x, i: x[i] * 2)
    f(torch.ones(3), torch.tensor([0]))
    with pytest.raises(torch.PipelineError, match="out of bounds") as raised:
        f(torch.ones(3), torch.tensor([9]))
    assert raised.value.location.startswith(__file__)
    assert f(torch.ones(3), torch.tensor([2])).tolist() == [2.0]


def test_reset():
    f = torch.pipeline.capture(lambda x: x + 1)
    f(torch.ones(2))
    f.reset()
    assert f(torch.ones(3)).tolist() == [2.0] * 3


def test_nothing_to_call():
    with pytest.raises(TypeError, match="takes a function or a module, got <class 'int'>"):
        torch.pipeline.capture(3)


LOOKS = {
    "item": lambda x: x * 2 if x[0].item() > 0 else x,
    "bool of an argument": lambda x: x * 2 if x.prod() else x,
    "tolist": lambda x: x.tolist(),
    "numpy": lambda x: torch.from_numpy(x.numpy() * 2),
    "array": lambda x: x * float(x.__array__()[0]),
    "text": lambda x: f"{x}",
    "storage": lambda x: x.untyped_storage().tolist(),
    "tensor of tensors": lambda x: torch.tensor([x[0], x[1]]),
}


@pytest.mark.parametrize("look", LOOKS)
def test_a_look_at_an_argument_is_refused(look):
    """Arguments have their values when the function runs: nothing waits for a launch."""
    f = torch.pipeline.capture(LOOKS[look])
    for n in (1.0, -2.0):
        x = torch.tensor([n, 3.0])
        with pytest.raises(
            torch.CaptureError, match=rf"looks at values: .* at {__file__}:"
        ) as raised:
            f(x)
        assert repr(raised.value.result) == repr(LOOKS[look](x))


def test_a_look_by_another_thread_is_its_own():
    x, other = torch.ones(2), []

    def f(y):
        thread = threading.Thread(target=lambda: other.append(x.tolist()))
        thread.start()
        thread.join()
        return y * 2

    g = torch.pipeline.capture(f)
    assert [g(torch.full((2,), n)).tolist() for n in (1.0, 2.0)] == [[2.0, 2.0], [4.0, 4.0]]
    assert other == [[1.0, 1.0]]


def test_what_the_function_makes_of_numbers_is_no_look():
    f = torch.pipeline.capture(lambda x: x[torch.tensor(1)] * torch.tensor([2.0]).item())
    assert [f(torch.tensor([1.0, n])).item() for n in (3.0, 4.0)] == [6.0, 8.0]


RETURNS = {
    "the argument": lambda x: x,
    "a view": lambda x: x[1:],
    "views": lambda x: [*x, x.view(1, 3), x.expand(2, 3)],
    "a view and a result": lambda x: (x[0], x * 2, (x + 1)[1:]),
    "what was written": lambda x: (x[1:].add_(5), x)[1],
    "what was written as data": lambda x: (x.data.mul_(3), x)[1],
    "parts": lambda x: x.split([1, 2]),
    "a leaf of its own": lambda x: torch.autograd.grad(
        (y := x.detach().requires_grad_()).square().sum(), y
    )[0],
}


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("case", RETURNS)
def test_results_that_show_the_argument(case):
    fn = RETURNS[case]
    f = torch.pipeline.capture(fn)
    base = torch.arange(30.0)
    for i in (0, 2, 5):
        x, y = base[i : i + 3].clone(), base[: i + 3].clone()[i:]
        assert repr(f(x)) == repr(fn(y))
        assert torch.equal(x, y)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    "make",
    [lambda: torch.tensor([0.0, 1.0]), lambda: torch.zeros(2), lambda: torch.empty(2).zero_()],
)
def test_tensors_that_it_makes_are_new_in_each_call(make):
    def fn(x):
        total, same = make(), torch.tensor([7.0, 8.0])
        total.add_(x)
        return total, total[1:], same

    f, kept = torch.pipeline.capture(fn), []
    for i in range(4):
        x = torch.full((2,), float(i))
        found, wanted = f(x), fn(x)
        assert [t.tolist() for t in found] == [t.tolist() for t in wanted]
        found[2].zero_()
        kept.append((found[0], wanted[0]))
    assert all(torch.equal(a, b) for a, b in kept)


def test_writes_to_an_array_are_refused():
    numpy = pytest.importorskip("numpy")
    f = torch.pipeline.capture(lambda x: torch.from_numpy(numpy.zeros(2, "f4")).add_(x))
    with pytest.raises(torch.CaptureError, match="writes to an array") as raised:
        f(torch.ones(2))
    assert raised.value.result.tolist() == [1.0, 1.0]
    g = torch.pipeline.capture(lambda a: torch.ones(2) * float(a[0]))
    with pytest.raises(torch.CaptureError, match="is an array"):
        g(numpy.ones(2))


def test_ops_without_tensors_are_captured_with_large_ones():
    """What a backend does not compile is computed op by op, where each knows its device."""
    x = torch.ones(512, 512)

    @torch.pipeline.capture
    def shifted():
        return (x + torch.arange(512) * torch.full((512, 1), 2.0)).exp().sum(0)

    wanted = (x + torch.arange(512) * 2.0).exp().sum(0)
    for _ in range(3):
        assert torch.equal(shifted(), wanted)
