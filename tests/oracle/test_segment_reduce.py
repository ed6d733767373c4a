"""``segment_reduce``: every reduction, with and without a first value, over segments of any length."""

import itertools

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome

pt = pytest.importorskip("torch")

LENGTHS = {"some": [1, 0, 3, 2], "none": [], "all": [6], "empty": [0, 6, 0]}
DTYPES = ["float32", "bfloat16"]


def reduced(lib, dtype, reduce, axis, lengths, initial, by):
    data = lib.arange(6 * 4, dtype=lib.float32).sub(9.5).div(4).reshape(6, 4)
    data = (data if axis == 0 else data.t().contiguous()).to(getattr(lib, dtype))
    data.requires_grad_()
    ends = [0, *itertools.accumulate(lengths)]
    where = lengths if by == "lengths" else ends
    where = lib.tensor(where, dtype=lib.int64)
    where = where if axis == 0 else where.expand(4, -1).contiguous()

    def both_ways():
        found = lib.segment_reduce(data, reduce, axis=axis, initial=initial, **{by: where})
        found.backward(lib.ones_like(found) * 2)
        return found.tolist(), data.grad.tolist()

    return outcome(both_ways)


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
@pytest.mark.parametrize("initial", [None, 0.0, 1.0, -5.0])
def test_segments(reduce, lengths, initial):
    for dtype, by, axis in itertools.product(DTYPES, ("lengths", "offsets"), (0, 1)):
        ours, theirs = (
            reduced(lib, dtype, reduce, axis, lengths, initial, by) for lib in (torch, pt)
        )
        where = f"{dtype} {by} {axis}: {ours} {theirs}"
        assert isinstance(ours, Exception) == isinstance(theirs, Exception), where
        if not isinstance(ours, Exception):
            for a, b in zip(ours, theirs, strict=True):
                flat = [[x for row in t for x in row] for t in (a, b)]
                assert flat[0] == pytest.approx(
                    flat[1], rel=2e-2 if "16" in dtype else 1e-5, nan_ok=True
                ), where
