"""Names of tensors' types, as ``torch.FloatTensor``: what they tell and where they convert to, beside PyTorch."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

TYPES_ELSEWHERE = [
    "lib.ones(1, device='meta').type()", "lib.typename(lib.ones(1, device='meta', dtype=lib.int64))",
    "lib.ones(1).to_sparse().type()", "lib.typename(lib.ones(1).to_sparse())",
    "lib.ones(1).to_sparse().type('torch.sparse.DoubleTensor').dtype",
    "lib.ones(1).to_sparse().type('torch.DoubleTensor').layout",
    "lib.ones(1).type('torch.sparse.DoubleTensor').layout",
    "lib.ones(1, device='meta').type(lib.int32).device", "lib.ones(1, device='meta').type('torch.IntTensor')",
    "lib.ones(1).type('torch.meta.FloatTensor')", "lib.ones(1).type('torch.cpu.FloatTensor')",
]  # fmt: skip


@pytest.mark.parametrize("program", TYPES_ELSEWHERE)
def test_a_type_names_the_device_and_the_layout(program):
    def outcome(lib):
        try:
            return str(eval(program, {"lib": lib}))
        except (NotImplementedError, ValueError) as error:
            return type(error)

    assert outcome(torch) == outcome(pt)
