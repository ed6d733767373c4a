"""The short name is the core itself, whatever is imported by it, and in whichever order."""

import pickle
import subprocess
import sys

import pytest

import mindtorch
import mindtorch_core


def run(*arguments):
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_the_core():
    assert mindtorch is mindtorch_core
    assert mindtorch.__name__ == mindtorch.__spec__.name == "mindtorch_core"


@pytest.mark.parametrize(
    ("statement", "same"),
    [
        ("import mindtorch.nn.functional as found", "mindtorch_core.nn.functional"),
        ("from mindtorch.nn import functional as found", "mindtorch_core.nn.functional"),
        ("import mindtorch.nn as found", "mindtorch_core.nn"),
        ("from mindtorch import nn as found", "mindtorch_core.nn"),
        ("import mindtorch.optim as found", "mindtorch_nn.optim"),
        ("from mindtorch.utils import data as found", "mindtorch_nn.data"),
        ("import mindtorch.nn.modules.linear as found", "mindtorch_nn.modules.linear"),
        ("import mindtorch.autograd.graph as found", "mindtorch_core.autograd.graph"),
        ("from mindtorch.amp import autocast_mode as found", "mindtorch_core.amp.autocast_mode"),
        ("import mindtorch.fft as found", "mindtorch_core.fft"),
    ],
)
@pytest.mark.parametrize("first", ["", "{0}; ", "import mindtorch_core; "])
def test_a_path_below_it_is_the_cores(statement, same, first):
    """Fresh, after the module was imported by its own path, and after the core was."""
    first = first.format(f"import {same}")
    run("-c", f"{first}{statement}; import {same}; assert found is {same}; found.__spec__.name")


def test_what_is_not_there():
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'mindtorch.nowhere'"):
        import mindtorch.nowhere  # noqa: F401
    with pytest.raises(ImportError, match="Nonesuch"):
        from mindtorch.nn import Nonesuch  # noqa: F401


def test_a_step_of_training():
    torch = mindtorch
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    x = torch.rand(64, 2)
    y = x.sum(1, keepdim=True)
    losses = []
    for _ in range(30):
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 10


def test_pickles_name_the_core():
    from mindtorch.nn import Parameter

    assert b"mindtorch.nn" not in pickle.dumps(Parameter)
    assert pickle.loads(pickle.dumps(Parameter)) is Parameter


def test_the_command():
    assert run("-m", "mindtorch", "--version") == run("-m", "mindtorch_core", "--version")
