"""Names of nodes and what stands behind them, as PyTorch shows them."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

CALLS = {
    "clamp": lambda lib, x: x.clamp(0, 1),
    "clamp by a side": lambda lib, x: x.clamp(min=0),
    "clamp by tensors": lambda lib, x: x.clamp(lib.zeros(3), lib.ones(3)),
    "a number less": lambda lib, x: x - 1,
    "scatter of a number": lambda lib, x: x.scatter(0, lib.tensor([1]), 2.0),
    "scatter of a tensor": lambda lib, x: x.scatter(0, lib.tensor([1]), lib.zeros(1)),
    "affine_grid": lambda lib, x: lib.nn.functional.affine_grid(
        x.expand(1, 2, 3), (1, 1, 2, 2), align_corners=False
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_the_name(call):
    names = [
        CALLS[call](lib, lib.tensor([-1.0, 0.5, 2.0], requires_grad=True)).grad_fn.name()
        for lib in (torch, pt)
    ]
    assert names[0] == names[1]


def test_the_name_of_a_number_less_a_tensor():
    names = [(1 - lib.ones(2, requires_grad=True)).grad_fn.name() for lib in (torch, pt)]
    assert names[0] == names[1]


@pytest.mark.parametrize("loss", ["mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss"])
def test_a_loss_of_one_shape_stands_before_its_operands(loss):
    found = []
    for lib in (torch, pt):
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        made = getattr(lib.nn.functional, loss)(x, x * 2, reduction="sum")
        node = made.grad_fn.next_functions[0][0] if loss == "l1_loss" else made.grad_fn
        found.append([f.name() for f, _ in node.next_functions if f is not None])
    assert found[0] == found[1]


def test_a_grid_of_positions_is_walked_twice():
    found = []
    for lib in (torch, pt):
        theta = lib.arange(12.0).reshape(2, 2, 3).requires_grad_()
        grid = lib.nn.functional.affine_grid(theta, (2, 1, 3, 2), align_corners=False)
        for weight in (lib.arange(24.0).reshape(2, 3, 2, 2), 1):
            (grid * weight).sum().backward()
            found.append(theta.grad.tolist())
    assert found[:2] == found[2:]
