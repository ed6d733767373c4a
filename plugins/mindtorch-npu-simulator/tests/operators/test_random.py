"""Random operators: which numbers, their distribution, and independence of offsets."""

import math
from typing import Any

import pytest
from calling import InOut, Out, close, fault, garbage, refused, run, strided, torch
from samples import case, check_refusals
from simtoolkit import CODES, dtypes

COUNT = 20_000
AICPU = 507018


def uniform(seed: int = 1, offset: int = 0, dtype: str = "f32", size: int = COUNT) -> Any:
    return run("InplaceUniform", InOut(garbage(dtype, [size])), 0.0, 1.0, seed, offset)


def test_the_generator_is_philox() -> None:
    # The first and third word of the known answer for a counter and a key of 0.
    words = run("InplaceRandom", InOut(torch.zeros(2, dtype=torch.int64)), 0, 1 << 32, 0, 0)
    assert [hex(word) for word in words.tolist()] == ["0x6627e8d5", "0xbc57ac4c"]


def test_a_seed_and_an_offset_fix_the_numbers() -> None:
    first = uniform()
    assert torch.equal(first, uniform())
    assert torch.equal(first[:100], uniform(size=100)), "the start must not depend on the length"
    target = InOut(strided(torch.zeros(100)))
    assert torch.equal(run("InplaceUniform", target, 0.0, 1.0, 1, 0), first[:100])
    for seed, offset in [(2, 0), (1, 1), (1, 4), (1, 10)]:
        other = uniform(seed, offset)
        with case(seed, offset):
            assert len(set(first.tolist()) & set(other.tolist())) < COUNT // 10
            correlation = torch.corrcoef(torch.stack([first, other]))[0, 1].abs()
            assert correlation < 5 / math.sqrt(COUNT)


@pytest.mark.parametrize("dtype", dtypes("FLT4"))
def test_uniform(dtype: str) -> None:
    values = uniform(dtype=dtype).double()
    assert values.min() >= 0
    assert values.max() < 1, "the end of the range is left out"
    assert abs(values.mean() - 0.5) < 0.01
    assert abs(values.var() - 1 / 12) < 0.01
    wide = run("InplaceUniform", InOut(garbage(dtype, [COUNT])), -2.0, 6.0, 1, 0).double()
    assert -2 <= wide.min() < -1.9
    assert 5.9 < wide.max() <= 6


def test_normal() -> None:
    for dtype in dtypes("FLT4"):
        values = run("InplaceNormal", InOut(garbage(dtype, [COUNT])), 3.0, 2.0, 5, 0).double()
        with case(dtype):
            assert abs(values.mean() - 3) < 0.06
            assert abs(values.std() - 2) < 0.05
            inside = ((values - 3).abs() < 2).double().mean()
            assert abs(inside - 0.6827) < 0.015
    odd = run("InplaceNormal", InOut(torch.zeros(7)), 0.0, 1.0, 5, 0)
    assert torch.equal(odd, run("InplaceNormal", InOut(torch.zeros(8)), 0.0, 1.0, 5, 0)[:7])
    check_refusals("InplaceNormal", [InOut(odd), 0.0, 1.0, 0, 0], [dtypes("REAL10")])
    assert refused("InplaceNormal", InOut(odd), 0.0, -1.0, 0, 0) == CODES.INVALID


def test_whole_numbers() -> None:
    for dtype in dtypes("REAL9"):
        values = run("InplaceRandom", InOut(garbage(dtype, [COUNT])), 0, 7, 3, 0)
        counts = torch.bincount(values.to(torch.int64), minlength=7)
        with case(dtype):
            assert len(counts) == 7
            assert (counts - COUNT / 7).abs().max() < 5 * math.sqrt(COUNT / 7)
    least, most = -(2**63), 2**63 - 1
    wide = run("InplaceRandom", InOut(torch.zeros(100, dtype=torch.int64)), least, most, 3, 0)
    assert (wide < 0).sum() > 20
    assert (wide > 0).sum() > 20
    check_refusals("InplaceRandom", [InOut(wide), 0, 7, 0, 0], [dtypes("NUM12")])
    assert refused("InplaceRandom", InOut(wide), 7, 7, 0, 0) == CODES.INVALID


def test_bernoulli() -> None:
    for dtype in dtypes("REAL10"):
        like = garbage(dtype, [COUNT])
        hits = run("Bernoulli", like, 0.3, 3, 0, Out(dtype, [COUNT])).double()
        with case(dtype):
            assert set(hits.tolist()) == {0.0, 1.0}
            assert abs(hits.mean() - 0.3) < 0.02
            assert torch.equal(hits, run("InplaceBernoulli", InOut(like), 0.3, 3, 0).double())
    p = torch.tensor([[0.0], [1.0], [0.5]])
    hits = run("BernoulliTensor", torch.zeros(3, 999), p, 3, 0, Out("f32", [3, 999]))
    assert hits.sum(1)[:2].tolist() == [0, 999]
    assert abs(hits[2].mean() - 0.5) < 0.08
    assert torch.equal(hits, run("InplaceBernoulliTensor", InOut(torch.zeros(3, 999)), p, 3, 0))
    assert refused("InplaceBernoulli", InOut(p), 1.5, 0, 0) == CODES.INVALID
    assert refused("Bernoulli", p, 0.5, 0, 0, Out("f32", [3])) == CODES.INVALID


