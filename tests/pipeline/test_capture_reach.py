"""`torch.pipeline.capture`: how far its guards reach, and what of it comes anew in each call."""

import collections
import contextvars
import functools
import random
import sys
import types
import weakref

import bare
import pytest

import mindtorch_core as torch
from mindtorch_core import nn
from mindtorch_core.ecosystem import captured_surroundings


class Config:
    """Numbers of a class."""

    rate = 0.5


class Slotted:
    """A number in a slot."""

    __slots__ = ("rate",)

    def __init__(self):
        self.rate = 0.5


class Hidden:
    """A number behind a property, an operator, and a cached function."""

    def __init__(self):
        self._rate = 0.5
        self._table = {"rate": 0.5}

    @property
    def rate(self):
        return self._rate

    def __getitem__(self, key):
        return self._table[key]

    @staticmethod
    def scaled(x):
        return x * Config.rate


def _module():
    made = types.ModuleType("someones")
    exec("rate = 0.5\ndef scaled(x): return x * rate\nclass Held: rate = 0.5", vars(made))
    sys.modules["someones"] = made
    return made


def _schedule():
    opt = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.5)
    made = torch.optim.lr_scheduler.StepLR(opt, 1, 0.5)
    opt.step()
    return made


def _set(name):
    return lambda held: setattr(held, name, 0.25)


class Over(Config):
    """A number of a class that an object may have, too."""


RATE = 0.5


def _imported(held, x):
    import someones

    return x * someones.rate


def _imported_by_name(held, x):
    from someones import rate

    return x * rate


