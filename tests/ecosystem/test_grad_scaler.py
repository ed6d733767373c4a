"""`GradScaler` beside PyTorch's, step by step."""

import copy
import pickle

import pytest

import mindtorch_core as torch
from mindtorch_core.amp import GradScaler


def steps(lib, scaler, losses, *, unscale=False):
    """What happens in steps of one parameter, one loss each: scale, parameter, growth."""
    p = lib.nn.Parameter(lib.tensor([1.0, -2.0]))
    optimizer = lib.optim.SGD([p], lr=0.1)
    seen = []
    for factor in losses:
        optimizer.zero_grad()
        scaler.scale((p * factor).sum()).backward()
        if unscale:
            scaler.unscale_(optimizer)
            seen.append(p.grad.tolist())
        scaler.step(optimizer)
        scaler.update()
        seen.append((scaler.get_scale(), p.tolist(), scaler._get_growth_tracker()))
    return seen, scaler.state_dict()


OPTIONS = {"init_scale": 8.0, "growth_interval": 2, "growth_factor": 4.0, "backoff_factor": 0.25}


@pytest.mark.parametrize("unscale", [False, True])
def test_scales_grow_and_shrink_as_in_pytorch(unscale):
    pt = pytest.importorskip("torch")
    losses = [1.0, 2.0, 3.0, float("inf"), 1.0, 0.5, 0.25]
    mine = steps(torch, GradScaler("cpu", **OPTIONS), losses, unscale=unscale)
    theirs = steps(pt, pt.amp.GradScaler("cpu", **OPTIONS), losses, unscale=unscale)
    assert repr(mine) == repr(theirs)


def test_a_step_that_is_not_finite_is_skipped():
    seen, _ = steps(torch, GradScaler("cpu", **OPTIONS), [float("nan"), 1.0])
    assert seen[0] == (2.0, [1.0, -2.0], 0)
    assert seen[1][1] == pytest.approx([0.9, -2.1])


def test_states_travel():
    scaler = GradScaler("cpu", **OPTIONS)
    steps(torch, scaler, [1.0])
    for other in (copy.deepcopy(scaler), pickle.loads(pickle.dumps(scaler))):
        assert other.state_dict() == scaler.state_dict()
    fresh = GradScaler("cpu")
    fresh.load_state_dict(scaler.state_dict())
    assert fresh.state_dict() == scaler.state_dict()
    with pytest.raises(RuntimeError, match="The source state dict is empty"):
        fresh.load_state_dict({})


def test_what_is_refused():
    p = torch.nn.Parameter(torch.ones(1))
    optimizer, scaler = torch.optim.SGD([p], lr=0.1), GradScaler("cpu")
    with pytest.raises(AssertionError, match="Attempted step but _scale is None"):
        scaler.step(optimizer)
    scaler.scale(p.sum())
    with pytest.raises(AssertionError, match="No inf checks were recorded for this optimizer"):
        scaler.step(optimizer)
    scaler.scale(p.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called on this optimizer"):
        scaler.unscale_(optimizer)
    with pytest.raises(AssertionError, match="beginning of an iteration"):
        pickle.dumps(scaler)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="already been called since the last update"):
        scaler.step(optimizer)
    with pytest.raises(AssertionError, match="growth factor must be > 1"):
        GradScaler("cpu", growth_factor=1.0)


def attempt(call):
    try:
        return call()
    except Exception as error:  # noqa: BLE001  (whatever PyTorch raises)
        return type(error).__name__, str(error)


def ready(lib, **options):
    """A scaler that has a factor, a parameter with a scaled gradient, and its optimizer."""
    scaler = lib.amp.GradScaler("cpu", **{**OPTIONS, **options})
    p = lib.nn.Parameter(lib.tensor([1.0, -2.0]))
    scaler.scale(p.sum()).backward()
    return scaler, p, lib.optim.SGD([p], lr=0.5)


def factors_that_are_given(lib):
    one = lib.ones
    found = []
    for given in (
        lambda: 4.0,
        lambda: 3,
        lambda: "x",
        lambda: lib.tensor(3.5),
        lambda: lib.tensor(2, dtype=lib.int64),
        lambda: lib.tensor(1.0, dtype=lib.float64),
        lambda: one(2),
        lambda: one(0),
        lambda: one(1, requires_grad=True),
        lambda: lib.ones((), device="meta"),
    ):
        scaler, p, optimizer = ready(lib)
        scaler.step(optimizer)
        what = attempt(lambda: scaler.update(given()))
        if isinstance(given(), int | str):  # PyTorch asks them for their device
            assert what[0] in ("AttributeError", "TypeError")
            what = "refused"
        found += [what, scaler.get_scale(), scaler._get_growth_tracker(), p.tolist()]
        found += [attempt(scaler.update)]  # the step is over, or not, where that was refused
    return found


def losses_of_every_kind(lib):
    scaler = lib.amp.GradScaler("cpu", **OPTIONS)
    x = lib.ones(2)
    found = [scaler.get_scale(), [t.tolist() for t in scaler.scale([x, x * 3])]]
    nested = scaler.scale((x, [x * 2]))
    found += [nested[0].tolist(), nested[1][0].tolist()]
    found += [t.tolist() for t in scaler.scale(iter([x, x * 5]))]
    return [*found, attempt(lambda: scaler.scale(5))]


