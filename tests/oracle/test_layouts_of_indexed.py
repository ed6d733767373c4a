"""How elements lie that index tensors pick: as in PyTorch, in blocks and out."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

PICKS = {
    "first": lambda t, x, i, m: x[i],
    "second": lambda t, x, i, m: x[:, i],
    "last": lambda t, x, i, m: x[..., i],
    "two": lambda t, x, i, m: x[i, i],
    "apart": lambda t, x, i, m: x[i, :, i],
    "several": lambda t, x, i, m: x[:, m],
    "turned": lambda t, x, i, m: x[:, m.T],
    "turned, apart": lambda t, x, i, m: x[m.T, :, i[:1]],
}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1)], ids=str)
@pytest.mark.parametrize("pick", PICKS.values(), ids=PICKS)
def test_they_lie_as_pytorchs(pick, order):
    def picked(t):
        x = t.arange(60.0).reshape(3, 4, 5).permute(order)
        return pick(t, x, t.tensor([1, 0]), t.tensor([[1, 0, 2], [2, 1, 0]]))

    def deferred():
        with torch.pipeline():
            return picked(torch)

    expected = picked(pt)
    for found in (picked(torch), deferred()):
        assert found.stride() == expected.stride()
        assert found.tolist() == expected.tolist()
    with torch.device("meta"):
        assert picked(torch).stride() == expected.stride()
