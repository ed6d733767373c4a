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
    with pytest.raises(RuntimeError, match="Attempted step but _scale is None"):
        scaler.step(optimizer)
    scaler.scale(p.sum())
    with pytest.raises(RuntimeError, match="No inf checks were recorded for this optimizer"):
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
    with pytest.raises(ValueError, match="growth factor must be > 1"):
        GradScaler("cpu", growth_factor=1.0)


@pytest.mark.filterwarnings("ignore:.*torch.cuda.amp:FutureWarning")
def test_without_the_device_it_is_disabled_and_says_so():
    for line in ("amp.GradScaler('cuda')", "cuda.amp.GradScaler()"):
        caller = compile(f"torch.{line}", "caller.py", "eval")
        with pytest.warns(UserWarning, match="no device of type 'cuda' here. Disabling") as seen:
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
