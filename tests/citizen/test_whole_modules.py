"""Whole modules and optimizers in files, which go to PyTorch and come from it."""

import io
import operator

import pytest

import mindtorch_core as torch

np = pytest.importorskip("numpy")
pytest.importorskip("mindtorch_nn")


def saved(obj, lib=torch):
    file = io.BytesIO()
    lib.save(obj, file)
    file.seek(0)
    return file


def network(lib):
    layers = lib.nn.Sequential(
        lib.nn.Linear(3, 4),
        lib.nn.BatchNorm1d(4),
        lib.nn.Dropout(0.1),
        lib.nn.LSTM(4, 2, batch_first=True),
        lib.nn.ModuleDict({"a": lib.nn.Embedding(3, 2), "b": lib.nn.MultiheadAttention(4, 2)}),
        lib.nn.ParameterList([lib.nn.Parameter(lib.ones(2))]),
        lib.nn.MarginRankingLoss(),
        lib.nn.GRUCell(2, 2),
    )
    layers.register_buffer("tied", layers[0].weight.detach())
    return layers.eval()


def same_modules(ours, theirs):
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for name, t in ours.state_dict().items():
        assert t.tolist() == theirs.state_dict()[name].tolist()
    assert [m.training for m in ours.modules()] == [m.training for m in theirs.modules()]


def test_modules_come_back():
    made = network(torch)
    loaded = torch.load(saved(made), weights_only=False)
    same_modules(loaded, made)
    loaded.tied.fill_(3)
    assert loaded[0].weight.tolist() == [[3.0] * 3] * 4
    assert loaded[1](loaded[0](torch.ones(2, 3))).requires_grad


def test_modules_go_to_pytorch_and_back():
    pt = pytest.importorskip("torch")
    ours, theirs = network(torch), network(pt)
    there = pt.load(saved(ours), weights_only=False)
    assert type(there[0]) is pt.nn.Linear
    same_modules(ours, there)
    here = torch.load(saved(theirs, pt), weights_only=False)
    assert type(here[6]) is torch.nn.MarginRankingLoss
    same_modules(here, theirs)
    x = [[1.0, 2.0, 3.0]] * 2
    expected = theirs[1](theirs[0](pt.tensor(x))).tolist()
    assert np.allclose(here[1](here[0](torch.tensor(x))).tolist(), expected, atol=1e-6)


def stepped(lib):
    p = lib.nn.Parameter(lib.ones(2))
    optimizer = lib.optim.Adam([p], lr=0.5)
    scheduler = lib.optim.lr_scheduler.StepLR(optimizer, 1)
    p.grad = lib.ones(2)
    optimizer.step()
    scheduler.step()
    return {"optimizer": optimizer, "scheduler": scheduler, "p": p}


def test_optimizers_go_to_pytorch_and_back():
    pt = pytest.importorskip("torch")
    here = torch.load(saved(stepped(pt), pt), weights_only=False)
    there = pt.load(saved(stepped(torch)), weights_only=False)
    for loaded, lib in ((here, torch), (there, pt)):
        assert type(loaded["optimizer"]) is lib.optim.Adam
        assert loaded["optimizer"].param_groups[0]["params"][0] is loaded["p"]
        assert loaded["optimizer"].param_groups[0]["lr"] == pytest.approx(0.05)
        assert loaded["scheduler"].optimizer is loaded["optimizer"]
        loaded["p"].grad = lib.ones(2)
        loaded["optimizer"].step()
        loaded["scheduler"].step()
        assert loaded["p"].tolist() == pytest.approx([0.45, 0.45], abs=1e-5)


PLACES = (
    "nn", "optim", "optim.lr_scheduler", "optim.swa_utils", "utils.data", "utils.hooks",
    "distributions", "nn.utils.parametrize", "nn.parameter",
)  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_classes_have_pytorchs_names(place):
    pt = pytest.importorskip("torch")
    from mindtorch_core.serialization.homes import find, home

    ours, theirs = (operator.attrgetter(place)(lib) for lib in (torch, pt))
    checked = 0
    for name in dir(theirs):
        own, other = getattr(ours, name, None), getattr(theirs, name)
        public = name[0] != "_" and isinstance(own, type) and isinstance(other, type)
        if public and other.__module__.startswith("torch"):
            assert home(own) == (other.__module__, other.__qualname__)
            assert find(*home(own)) is own
            checked += 1
    assert checked
