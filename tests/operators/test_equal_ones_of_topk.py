"""Which of equal elements `topk` takes from short rows: those that PyTorch takes."""

import random

import pytest

import mindtorch_core as mt

torch = pytest.importorskip("torch")


def positions(lib, rows, dtype, k, **options):
    x = lib.tensor(rows).to(getattr(lib, dtype))
    values, found = x.topk(k, **options)
    assert lib.equal(x.gather(options.get("dim", -1), found), values)
    return found.tolist()


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int64", "uint8"])
def test_as_pytorch(dtype, largest):
    draw = random.Random(3)
    for n in (2, 3, 4, 5, 8, 16, 17, 18, 33, 63, 64):
        for k in {1, 2, n // 2, n - 1, n} - {0}:
            rows = [[draw.randrange(high) for _ in range(n)] for high in (1, 2, 3, 9, 99)]
            found = [positions(lib, rows, dtype, k, largest=largest) for lib in (mt, torch)]
            assert found[0] == found[1], (n, k)


def test_along_another_dimension_and_in_a_block():
    rows = [[1.0, 2.0, 2.0], [1.0, 2.0, 0.0], [0.0, 2.0, 2.0], [1.0, 0.0, 2.0]]
    wanted = positions(torch, rows, "float32", 2, dim=0)
    assert positions(mt, rows, "float32", 2, dim=0) == wanted
    with mt.pipeline():
        found = mt.tensor(rows).mul(2).topk(2, dim=0)
    assert found[1].tolist() == wanted


def test_gradients_come_to_what_was_taken():
    grads = []
    for lib in (mt, torch):
        x = lib.tensor([[0.5] * 4, [1.0, 0.0, 1.0, 1.0]], requires_grad=True)
        (x.topk(2)[0] * lib.tensor([1.0, 2.0])).sum().backward()
        grads.append(x.grad.tolist())
    assert grads[0] == grads[1]


HARD = [
    e for i in range(12) for e in (32 + i, 2 * i + 1)
]  # a pivot has one element below it, then three, ...
HARD += [*range(24, 31), 30, *range(0, 24, 2), *range(44, 64)]


@pytest.mark.parametrize("k", [40, 60])
@pytest.mark.parametrize("largest", [True, False])
def test_rows_that_are_hard_to_part_and_rows_of_many_kinds(k, largest):
    """Of equal elements any may be taken there, in any order."""
    draw = random.Random(4)
    many = [[draw.randrange(30) for _ in range(64)] for _ in range(1100)]
    for rows in ([HARD, [-e for e in HARD]], many):
        wanted = torch.tensor(rows).topk(k, largest=largest)[0].tolist()
        values, found = mt.tensor(rows).topk(k, largest=largest)
        assert values.tolist() == wanted
        assert mt.equal(mt.tensor(rows).gather(-1, found), values)
        assert all(len({*row}) == k for row in found.tolist())
