"""`torch.pipeline.capture`: what a recording stands for is guarded, and errors name what has changed."""

import threading

import pytest

import mindtorch_core as torch


class Around:
    """Things that a captured function may read."""

    def __init__(self):
        self.scale = 2.0
        self.table = {"shift": torch.zeros(2)}
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.5)).eval()
        self.weights = [torch.ones(2)]
        self.unread = 0

    def helper(self, x):
        return x * self.weights[0]

    def __call__(self, x):
        self.last = self.helper(self.net(x) * self.scale) + self.table["shift"]
        return self.last.detach()


def _switch(target, name, value):
    setattr(target, name, value)


CHANGES = {
    "number": (lambda a: _switch(a, "scale", 3.0), r"scale was 2.0 .* is 3.0 now"),
    "entry": (lambda a: a.table.update(shift=torch.ones(2)), r"table\['shift'\] was a tensor"),
    "element": (lambda a: _switch(a, "weights", [torch.zeros(2)]), "weights was a list"),
    "train": (lambda a: a.net.train(), "training was False"),
    "train of a part": (lambda a: a.net[1].train(), "training was False"),
    "parameter": (
        lambda a: _switch(a.net[0], "weight", torch.nn.Parameter(torch.ones(2, 2))),
        "weight",
    ),
    "requires_grad": (lambda a: a.net[0].weight.requires_grad_(False), "requiring grad"),
    "hook": (lambda a: a.net.register_forward_hook(lambda *_: None), "hooks"),
    "module": (lambda a: a.net.append(torch.nn.ReLU()), ""),
    "replaced module": (lambda a: _switch(a, "net", torch.nn.Identity()), "net was a Sequential"),
    "attribute of a module": (lambda a: _switch(a.net[1], "p", 0.1), "p was 0.5"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_it_reads_is_guarded(change):
    act, text = CHANGES[change]
    a, x = Around(), torch.ones(1, 2)
    f = torch.pipeline.capture(a)
    assert torch.equal(f(x), a(x))
    a.unread += 1
    assert torch.equal(f(x), a(x))
    act(a)
    if change == "module":
        return  # what is new is called by nobody but the container, which is guarded by its parts
    with pytest.raises(torch.CaptureError, match=text):
        f(x)
    f.reset()
    torch.manual_seed(0)
    wanted = a(x)
    torch.manual_seed(0)
    assert torch.equal(f(x), wanted)


def test_variables_around_it_are_guarded():
    rate, weights = 0.5, torch.ones(2)
    f = torch.pipeline.capture(lambda x: x * rate + weights)
    assert f(torch.ones(2)).tolist() == [1.5, 1.5]
    rate = 0.25 + 0.25  # another object, the same number
    assert f(torch.ones(2)).tolist() == [1.5, 1.5]
    rate = 2.0
    with pytest.raises(
        torch.CaptureError, match=r"rate was 0\.5 when it was captured, and is 2\.0 now"
    ):
        f(torch.ones(2))
    rate, weights = 0.5, torch.zeros(2)
    with pytest.raises(torch.CaptureError, match=r"weights was a tensor.* and is another tensor"):
        f(torch.ones(2))


SETTINGS = {
    "no_grad": (torch.no_grad, "gradient mode was on"),
    "inference": (torch.inference_mode, "mode was o"),
    "autocast": (
        lambda: torch.autocast("cpu", torch.bfloat16),
        "autocast was off .* on for cpu now",
    ),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_are_guarded(setting):
    enter, text = SETTINGS[setting]
    f = torch.pipeline.capture(lambda x: x @ x)
    f(torch.ones(2, 2))
    with enter(), pytest.raises(torch.CaptureError, match=text):
        f(torch.ones(2, 2))
    assert f(torch.ones(2, 2)).tolist() == [[2.0, 2.0]] * 2


@pytest.mark.parametrize("first", ["set", "left alone"])
def test_the_dtype_of_autocast_is_guarded(first):
    """Whether what is the default anyway was set makes no difference; what is not, does."""

    def in_lower(x):
        with torch.autocast("cpu"):
            return x @ x

    f, x, default = torch.pipeline.capture(in_lower), torch.ones(2, 2), torch.bfloat16
    found = []

    def calls():  # in a thread of its own, where nothing is set yet
        if first == "set":
            torch.set_autocast_dtype("cpu", default)
        found.append(f(x))
        torch.set_autocast_dtype("cpu", default)
        found.append(f(x))
        torch.set_autocast_dtype("cpu", torch.float16)
        with pytest.raises(torch.CaptureError, match=r"dtype of autocast was .*float16'} now"):
            f(x)
        found.append("refused")

    thread = threading.Thread(target=calls)
    thread.start()
    thread.join()
    assert [each.dtype for each in found[:2]] == [default] * 2
    assert found[2:] == ["refused"]
    assert torch.equal(f(x), in_lower(x))  # here, where nothing was set


def test_the_default_dtype_is_guarded():
    f = torch.pipeline.capture(lambda x: x + torch.ones(2))
    f(torch.ones(2))
    torch.set_default_dtype(torch.float64)
    try:
        with pytest.raises(
            torch.CaptureError, match=r"default dtype was torch.float32 .* torch.float64 now"
        ):
            f(torch.ones(2, dtype=torch.float32))
    finally:
        torch.set_default_dtype(torch.float32)


def test_state_that_the_first_call_makes():
    """It is recorded when it does what it did the last time: the optimizer has its momentum then."""

    def make(wrap):
        p = torch.nn.Parameter(torch.ones(2))
        opt = torch.optim.SGD([p], lr=0.1, momentum=0.9)
        calls = []

        def step(x):
            calls.append(1)
            opt.zero_grad()
            (p * x).exp().sum().backward()
            opt.step()
            return p.detach().clone()

        return wrap(step), calls, opt

    plain, _, _ = make(lambda fn: fn)
    captured, calls, opt = make(torch.pipeline.capture)
    for i in range(6):
        x = torch.tensor([0.1 * i, 1.0])
        assert torch.equal(plain(x), captured(x))
    assert len(calls) == 2
    opt.param_groups[0]["lr"] = 0.5
    with pytest.raises(
        torch.CaptureError, match=r"param_groups\[0\]\['lr'\] was 0.1 .* is 0.5 now"
    ):
        captured(torch.ones(2))


@pytest.mark.parametrize("what", ["number", "tensor"])
def test_state_that_each_call_replaces_is_refused(what):
    state = {"h": 1 if what == "number" else torch.zeros(2)}

    def f(x):
        state["h"] = state["h"] + (1 if what == "number" else x)
        return x * state["h"]

    g = torch.pipeline.capture(f)
    assert g(torch.ones(2)).tolist() == ([2.0, 2.0] if what == "number" else [1.0, 1.0])
    with pytest.raises(
        torch.CaptureError, match=r"something else in each call: state\['h'\] was"
    ) as raised:
        g(torch.ones(2))
    assert raised.value.result.tolist() == ([3.0, 3.0] if what == "number" else [2.0, 2.0])


def _grads(kind):
    p = torch.ones(2, requires_grad=True)

    def resets(x):
        p.grad = None
        (p * x).sum().backward()

    def adds(x):
        (p * x).sum().backward()

    def uses(x):
        (p * x).sum().backward()
        with torch.no_grad():
            p.sub_(p.grad, alpha=0.1)

    return {"resets": resets, "adds": adds, "uses": uses}[kind], p


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("kind", ["resets", "adds", "uses"])
@pytest.mark.parametrize("between", ["nothing", "none", "zero"])
def test_grads(kind, between):
    """They are set or added to as the function does it, whatever was done to them in between."""
    (plain, p), (fn, q) = _grads(kind), _grads(kind)
    f = torch.pipeline.capture(fn)
    for i in range(4):
        x = torch.tensor([1.0 + i, 2.0])
        plain(x)
        f(x)
        assert torch.equal(p, q)
        assert torch.equal(p.grad, q.grad)
        for t in (p, q):
            if between == "none":
                t.grad = None
            elif between == "zero":
                t.grad.zero_()


def test_a_grad_that_was_there_must_stay():
    fn, p = _grads("adds")
    fn(torch.ones(2))
    f = torch.pipeline.capture(fn)
    for _ in range(3):
        f(torch.ones(2))
    assert p.grad.tolist() == [4.0, 4.0]
    p.grad = None
    with pytest.raises(torch.CaptureError, match="the grad of a tensor that it used"):
        f(torch.ones(2))


def test_a_grad_that_was_none_where_it_is_computed_with():
    fn, p = _grads("uses")
    f = torch.pipeline.capture(fn)
    for _ in range(3):
        p.grad = None
        f(torch.ones(2))
    with pytest.raises(
        torch.CaptureError, match=r"grad of a tensor that it used, .* was None when"
    ):
        f(torch.ones(2))


def test_steps_that_a_schedule_of_zero_grad_surrounds():
    """Gradients of several batches are added up, and forgotten outside."""

    def run(wrap):
        torch.manual_seed(0)
        net = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        add = wrap(lambda x: net(x).square().sum().backward())
        for i in range(9):
            add(torch.full((4, 3), 0.1 * i))
            if i % 3 == 2:
                opt.step()
                opt.zero_grad()
        return net.weight.detach()

    assert torch.equal(run(torch.pipeline.capture), run(lambda fn: fn))


@pytest.mark.parametrize("every", [1, 3])
def test_what_changes_in_each_call_is_refused_though_the_ops_are_the_same(every):
    """A schedule that steps in the function: the learning rate changes in a later call only."""
    p = torch.nn.Parameter(torch.ones(2))
    opt = torch.optim.SGD([p], lr=0.5)
    schedule = torch.optim.lr_scheduler.StepLR(opt, every, 0.5)

    def step(x):
        (p * x).square().sum().backward()
        opt.step()
        opt.zero_grad()
        schedule.step()

    f = torch.pipeline.capture(step)
    for i in range(6):
        if i % 2 == 0:
            f(torch.ones(2))
            continue
        with pytest.raises(torch.CaptureError, match="something else in each call: schedule"):
            f(torch.ones(2))
    assert schedule.last_epoch == 6
    assert opt.param_groups[0]["lr"] == 0.5 ** (1 + 6 // every)


WEIGHT, HELD = torch.ones(4), {"weight": torch.ones(4)}


@pytest.mark.parametrize(
    ("fn", "first", "told"),
    [
        (lambda a, b: a * 2 + b, lambda t: (t, t), "argument 'a' and argument 'b' were one tensor"),
        (lambda a, b: a.add_(1) + b, lambda t: (t, t), "'a' and argument 'b' were one tensor"),
        (lambda a, b: a * WEIGHT + b, lambda t: (WEIGHT, t), "argument 'a' was WEIGHT"),
        (lambda a, b: a + HELD["weight"], lambda t: (HELD["weight"], t), "was HELD\\['weight'\\]"),
    ],
)
def test_arguments_that_were_one_tensor_are_one_again(fn, first, told):
    """Nothing tells which of them an op has read."""
    x, y = torch.arange(4.0), torch.full((4,), 3.0)
    step = torch.pipeline.capture(fn)
    step(*first(x.clone()))
    with pytest.raises(torch.CaptureError, match=told):
        step(x, y)
    step.reset()
    for _ in range(2):
        assert step(x.clone(), y).tolist() == fn(x.clone(), y).tolist()


def test_arguments_that_were_two_tensors_may_be_one():
    step = torch.pipeline.capture(lambda a, b: a * 2 + b)
    x = torch.arange(4.0)
    step(x, x + 1)
    assert step(x, x).tolist() == [0.0, 3.0, 6.0, 9.0]


def test_what_is_read_besides_is_not_where_an_argument_lies():
    """The first call's argument lies in the memory of what the function reads; a later one's elsewhere."""
    data = torch.arange(6.0)
    step = torch.pipeline.capture(lambda x: x + data[2:4] + data.mean())
    for argument in (data[:2], data[2:4], torch.ones(2), data[4:]):
        assert step(argument).tolist() == (argument + data[2:4] + data.mean()).tolist()
