"""`torch.library.triton_op`, and the older name of `register_fake`."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def test_an_op_whose_function_gives_its_fake_results():
    @torch.library.triton_op("tritonops::twice", mutates_args={"y"})
    def twice(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        y.add_(1)
        return x * 2

    y, fake = torch.zeros(2), torch.ones(3, device="meta")
    assert (twice(torch.ones(2), y).tolist(), y.tolist()) == ([2, 2], [1, 1])
    assert twice(fake, fake).shape == (3,)
    assert torch.ops.tritonops.twice(torch.ones(1), torch.ones(1)).tolist() == [2]


def test_kernels_of_triton_are_not_wrapped():
    """PyTorch says so too, where Triton is installed."""
    with pytest.raises(RuntimeError, match="wrap_triton only works on functions annotated with"):
        torch.library.wrap_triton(len)


def test_impl_abstract_is_register_fake():
    for lib in (torch, pt):
        op = lib.library.custom_op(
            "tritonops::copied", lambda x: x.clone(), mutates_args=(), schema="(Tensor x) -> Tensor"
        )
        with pytest.warns(FutureWarning, match="was renamed to `torch.library.register_fake`"):
            lib.library.impl_abstract("tritonops::copied")(lambda x: x.new_empty(7))
        assert op(lib.ones(3, device="meta")).shape == (7,)
