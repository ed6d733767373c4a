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


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "amax", "amin", "prod"])
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


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("initial", [None, 2.0])
def test_segments_of_odd_numbers(reduce, initial):
    segments = list(itertools.product([INF, -INF, NAN, 0.0, 2.0], repeat=3))
    found = []
    for lib in (torch, pt):
        data = lib.tensor(segments).reshape(-1).requires_grad_()
        lengths = lib.tensor([0, 3]).repeat(len(segments))
        made = lib.segment_reduce(data, reduce, lengths=lengths, initial=initial)
        made.backward(lib.tensor([1.0, 2.0]).repeat(len(segments)))
        found.append((made[1::2].tolist(), data.grad.reshape(-1, 3).tolist()))
    for segment, made, grad, value, expected in zip(segments, *found[0], *found[1], strict=True):
        assert [made, *grad] == pytest.approx([value, *expected], nan_ok=True), segment


def test_what_lies_before_and_after_segments():
    for lengths, offsets in (([], None), ([2, 1], None), (None, [1, 3, 3, 4]), (None, [0, 4, 2])):
        found = []
        for lib in (torch, pt):
            where = {
                name: lib.tensor(given, dtype=lib.int64)
                for name, given in (("lengths", lengths), ("offsets", offsets))
                if given is not None
            }
            data = lib.arange(5.0).requires_grad_()

            def both_ways(lib=lib, data=data, where=where):
                made = lib.segment_reduce(data, "max", unsafe=True, **where)
                made.backward(lib.ones_like(made))
                return made.tolist(), data.grad.tolist()

            found.append(outcome(both_ways))
        if isinstance(found[1], Exception):
            assert isinstance(found[0], RuntimeError)
        else:
            assert found[0] == found[1]


@pytest.mark.parametrize(
    "options",
    [
        {"reduce": "median"},
        {"indices": [0]},
        {"lengths": None},
        {"axis": 1},
        {"lengths": [[2, 1], [1, 2]]},
    ],
)
def test_what_it_refuses(options):
    for lib in (torch, pt):
        given = {"reduce": "sum", "lengths": [1, 2], **options}
        for name in given.keys() & {"lengths", "indices"}:
            given[name] = None if given[name] is None else lib.tensor(given[name])
        with pytest.raises((RuntimeError, IndexError)):
            lib.segment_reduce(lib.arange(3.0), **given)