def test_permutations() -> None:
    for dtype in dtypes("REAL9"):
        result = run("Randperm", 100, 4, 0, Out(dtype, [100]))
        with case(dtype):
            assert sorted(result.tolist()) == list(range(100))
    first, second = (run("Randperm", 100, 4, k, Out("i64", [100])) for k in (0, 1))
    assert first.tolist() != list(range(100))
    assert not torch.equal(first, second)
    assert run("Randperm", 0, 4, 0, Out("i64", [0])).shape == (0,)
    assert refused("Randperm", 5, 0, 0, Out("i64", [4])) == CODES.INVALID


def test_multinomial() -> None:
    weights = torch.tensor([[1.0, 0.0, 3.0, 6.0], [0.0, 5.0, 0.0, 5.0]])
    drawn = run("Multinomial", weights, 5000, True, 1, 0, Out("i64", [2, 5000]))
    for row, probabilities in zip(drawn, weights / weights.sum(1, keepdim=True), strict=True):
        frequencies = torch.bincount(row, minlength=4) / 5000
        assert (frequencies - probabilities).abs().max() < 0.04
    order = run("Multinomial", torch.ones(50), 50, False, 1, 0, Out("i64", [50]))
    assert sorted(order.tolist()) == list(range(50))
    firsts = [
        run("Multinomial", weights[0], 1, False, 1, k, Out("i64", [1])).item() for k in range(200)
    ]
    assert 90 < firsts.count(3) < 150
    assert firsts.count(1) == 0
    assert refused("Multinomial", weights, 5, False, 1, 0, Out("i64", [2, 5])) == CODES.INVALID
    assert fault("Multinomial", torch.zeros(3), 1, True, 1, 0, Out("i64", [1])) == AICPU


# ---- dropout -------------------------------------------------------------------------------------


def bits(mask: Any, count: int) -> Any:
    """The bits of a mask, the first element's lowest."""
    return (mask[:, None].int() >> torch.arange(8) & 1).bool().flatten()[:count]


@pytest.mark.parametrize("dtype", dtypes("FLT3"))
def test_dropout(dtype: str) -> None:
    x = torch.arange(1, 1001).to(dtype=garbage(dtype, [1]).dtype)
    size = (1000 + 127) // 128 * 16
    out, mask = run("Dropout", x, 0.25, True, 7, 0, Out(dtype, [1000]), Out("u8", [size]))
    kept = bits(mask, 1000)
    assert 0.7 < kept.float().mean() < 0.8
    close(out, torch.where(kept, x.float() / 0.75, 0).to(x.dtype))
    back = run("DropoutBackward", x, mask, 1 / 0.75, Out(dtype, [1000]))
    assert torch.equal(back, out)
    generated = run("DropoutGenMask", [10, 100], 0.25, 7, 0, Out("u8", [size]))
    assert torch.equal(generated, mask)
    second = run("DropoutGenMaskV2", [1000], 0.25, 7, 0, dtype, Out("u8", [size]))
    assert torch.equal(second, mask)
    assert torch.equal(run("DropoutDoMask", x, mask, 0.25, Out(dtype, [1000])), out)


def test_dropout_of_nothing_and_of_everything() -> None:
    x = torch.randn(3, 5)
    for p, train, expected in [(0.0, True, x), (0.5, False, x), (1.0, True, torch.zeros(3, 5))]:
        out, mask = run("Dropout", x, p, train, 7, 0, Out("f32", [3, 5]), Out("u8", [16]))
        assert torch.equal(out, expected)
        assert torch.equal(mask, garbage("u8", [16])), "the mask must not be written"


def test_dropout_refusals() -> None:
    x, out, mask = torch.randn(200), Out("f32", [200]), Out("u8", [32])
    check_refusals("Dropout", [x, 0.5, True, 0, 0, out, mask], [["f32"], ["f32"], ["u8"]])
    assert refused("Dropout", x, 1.5, True, 0, 0, out, mask) == CODES.INVALID
    assert refused("Dropout", x, 0.5, True, 0, 0, out, Out("u8", [31])) == CODES.INVALID
    assert refused("DropoutGenMask", [200], -0.1, 0, 0, mask) == CODES.INVALID
    assert refused("DropoutGenMask", [200], 0.1, 0, 0, Out("u8", [16])) == CODES.INVALID
    assert refused("DropoutGenMaskV2", [200], 0.1, 0, 0, "i32", mask) == CODES.INVALID
    assert refused("DropoutDoMask", x, torch.zeros(16).byte(), 0.5, out) == CODES.INVALID