REACHED = {
    "class": (lambda: Config, lambda h, x: x * h.rate, _set("rate")),
    "class of an object": (Over, lambda h, x: x * h.rate, lambda h: setattr(Config, "rate", 0.25)),
    "object over its class": (Over, lambda h, x: x * h.rate, _set("rate")),
    "slot": (Slotted, lambda h, x: x * h.rate, _set("rate")),
    "property": (Hidden, lambda h, x: x * h.rate, _set("_rate")),
    "operator": (Hidden, lambda h, x: x * h["rate"], lambda h: h._table.update(rate=0.25)),
    "static method": (Hidden, lambda h, x: h.scaled(x), lambda h: setattr(Config, "rate", 0.25)),
    "by text": (Hidden, lambda h, x: x * getattr(h, "_rate"), _set("_rate")),  # noqa: B009
    "module": (_module, lambda h, x: x * h.rate, _set("rate")),
    "function of a module": (_module, lambda h, x: h.scaled(x), _set("rate")),
    "class of a module": (_module, lambda h, x: x * h.Held.rate, lambda h: _set("rate")(h.Held)),
    "defaultdict": (
        lambda: collections.defaultdict(float, rate=0.5),
        lambda h, x: x * h["rate"],
        lambda h: h.update(rate=0.25),
    ),
    "UserDict": (
        lambda: collections.UserDict(rate=0.5),
        lambda h, x: x * h["rate"],
        lambda h: h.update(rate=0.25),
    ),
    "ChainMap": (
        lambda: collections.ChainMap({}, {"rate": 0.5}),
        lambda h, x: x * h["rate"],
        lambda h: h.maps[1].update(rate=0.25),
    ),
    "entry that comes": (
        dict, lambda h, x: x * h.get("rate", 0.5), lambda h: h.update(rate=0.25)
    ),
    "entry that is asked for": (
        dict, lambda h, x: x * (0.25 if "rate" in h else 0.5), lambda h: h.update(rate=0.25)
    ),
    "context variable": (
        lambda: contextvars.ContextVar("rate", default=0.5),
        lambda h, x: x * h.get(),
        lambda h: h.set(0.25),
    ),
    "weak reference": (
        lambda: weakref.ref(Config), lambda h, x: x * h().rate, lambda h: _set("rate")(h())
    ),
    "method of an object alone": (
        Hidden, lambda h, x: h.scaled(x), lambda h: setattr(h, "scaled", lambda x: x * 0.25)
    ),
    "import": (_module, _imported, _set("rate")),
    "import of a name": (_module, _imported_by_name, _set("rate")),
    "global by its name": (
        Hidden, lambda h, x: x * globals()["RATE"], lambda h: globals().update(RATE=0.25)
    ),
    "set": (lambda: {0.5}, lambda h, x: x * max(h), lambda h: h.add(0.75)),
    "deque": (
        lambda: collections.deque([0.5]), lambda h, x: x * h[0], lambda h: h.appendleft(0.25)
    ),
    "longer list": (lambda: [0.5], lambda h, x: x * sum(h), lambda h: h.append(0.25)),
    "more entries": (
        lambda: {"a": 0.5}, lambda h, x: x * sum(h.values()), lambda h: h.update(b=0.25)
    ),
    "schedule": (_schedule, lambda h, x: x * h.get_last_lr()[0], lambda h: h.step()),
    "part of a container": (
        lambda: nn.Sequential(nn.ReLU()),
        lambda h, x: h(x),
        lambda h: h.append(nn.Threshold(5.0, 3.0)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REACHED)
def test_what_the_code_reaches_is_guarded(what, monkeypatch):
    make, use, change = REACHED[what]
    monkeypatch.setattr(Config, "rate", 0.5)
    held, x = make(), torch.ones(2)
    f = torch.pipeline.capture(lambda x: use(held, x))
    assert all(torch.equal(f(x * n), use(held, x * n)) for n in (1, 2, 3))
    before = use(held, x)
    change(held)
    wanted = use(held, x)
    assert not torch.equal(before, wanted), "this changes nothing"
    with pytest.raises(torch.CaptureError, match=r"when it was captured"):
        f(x)
    f.reset()
    assert torch.equal(f(x), wanted)


def test_hooks_of_a_parameter_and_the_default_device():
    w, x = nn.Parameter(torch.ones(2)), torch.ones(2)
    f = torch.pipeline.capture(lambda x: torch.autograd.grad((w * x).sum(), w)[0] * torch.ones(2))
    assert f(x).tolist() == f(x).tolist() == [1.0, 1.0]
    with (
        torch.device("meta"),
        pytest.raises(torch.CaptureError, match="the default device was cpu"),
    ):
        f(x)
    handle = w.register_hook(lambda g: g * 3)
    with pytest.raises(torch.CaptureError, match="hooks of a tensor"):
        f(x)
    handle.remove()
    assert f(x).tolist() == [1.0, 1.0]


def test_a_log_is_no_reason_to_refuse():
    calls = []

    @torch.pipeline.capture
    def f(x):
        calls.append(1)
        return x * 2

    assert [f(torch.full((), n)).item() for n in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]
    assert len(calls) == 1


# ---- random numbers -----------------------------------------------------------------------------


def _python(x):
    return x * random.random()


def _numpy(x):
    import numpy as np

    return x * float(np.random.rand())


def _seeded(x):
    torch.manual_seed(1)
    return x + torch.rand(2)


def _dropped_twice(x):
    drop = functools.partial(torch.nn.functional.dropout, p=0.5)
    w = torch.ones(2, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(lambda x: drop(x * w), x, use_reentrant=False)
    return torch.autograd.grad(y.sum(), w)[0]


@pytest.mark.parametrize(
    ("fn", "text"),
    [
        (_python, "random numbers of Python"),
        (_numpy, "random numbers of NumPy"),
        (_seeded, r"position of a generator .* manual_seed\(\) at .*test_capture_reach.py"),
        (_dropped_twice, "position of a generator"),
    ],
)
def test_random_numbers_that_no_recording_draws_anew(fn, text):
    f, x = torch.pipeline.capture(fn), torch.ones(2)
    with pytest.raises(torch.CaptureError, match=text) as caught:
        f(x)
    assert caught.value.result.shape == (2,)


def test_a_checkpoint_that_draws_nothing():
    def step(x):
        w = torch.full((2,), 0.5, requires_grad=True)
        y = torch.utils.checkpoint.checkpoint(lambda x: (x * w).sin(), x, use_reentrant=False)
        return torch.autograd.grad(y.sum(), w)[0]

    f = torch.pipeline.capture(step)
    for n in (1.0, 2.0, 3.0):
        x = torch.full((2,), n)
        assert torch.equal(f(x), step(x))


# ---- what is put somewhere ----------------------------------------------------------------------


@pytest.mark.parametrize("own_memory", [True, False], ids=["filled", "a view"])
def test_views_and_filled_tensors_that_are_put_somewhere(own_memory):
    """Their own results are gone: a view, or memory that was made empty, is all that there is."""

    def make():
        held = types.SimpleNamespace()

        def f(x):
            if own_memory:
                held.kept = torch.zeros(2, 2)
                held.kept[0].copy_(x * 3)
            else:
                held.kept = (x * 3)[1:]
            return x.sum()

        return f, held

    (plain, wanted), (fn, found) = make(), make()
    f = torch.pipeline.capture(fn)
    for n in (1.0, 2.0, 3.0, 4.0):
        x = torch.tensor([n, n + 1])
        assert torch.equal(plain(x), f(x))
        assert torch.equal(wanted.kept, found.kept)


@pytest.mark.parametrize("reset", [True, False])
def test_grads_that_lie_otherwise_than_they_were_computed(reset):
    """Such a one is copied into memory that is made for it, which no op is recorded for."""

    def make():
        torch.manual_seed(0)
        net = nn.Bilinear(3, 4, 2)

        def step(x, y):
            if reset:
                net.zero_grad()
            net(x, y).square().sum().backward()

        return net, step

    (plain, eager), (net, fn) = make(), make()
    step = torch.pipeline.capture(fn)
    for _ in range(4):
        x, y = torch.randn(5, 3), torch.randn(5, 4)
        if not reset:
            for each in (plain, net):
                each.zero_grad()
        eager(x, y)
        step(x, y)
        for p, q in zip(plain.parameters(), net.parameters(), strict=True):
            assert torch.equal(p.grad, q.grad)


def test_devices_that_copy_by_compositions(tmp_path):
    """Making such a copy makes tensors, as do kernels that are launched; they are nobody's constants."""
    with bare.loaded(tmp_path):
        x = torch.ones(2, device="bare")
        step = torch.pipeline.capture(lambda x: torch.tensor([1.0, 2.0], device="bare").add_(x * 2))
        assert [step(x).tolist() for _ in range(3)] == [[3.0, 4.0]] * 3
        looks = torch.pipeline.capture(lambda x: (x * 2).sum().item())
        with pytest.raises(torch.CaptureError, match="looks at values: item") as failed:
            looks(x)
        assert failed.value.result == 4.0
        del step, looks


def test_more_than_can_be_watched_is_refused(monkeypatch):
    tree = [[float(i)] for i in range(400)]

    def of_all(x):
        return x * tree[0][0]

    captured = torch.pipeline.capture(of_all)
    x = torch.ones(3)
    assert torch.equal(captured(x), of_all(x))
    monkeypatch.setattr(captured_surroundings, "_MOST", 300)
    with pytest.raises(torch.CaptureError, match="more objects than can be watched, '") as found:
        torch.pipeline.capture(of_all)(x)
    assert torch.equal(found.value.result, of_all(x))
