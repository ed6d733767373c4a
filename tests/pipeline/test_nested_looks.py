"""Kernels that look at their operands while an outer block is launched."""

import pytest

import mindtorch_core as torch


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("look", [torch.Tensor.tolist, torch.Tensor.numpy, torch.Tensor.sum])
def test_a_kernel_that_looks_sees_nothing_of_what_an_inner_block_is_to_write(trace, look):
    """The outer block is launched first, and its kernels ask for values that are there."""
    library = torch.library.Library("boundaries", "DEF")
    library.define("looking(Tensor x) -> Tensor")
    library.impl("looking", lambda x: look(x) is None or x.clone(), "CPU")
    library.impl("looking", torch.empty_like, "Meta")
    try:
        x = torch.ones(3)
        with torch.pipeline():
            y = torch.ops.boundaries.looking(x)
            with torch.pipeline(trace=trace):
                x.mul_(0.5)
        assert y.tolist() == [1.0] * 3
        assert x.tolist() == [0.5] * 3
    finally:
        library._destroy()


def test_an_outer_block_that_fails_as_an_inner_one_ends():
    x, whole = torch.ones(3), torch.tensor([4, 2])

    def inner():
        with torch.pipeline():
            x.add_(1)

    with torch.pipeline():
        bad = whole // torch.tensor([2, 0])
        with pytest.raises(torch.PipelineError, match="ZeroDivisionError"):
            inner()
        assert x.tolist() == [2.0] * 3
        with pytest.raises(torch.PipelineError):
            bad.tolist()
