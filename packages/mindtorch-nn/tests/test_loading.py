"""Loading a state dict: what does not fit changes nothing."""

import pytest

import mindtorch_core as torch
from mindtorch_core import nn


def values(model):
    return {k: v.tolist() for k, v in model.state_dict().items()}


@pytest.fixture
def model():
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))


def other_state(model):
    return {k: v + 1 for k, v in model.state_dict().items()}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"2.weight": torch.ones(2, 2)}, r"size mismatch for 2\.weight"),
        ({"2.weight": "text"}, r"expected torch\.Tensor or Tensor-like"),
        ({"2.weight": torch.ones(1, 3, device="meta")}, "no data"),
        ({"nobody": torch.ones(1)}, r"Unexpected key\(s\) in state_dict: \"nobody\""),
        ({"2.weight": None}, r"Missing key\(s\) in state_dict: \"2\.weight\""),
    ],
)
@pytest.mark.parametrize("assign", [False, True])
def test_what_does_not_fit_changes_nothing(model, change, text, assign):
    if assign and "meta" in repr(change):
        pytest.skip("a meta tensor can be assigned")
    if "meta" in repr(change):
        pytest.importorskip("mindtorch_meta")
    state = {**other_state(model), **change}
    state = {k: v for k, v in state.items() if v is not None}
    before, parameters = values(model), list(model.parameters())
    with pytest.raises(RuntimeError, match=text):
        model.load_state_dict(state, assign=assign)
    assert values(model) == before
    assert all(a is b for a, b in zip(model.parameters(), parameters, strict=True))


@pytest.mark.parametrize("fault", ["raises", "adds a key"])
def test_a_hook_that_makes_it_fail_takes_it_back(model, fault):
    def hook(module, keys):
        assert module[0].weight.tolist() != before["0.weight"]  # it sees what was loaded
        if fault == "raises":
            raise ValueError("no")
        keys.missing_keys.append("made up")

    before = values(model)
    model.register_load_state_dict_post_hook(hook)
    with pytest.raises((ValueError, RuntimeError), match=r"no|made up"):
        model.load_state_dict(other_state(model))
    assert values(model) == before


def test_a_hook_may_excuse_what_is_missing(model):
    state = other_state(model)
    del state["2.bias"]
    model.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    model.load_state_dict(state)
    assert model[0].weight.tolist() == state["0.weight"].tolist()


def test_a_module_that_loads_by_itself_is_loaded_at_once():
    class Doubled(nn.Linear):
        def _load_from_state_dict(self, state_dict, prefix, *rest):
            inner = {k: v * 2 for k, v in state_dict.items()}
            super()._load_from_state_dict(inner, prefix, *rest)

    m = Doubled(1, 1)
    m._load_from_state_dict({"weight": torch.ones(1, 1)}, "", {}, False, [], [], [])
    assert m.weight.item() == 2
    nn.Sequential(m).load_state_dict({"0.weight": torch.ones(1, 1), "0.bias": torch.ones(1)})
    assert (m.weight.item(), m.bias.item()) == (2, 2)


def test_a_load_within_a_load():
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(1, 1)
            self.own = nn.Parameter(torch.zeros(1))

        def _load_from_state_dict(self, state_dict, prefix, *rest):
            self.inner.load_state_dict({"weight": torch.full((1, 1), 7.0), "bias": torch.zeros(1)})
            assert self.inner.weight.item() == 7
            super()._load_from_state_dict(state_dict, prefix, *rest)

    m = Outer()
    m.load_state_dict({k: v * 0 + 3 for k, v in m.state_dict().items()})
    assert (m.own.item(), m.inner.weight.item()) == (3, 3)


def test_a_lazy_module_whose_load_fails_is_lazy_again():
    m = nn.Sequential(nn.LazyLinear(2), nn.Linear(2, 1))
    state = {"0.weight": torch.ones(2, 3), "0.bias": torch.ones(2), "1.weight": torch.ones(9)}
    with pytest.raises(RuntimeError, match="size mismatch"):
        m.load_state_dict(state)
    assert m[0].has_uninitialized_params()
    assert m(torch.ones(1, 5)).shape == (1, 1)


def test_a_conversion_that_fails_changes_nothing(model):
    model(torch.ones(4, 2)).sum().backward()
    seen = []

    def convert(t):
        seen.append(t)
        if len(seen) == 8:
            raise ValueError("out of something")
        return t.double() if t.is_floating_point() else t

    before = values(model)
    with pytest.raises(ValueError, match="out of something"):
        model._apply(convert)
    assert {v.dtype for v in model.state_dict().values()} == {torch.float32, torch.int64}
    assert values(model) == before
    assert all(p.grad.dtype == torch.float32 for p in model.parameters())
    assert model(torch.ones(4, 2)).shape == (4, 1)


def test_saved_models_load(model, tmp_path):
    torch.save(model.state_dict(), tmp_path / "m.pt")
    fresh = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    state = torch.load(tmp_path / "m.pt")
    assert fresh.load_state_dict(state).missing_keys == []
    assert values(fresh) == values(model)
    assert state._metadata[""] == {"version": 1}
    torch.save(model[0].weight, tmp_path / "p.pt")
    loaded = torch.load(tmp_path / "p.pt")
    assert isinstance(loaded, nn.Parameter)
    assert loaded.requires_grad
