"""`torch.pipeline.capture` of steps that run code of installed packages: what that reads is guarded, and no more."""

import gc
import importlib
import sys
import textwrap

import pytest

import mindtorch_core as torch

SOURCES = {
    "__init__": """
        import itertools
        import mindtorch_core as torch
        from . import numbers
        from .things import CONFIG, REGISTRY, CHAIN, called

        FLAG = True
        TABLE = {"by": {"name": 3.0}}
        HOOKS = []
        COUNT = itertools.count()

        def name_of_something():
            return next(COUNT), REGISTRY, CHAIN

        def scaled(x):
            return x * numbers.RATE if FLAG else x

        def registered(x):
            for hook in HOOKS:
                x = hook(x)
            return x

        def looked_up(x):
            return x * TABLE["by"]["name"]

        def imported(x):
            from .things import LATE
            return x * LATE

        def configured(x):
            return x * CONFIG.scale * CONFIG.inner.scale

        def walked(x):
            return x * len(REGISTRY) * CHAIN.following.weight

        def numbered(x):
            return x * next(COUNT)

        def evaluated(x):
            HOOKS.append(None)
            return eval(f"lambda x: x * {len(HOOKS)}", globals())(x)

        def decorated(fn):
            def inner(x):
                return fn(called(x))
            return inner

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.config = type(CONFIG)()
                self.weight = torch.nn.Parameter(torch.ones(2))

            def forward(self, x):
                return self.activated(x * self.weight) * self.config.scale

            def activated(self, x):
                return x + 1 if self.config.biased else x
    """,
    "numbers": "RATE = 2.0",
    "things": """
        import sys

        LATE = 4.0
        SIZE = int(getattr(sys, "size_of_a_package", 5))

        class Config:
            scale, biased = 0.5, True
            inner = None

        class Thing:
            __slots__ = "following", "weight"
            looked_at = []

            def __init__(self, following=None):
                self.weight, self.following = 1.0, following

            @property
            def __dict__(self):
                Thing.looked_at.append(self)
                return {"following": self.following, "weight": self.weight}

        def called(x):
            return x * CONFIG.scale

        CONFIG = Config()
        CONFIG.inner = Config()
        REGISTRY = {str(i): Thing() for i in range(SIZE)}
        CHAIN = None
        for _ in range(SIZE):
            CHAIN = Thing(CHAIN)
    """,
}


@pytest.fixture(params=["by its folder", "by its record"])
def package(request, tmp_path, monkeypatch):
    """A package that is installed: in a folder of Python's, or in another one, with its record."""
    by_record = request.param == "by its record"
    folder = tmp_path / ("vendored" if by_record else "site-packages")
    home = folder / "captured_package"
    home.mkdir(parents=True)
    for name, source in SOURCES.items():
        (home / f"{name}.py").write_text(textwrap.dedent(source))
    if by_record:
        info = folder / "captured_package-1.0.dist-info"
        info.mkdir()
        (info / "RECORD").write_text("captured_package/__init__.py,,\n")
    monkeypatch.syspath_prepend(str(folder))
    yield importlib.import_module("captured_package")
    for name in [n for n in sys.modules if n.partition(".")[0] == "captured_package"]:
        del sys.modules[name]


def prepared(fn, *args):
    """A function that has been recorded."""
    step = torch.pipeline.capture(fn)
    wanted = fn(*args)
    for _ in range(3):
        assert torch.equal(step(*args), wanted)
    return step


def hook(x):
    """A function of the user's that a package calls."""
    return x * BY


