"""`torch.distributed.optim._NamedOptimizer`, beside PyTorch's."""

from pathlib import Path

import pytest

import mindtorch_core as torch

PROGRAM = Path(__file__).parent / "programs" / "named_optimizer.py"


def test_it_tells_and_takes_what_pytorchs_does(printed):
    pytest.importorskip("torch")
    pytest.importorskip("mindtorch_nn")
    assert printed("-m", "mindtorch_core", "run", PROGRAM) == printed(PROGRAM)


def test_gradients_are_let_go_of():
    nn = pytest.importorskip("mindtorch_nn")  # PyTorch's raises AttributeError
    model = nn.Linear(2, 1)
    named = torch.distributed.optim._NamedOptimizer
    optimizer = named(model.named_parameters(), torch.optim.SGD, lr=0.1)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.zero_grad(set_to_none=False)
    assert model.weight.grad.tolist() == [[0, 0]]
    optimizer.zero_grad()
    assert model.weight.grad is None
