"""What a program under `mindtorch run` saves, PyTorch loads; and the other way round."""

import subprocess
import sys

import pytest

pt = pytest.importorskip("torch")

MODULES = """
import sys, torch
from torch import nn
def made():
    torch.manual_seed(1)
    parts = {
        "attention": nn.MultiheadAttention(8, 2),
        "layer": nn.TransformerEncoderLayer(8, 2, 16),
        "gelu": nn.TransformerDecoderLayer(8, 2, 16, activation="gelu"),
        "lstm": nn.LSTM(4, 5, 2, bidirectional=True),
        "cell": nn.GRUCell(3, 3),
        "list": nn.ParameterList([nn.Parameter(torch.ones(2))]),
        "dict": nn.ParameterDict({"a": nn.Parameter(torch.ones(2))}),
        "margin": nn.TripletMarginLoss(),
        "norm": nn.Sequential(nn.BatchNorm2d(3), nn.GroupNorm(1, 3), nn.Dropout(0.1)),
    }
    return nn.ModuleDict(parts)
"""


def numbers(model):
    return [p.detach().double().tolist() for p in model.parameters()]


@pytest.fixture(scope="module")
def theirs():
    """PyTorch's modules of the same kinds."""
    found = {}
    exec(MODULES, found)
    return found["made"]()


def run(text, file):
    done = subprocess.run(
        [sys.executable, "-m", "mindtorch_core", "run", "-c", MODULES + text, str(file)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_whole_modules_for_pytorch(tmp_path, theirs):
    file = tmp_path / "modules.pt"
    run("torch.save(made(), sys.argv[1])", file)
    loaded = pt.load(file, weights_only=False)
    assert [type(m) for m in loaded.modules()] == [type(m) for m in theirs.modules()]
    for ours, wanted in zip(numbers(loaded), numbers(theirs), strict=True):
        assert ours == wanted
    x = pt.arange(16.0).reshape(2, 1, 8) / 16
    loaded.eval(), theirs.eval()
    assert loaded["layer"](x).tolist() == theirs["layer"](x).tolist()


def test_whole_modules_of_pytorch(tmp_path, theirs):
    file = tmp_path / "modules.pt"
    pt.save(theirs, file)
    said = run(
        "found, wanted = torch.load(sys.argv[1], weights_only=False), made()\n"
        "assert [type(m) for m in found.modules()] == [type(m) for m in wanted.modules()]\n"
        "for a, b in zip(found.parameters(), wanted.parameters(), strict=True):\n"
        "    assert torch.equal(a, b)\n"
        "found.eval()\n"
        "print(found['layer'](torch.arange(16.0).reshape(2, 1, 8) / 16).tolist())",
        file,
    )
    theirs.eval()
    wanted = theirs["layer"](pt.arange(16.0).reshape(2, 1, 8) / 16)
    assert pt.tensor(eval(said)).allclose(wanted, atol=1e-6)
