"""Indices in host memory for tensors of another device, which each way to index takes, as in PyTorch."""

import pytest

import mindtorch_core as torch

oracle = pytest.importorskip("torch")

CALLS = [
    "x[i]", "x[:, i]", "x[i, i]", "x.index_put((i,), v)", "x.index_put_((i,), v)", "x.index_put((i,), v, accumulate=True)",
    "t.index_put(x, (i, i), v[0, 0])", "x.__setitem__(i, v)",
]  # fmt: skip


@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.parametrize("call", CALLS)
def test_as_in_pytorch(call, tracked):
    def shape(lib):
        x = lib.ones(3, 3, device="meta", requires_grad=tracked) * 1
        found = eval(
            call, {"t": lib, "x": x, "i": lib.tensor([0, 2]), "v": lib.ones(2, 3, device="meta")}
        )
        return (
            found if found is None else (str(found.device), tuple(found.shape), found.requires_grad)
        )

    assert shape(torch) == shape(oracle)