def several_optimizers(lib):
    found = []
    for bad in (False, True):
        scaler, p, first = ready(lib, growth_interval=1)
        q = lib.nn.Parameter(lib.ones(1))
        second = lib.optim.SGD([q], lr=0.5)
        scaler.scale(q.sum() * (float("inf") if bad else 1)).backward()
        scaler.unscale_(second)
        found += [scaler.step(first), attempt(lambda: scaler.step(second, closure=lambda: None))]
        found += [scaler.step(second), attempt(lambda: scaler.unscale_(first))]
        scaler.update()
        found += [p.tolist(), q.tolist(), scaler.get_scale(), scaler._get_growth_tracker()]
    return found


def what_is_set(lib):
    scaler, p, optimizer = ready(lib)
    scaler.set_growth_factor(3.0)
    scaler.set_backoff_factor(0.125)
    scaler.set_growth_interval(1)
    found = [scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval()]
    for factor in (1.0, float("nan"), 1.0, 1e38, 1.0):
        optimizer.zero_grad()
        scaler.scale((p * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        found += [scaler.get_scale(), scaler._get_growth_tracker()]
    scaler.update(2e38)  # where growing would overflow
    optimizer.zero_grad()
    scaler.scale((p * 0).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    return [*found, scaler.get_scale(), scaler.state_dict()]


def what_is_disabled(lib):
    scaler = lib.amp.GradScaler("cpu", growth_factor=0.5, backoff_factor=2.0, enabled=False)
    p = lib.nn.Parameter(lib.ones(1))
    optimizer = lib.optim.SGD([p], lr=0.5)
    p.sum().backward()
    found = [scaler.scale(5), scaler.unscale_(optimizer), scaler.step(optimizer), p.tolist()]
    found += [optimizer.step(lambda: 7), scaler.step(optimizer, closure=lambda: 8)]
    found += [scaler.update(), scaler.update(3.0), scaler.get_scale(), scaler.is_enabled()]
    return [*found, scaler.state_dict(), scaler.load_state_dict({}), scaler._get_growth_tracker()]


def what_comes_too_early(lib):
    scaler = lib.amp.GradScaler("cpu")
    p = lib.nn.Parameter(lib.ones(1))
    optimizer = lib.optim.SGD([p], lr=0.5)
    found = [
        attempt(call)
        for call in (
            scaler.update,
            lambda: scaler.unscale_(optimizer),
            lambda: scaler.step(optimizer),
        )
    ]
    scaler.scale(p.sum())
    found += [attempt(scaler.update), attempt(lambda: scaler.step(optimizer))]
    half = lib.nn.Parameter(lib.ones(1, dtype=lib.float16))
    half.grad = lib.ones_like(half)
    halves = lib.optim.SGD([half], lr=0.5)
    found += [attempt(lambda: scaler.unscale_(halves)), attempt(lambda: scaler.step(halves))]
    for wrong in ({"growth_factor": 1.0}, {"backoff_factor": 1.0}):
        found += [attempt(lambda: lib.amp.GradScaler("cpu", **wrong))]
    return found


@pytest.mark.parametrize(
    "scenario",
    [
        factors_that_are_given,
        losses_of_every_kind,
        several_optimizers,
        what_is_set,
        what_is_disabled,
        what_comes_too_early,
    ],
)
def test_agrees_with_pytorch(scenario):
    pt = pytest.importorskip("torch")
    assert repr(scenario(torch)) == repr(scenario(pt))


@pytest.mark.filterwarnings("ignore:.*torch.cuda.amp:FutureWarning")
def test_without_the_device_it_is_disabled_and_says_so():
    for line in ("amp.GradScaler('cuda')", "cuda.amp.GradScaler()"):
        caller = compile(f"torch.{line}", "caller.py", "eval")
        with pytest.warns(UserWarning, match="CUDA is not available.  Disabling") as seen:
            scaler = eval(caller)
        assert {w.filename for w in seen} == {"caller.py"}
    loss = torch.ones(1)
    assert scaler.scale(loss) is loss
    assert not scaler.is_enabled()
    assert scaler.state_dict() == {}
    assert scaler.get_scale() == 1.0


@pytest.mark.filterwarnings("ignore:.*CUDA is not available", "ignore:.*CUDA device")
def test_names_of_old_warn():
    for module, name, kind in [
        (torch.cuda.amp, "autocast", "cuda"),
        (torch.cuda.amp, "GradScaler", "cuda"),
        (torch.cpu.amp, "autocast", "cpu"),
        (torch.cpu.amp, "GradScaler", "cpu"),
    ]:
        text = (
            rf"`torch.{kind}.amp.{name}\(args...\)` is deprecated. Please use `torch.amp.{name}\('"
        )
        with pytest.warns(FutureWarning, match=text) as seen:
            getattr(module, name)(enabled=False)
        assert seen[0].filename == __file__
    for name in ("custom_fwd", "custom_bwd"):
        with pytest.warns(FutureWarning, match=rf"torch.cuda.amp.{name}\(args...\)` is deprecated"):
            getattr(torch.cuda.amp, name)(lambda ctx: None)
