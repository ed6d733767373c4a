"""gradcheck finds tangents that come from nowhere."""

import pytest

import mindtorch_core as torch


class Moves(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g.clone()

    @staticmethod
    def jvp(ctx, tangent):
        return tangent.clone() if tangent.any() else tangent + 1


@pytest.mark.parametrize("fast_mode", [False, True])
def test_what_does_not_move_moves_nothing(fast_mode):
    """Where every direction is right, a tangent of zeros is asked for as well."""
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    options = {"fast_mode": fast_mode, "raise_exception": False}
    assert torch.autograd.gradcheck(Moves.apply, (x,), **options)
    assert not torch.autograd.gradcheck(Moves.apply, (x,), check_forward_ad=True, **options)
    with pytest.raises(RuntimeError, match="Expected all tangents to be undefined or zero where"):
        torch.autograd.gradcheck(Moves.apply, (x,), check_forward_ad=True, fast_mode=fast_mode)
