"""A tensor whose memory nobody else shows grows without a search for others."""

import gc

import mindtorch_core as torch


def test_nobody_is_searched_for(monkeypatch):
    def search(*objects):
        raise AssertionError("a search through all objects")

    x = torch.ones(3)
    out, grown = torch.empty(0), torch.ones(2)
    monkeypatch.setattr(gc, "get_referrers", search)
    assert torch.add(x, x, out=out).tolist() == [2.0, 2.0, 2.0]
    grown.resize_(5)
    assert grown[:2].tolist() == [1.0, 1.0]


def test_others_are():
    x = torch.ones(2)
    view, data = x[:1], x.data
    x.resize_(4).fill_(3)
    assert view.tolist() == [3.0]
    assert data.tolist() == [3.0, 3.0]
