"""Every public function, method and class says what it does."""

import importlib
import inspect

import pytest

import mindtorch_core as torch

MODULES = (
    "", "amp", "autograd", "fft", "library", "linalg", "masked", "nn", "nn.functional", "random",
    "frontend.printing", "serialization", "serialization.safetensors", "signal", "special", "testing", "utils",
)  # fmt: skip


def documented(thing):
    return bool((getattr(thing, "__doc__", None) or "").strip())


def undocumented(owner, name, found, label):
    value = getattr(owner, name)
    foreign = not getattr(value, "__module__", "mindtorch").startswith("mindtorch")
    if foreign or not (callable(value) or inspect.ismodule(value)):
        return
    if not documented(value):
        found.append(label)
    if inspect.isclass(value) and value.__module__.startswith("mindtorch"):
        for member, held in vars(value).items():
            if member.startswith("_") or not (callable(held) or isinstance(held, property)):
                continue
            if not documented(getattr(value, member)):
                found.append(f"{label}.{member}")


@pytest.mark.parametrize("name", MODULES)
def test_modules(name):
    module = importlib.import_module(f"mindtorch_core.{name}".rstrip("."))
    assert documented(module)
    found = []
    names = [n for n in dir(module) if not n.startswith("_")]
    for n in names:
        undocumented(module, n, found, n)
    assert found == []


def test_methods_of_tensors():
    names = [n for n in dir(torch.Tensor) if not n.startswith("_")]
    assert len(names) > 300
    assert [n for n in names if not documented(getattr(torch.Tensor, n))] == []


def test_ops_say_how_they_are_called():
    assert torch.sub.__doc__.splitlines()[0].startswith("sub(input, other, ")
    assert torch.softmax.__doc__.startswith("softmax(input, dim, ")
    assert "zeros(*size, dtype=None" in torch.zeros.__doc__
    lines = torch.max.__doc__.splitlines()
    assert any(line.startswith("max(input, dim, keepdim=False") for line in lines)
    assert any(line.startswith("max(input, other") for line in lines)
    assert torch.Tensor.add_.__doc__.startswith("add_(input, other, *, alpha=1) -> Tensor\n")
    assert torch.linalg.inv.__doc__.startswith("linalg.inv(A, ")
    assert torch.fft.fft.__doc__.startswith("fft.fft(input, ")
    assert torch.cat.__doc__ == torch.cat.__doc__.strip()
