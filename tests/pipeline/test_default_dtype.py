"""The default dtype changes between blocks, and within one: what was remembered goes by it no more."""

import pytest

import mindtorch_core as torch


@pytest.fixture(autouse=True)
def restored():
    before = torch.get_default_dtype()
    yield
    torch.set_default_dtype(before)


def results(i):
    return [
        torch.ones(2),
        torch.full((2,), 1.5),
        i / 2,
        i.exp(),
        torch.arange(3) * 0.5,
        i.sum() * 0.5,
    ]


def shown(tensors):
    return [(t.dtype, t.tolist()) for t in tensors]


@pytest.mark.parametrize("way", ["block", "through", "compiled"])
def test_between_blocks(way):
    i = torch.tensor([1, 2])

    def block():
        with torch.pipeline(through_backward=way == "through"):
            return results(i)

    call = block if way != "compiled" else torch.compile(lambda: results(i))
    for d in [torch.float32] * 6 + [torch.float64] * 6 + [torch.float32, torch.float64] * 3:
        torch.set_default_dtype(d)
        assert shown(call()) == shown(results(i))


def test_within_a_block():
    i = torch.tensor([1, 2])
    for _ in range(4):
        torch.set_default_dtype(torch.float32)
        with torch.pipeline() as pipe:
            single = results(i)
            torch.set_default_dtype(torch.float64)
            double = results(i)
        assert {t.dtype for t in single} == {torch.float32}
        assert {t.dtype for t in double} == {torch.float64}
        assert [t.tolist() for t in single[:3]] == [t.tolist() for t in double[:3]]
        assert pipe.stats()["flush_reasons"]["set_default_dtype()"] == 1
