"""Flops that users count by formulas of their own: of ops of `torch.library`, and for one counter."""

import pytest

import mindtorch_core as torch
from mindtorch_core.utils.flop_counter import (
    FlopCounterMode,
    flop_registry,
    register_flop_formula,
)

pytestmark = pytest.mark.usefixtures("_formulas_put_back")


@pytest.fixture
def _formulas_put_back():
    before = dict(flop_registry)
    yield
    flop_registry.clear()
    flop_registry.update(before)


def counted(run, **options):
    with FlopCounterMode(display=False, **options) as counter:
        run()
    return counter.get_total_flops()


def test_an_op_of_torch_library():
    with torch.library._scoped_library("flops", "FRAGMENT"):

        @torch.library.custom_op("flops::scale", mutates_args=())
        def scale(x: torch.Tensor, n: int) -> torch.Tensor:
            return x * n

        assert counted(lambda: scale(torch.ones(3, 5), 7)) == 0

        @register_flop_formula(torch.ops.flops.scale)
        def formula(x, n, *, out_shape):
            assert (tuple(x), tuple(out_shape)) == ((3, 5), (3, 5))
            return x[0] * n

        assert counted(lambda: scale(torch.ones(3, 5), 7)) == 21
        assert torch.ops.flops.scale in flop_registry


def test_several_ops_whose_formula_takes_tensors():
    @register_flop_formula([torch.ops.aten.sin, torch.ops.aten.cos], get_raw=True)
    def formula(x, *, out_val):
        return x.numel() + 100 * out_val.numel()

    assert counted(lambda: torch.ones(2, 3).sin().cos().tan()) == 2 * 606


def test_formulas_of_one_counter():
    """They take shapes, as PyTorch's do, unless they say that they are raw."""
    exp, x = torch.ops.aten.exp, torch.ones(3, 5)
    assert counted(x.exp, custom_mapping={exp: lambda a, out_shape: a[0] + out_shape[1]}) == 8

    def raw(a, out_val):
        return a.numel() * out_val.dim()

    raw._get_raw = True
    assert counted(x.exp, custom_mapping={exp: raw}) == 30
    mm = {torch.ops.aten.mm: lambda a, b, out_shape: 1}
    assert counted(lambda: x @ x.t(), custom_mapping=mm) == 1  # in the place of the usual one
    assert counted(lambda: x @ x.t()) == 90


def test_what_is_refused():
    with pytest.raises(
        ValueError, match=r"expected each target to be OpOverloadPacket .*got 3 which"
    ):
        register_flop_formula([torch.ops.aten.sin, 3])(lambda x, out_shape: 1)
    assert torch.ops.aten.sin not in flop_registry  # nothing is half registered
    with pytest.raises(RuntimeError, match=r"duplicate registrations for aten\.mm"):
        register_flop_formula([torch.ops.aten.sin, torch.ops.aten.mm])(lambda x, out_shape: 1)
    assert torch.ops.aten.sin not in flop_registry
    with pytest.warns(UserWarning, match="mods argument is not needed anymore"):
        FlopCounterMode(torch.nn.Linear(2, 2))