BY = 3.0
CHANGES = {
    "variable": (lambda p: p.scaled, lambda p: (p, "FLAG", False)),
    "variable of another module": (lambda p: p.scaled, lambda p: (p.numbers, "RATE", 3.0)),
    "entry": (lambda p: p.looked_up, lambda p: (p.TABLE["by"], "name", 5.0)),
    "what is imported by the call": (lambda p: p.imported, lambda p: (p.things, "LATE", 5.0)),
    "attribute": (lambda p: p.configured, lambda p: (p.CONFIG, "scale", 5.0)),
    "attribute of an attribute": (
        lambda p: p.configured,
        lambda p: (p.CONFIG.inner, "scale", 5.0),
    ),
    "attribute of a class": (lambda p: p.configured, lambda p: (p.things.Config, "scale", 5.0)),
    "function of the package": (lambda p: p.scaled, lambda p: (p, "scaled", torch.neg)),
    "of a module": (lambda p: p.Model(), lambda p: (p.made.config, "scale", 5.0)),
    "of its class": (lambda p: p.Model(), lambda p: (p.things.Config, "biased", False)),
    "its method": (lambda p: p.Model(), lambda p: (p.Model, "activated", lambda self, x: -x)),
    "its mode": (lambda p: p.Model(), lambda p: (p.made, "training", False)),
    "what a decorator reads": (lambda p: p.decorated(hook), lambda p: (p.CONFIG, "scale", 5.0)),
    "what it decorates": (
        lambda p: p.decorated(hook),
        lambda p: (sys.modules[__name__], "BY", 4.0),
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_code_of_a_package_reads_is_guarded(package, what, monkeypatch):
    make, change = CHANGES[what]
    package.made = make(package)
    step = prepared(lambda x: package.made(x), torch.ones(2))
    owner, name, value = change(package)
    if what == "function of the package":
        package.made = value
    setter = monkeypatch.setitem if isinstance(owner, dict) else monkeypatch.setattr
    setter(owner, name, value)
    with pytest.raises(torch.CaptureError, match=r"when it was captured, and is .* now"):
        step(torch.ones(2))


def test_functions_of_the_users_that_a_package_calls_are_guarded(package, monkeypatch):
    package.HOOKS.append(hook)
    step = prepared(lambda x: package.registered(x), torch.ones(2))
    monkeypatch.setattr(sys.modules[__name__], "BY", 4.0)
    with pytest.raises(torch.CaptureError, match=r"BY was .* when it was captured"):
        step(torch.ones(2))


def test_steps_are_those_of_the_plain_function(package):
    def made():
        torch.manual_seed(0)
        model = package.Model()
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = package.decorated(model)(x).square().sum()
            loss.backward()
            optimizer.step()
            return loss.detach()

        return model, step

    (plain, eager), (model, step) = made(), made()
    captured = torch.pipeline.capture(step)
    for i in range(6):
        x = torch.randn(3, 2) + i
        assert torch.equal(captured(x), eager(x))
        assert torch.equal(model.weight, plain.weight)


def test_iterators_that_no_code_reads_do_not_matter_and_others_are_refused(package):
    prepared(lambda x: package.scaled(x), torch.ones(2))  # beside what a counter names
    step = torch.pipeline.capture(lambda x: package.numbered(x))
    step(torch.ones(2))
    with pytest.raises(torch.CaptureError, match="'COUNT' is an iterator"):
        step(torch.ones(2))


def test_other_code_in_each_call_is_refused(package):
    step = torch.pipeline.capture(lambda x: package.evaluated(x))
    for i in range(1, 8):
        assert step(torch.ones(2)).tolist() == [i, i]
    text = r"other code in each call: <module>\(\) of captured_package in this one"
    with pytest.raises(torch.CaptureError, match=text) as raised:
        step(torch.ones(2))
    assert raised.value.result.tolist() == [8, 8]


def test_the_size_of_a_package_does_not_matter(package, monkeypatch):
    looks = {}
    for size in (100, 3000):
        monkeypatch.setattr(sys, "size_of_a_package", size, raising=False)
        importlib.reload(package.things)
        importlib.reload(package)
        step = prepared(lambda x: package.walked(x), torch.ones(2))
        package.things.Thing.looked_at.clear()
        step.reset()
        prepared(step, torch.ones(2))
        looks[size] = len(package.things.Thing.looked_at)
    assert looks[100] == looks[3000] > 0


def test_what_the_garbage_collector_calls_meanwhile_is_not_guarded(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "collector_watch.py").write_text(
        "times = 0\ndef hook(phase, info):\n    global times\n    times += 1\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    hook = importlib.import_module("collector_watch").hook

    def collecting(x):
        gc.collect()
        return x * 2

    captured = torch.pipeline.capture(collecting)
    gc.callbacks.append(hook)
    try:
        for _ in range(4):
            assert captured(torch.ones(2)).tolist() == [2, 2]
        assert captured._step is not None
    finally:
        gc.callbacks.remove(hook)
