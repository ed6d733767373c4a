"""Operands on two devices of a kind are refused: by kernels, compositions and what is left to the CPU."""

import pytest

import mindtorch_core as torch

F = torch.nn.functional
CALLS = """
    torch.block_diag(here(2), there(2))
    torch.linalg.solve(here(2, 2), there(2, 2))
    torch.linalg.solve_triangular(here(2, 2), there(2, 2), upper=True)
    torch.linalg.lstsq(here(2, 2), there(2, 2))
    torch.cholesky_solve(here(2, 2), there(2, 2))
    torch.linalg.householder_product(here(3, 2), there(2))
    torch.ormqr(here(3, 2), there(2), here(3, 2))
    torch.ormqr(here(3, 2), here(2), there(3, 2))
    F.scaled_dot_product_attention(here(2, 2), here(2, 2), there(2, 2))
    F.grid_sample(here(1, 1, 2, 2), there(1, 2, 2, 2), align_corners=False)
    torch.gradient(here(3), spacing=(there(3),))
    torch.special.zeta(here(2), there(2))
    here(2).set_(there(2))
    here(2).set_(there(2).untyped_storage(), 0, (2,))
"""


def refused(call):
    def ones(device):
        return lambda *shape: torch.ones(shape, device=device)

    names = {"torch": torch, "F": F, "here": ones("npu:0"), "there": ones("npu:1")}
    with pytest.raises(RuntimeError, match=r"same device|different device") as caught:
        eval(call, names)
    return str(caught.value)


@pytest.mark.filterwarnings("ignore:.*computed on the CPU:UserWarning")
@pytest.mark.parametrize("call", [call.strip() for call in CALLS.strip().splitlines()])
def test_now_and_in_a_pipeline(npu, call):
    found = refused(call)
    with torch.pipeline():
        later = refused(call)
    for words in (found, later):
        assert "npu:0" in words
        assert "npu:1" in words


def test_the_words_of_meshgrid(npu):
    with pytest.raises(RuntimeError, match="meshgrid expects all tensors to have the same device"):
        torch.meshgrid(torch.ones(2, device="npu:0"), torch.ones(2, device="npu:1"), indexing="ij")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            "torch._foreach_addcmul([here(1)], [here(1)], [here(1)], here(1))",
            "Expected scalars to be on CPU, got npu:0",
        ),
        (
            "torch.tensor_split(here(4), here(2).long())",
            "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on npu:0",
        ),
    ],
)
def test_what_has_to_be_on_the_cpu(npu, call, words):
    names = {"torch": torch, "here": lambda *shape: torch.ones(shape, device="npu:0")}
    with pytest.raises(RuntimeError, match=words):
        eval(call, names)
