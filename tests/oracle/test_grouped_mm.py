"""Products of groups: torch.nn.functional.grouped_mm."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

SHAPES = {
    "rows": ((8, 16), (3, 16, 32), (3, 3, 8)),
    "columns": ((2, 8, 16), (16, 32), (8, 32)),
    "sums": ((8, 24), (24, 32), (8, 16, 24)),
    "batches": ((2, 8, 16), (2, 16, 32), None),
}
CASES = [(name, d) for name in SHAPES for d in ("float32", "bfloat16")]


def made(lib, shape, d, seed):
    count = 1
    for n in shape:
        count *= n
    values = [((i * 7 + seed) % 23 - 11) / 8 for i in range(count)]
    return lib.tensor(values).reshape(shape).to(getattr(lib, d)).requires_grad_()


def calculated(lib, name, d):
    left, right, ends = SHAPES[name]
    a, b = made(lib, left, d, 1), made(lib, right, d, 5)
    offs = None if ends is None else lib.tensor(ends, dtype=lib.int32)
    result = lib.nn.functional.grouped_mm(a, b, offs=offs)
    weights = made(lib, tuple(result.shape), d, 3).detach()
    (result * weights).float().sum().backward()
    return (
        [t.float().tolist() for t in (result, a.grad, b.grad)],
        result.stride(),
        str(result.dtype),
    )


@pytest.mark.parametrize(("name", "d"), CASES)
def test_values_and_gradients(name, d):
    (ours, *rest), (theirs, *expected) = (calculated(lib, name, d) for lib in (torch, pt))
    assert rest == expected
    for own, other in zip(ours, theirs, strict=True):
        pt.testing.assert_close(
            pt.tensor(own), pt.tensor(other), rtol=0.02 if d == "bfloat16" else 1e-5, atol=1e-4
        )


def test_rows_of_no_group_are_zeros():
    a, b = torch.ones(4, 3, requires_grad=True), torch.ones(1, 3, 2)
    result = torch.nn.functional.grouped_mm(a, b, offs=torch.tensor([2], dtype=torch.int32))
    assert result.tolist() == [[3, 3], [3, 3], [0, 0], [0, 0]]
    result.sum().backward()
    assert a.grad.tolist() == [[2] * 3, [2] * 3, [0] * 3, [0] * 3]


def ints(lib, *values):
    return lib.tensor(values, dtype=lib.int32)


WRONG = {
    "integers": lambda lib, x: (x(8, 16).int(), x(2, 16, 32).int(), ints(lib, 3, 8)),
    "mixed": lambda lib, x: (x(8, 16), x(2, 16, 32).half(), ints(lib, 3, 8)),
    "no offs": lambda lib, x: (x(8, 16), x(2, 16, 32)),
    "needless offs": lambda lib, x: (x(2, 8, 16), x(2, 16, 32), ints(lib, 3, 8)),
    "vector": lambda lib, x: (x(16), x(2, 16, 32), ints(lib, 3, 8)),
    "contraction": lambda lib, x: (x(8, 16), x(2, 24, 32), ints(lib, 3, 8)),
    "batches": lambda lib, x: (x(2, 8, 16), x(3, 16, 32)),
    "long offs": lambda lib, x: (x(8, 16), x(2, 16, 32), ints(lib, 3, 8).long()),
    "many offs": lambda lib, x: (x(8, 16), x(2, 16, 32), ints(lib, 3, 5, 8)),
    "matrix of offs": lambda lib, x: (x(8, 16), x(2, 16, 32), ints(lib, 3, 8).reshape(1, 2)),
    "bias": lambda lib, x: (x(8, 16), x(2, 16, 32), ints(lib, 3, 8), x(2, 32)),
    "out_dtype": lambda lib, x: (x(8, 16), x(2, 16, 32), ints(lib, 3, 8), None, lib.float16),
}


@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_what_is_refused(make, device):
    for lib in (torch, pt):
        where = device if lib is torch else "cpu"
        with pytest.raises(RuntimeError):
            lib._grouped_mm(*[
                each.to(where) if isinstance(each, lib.Tensor) else each
                for each in make(lib, lambda *shape, lib=lib: lib.ones(shape))
            ])  # fmt: skip


@pytest.mark.parametrize("ends", [(5, 3), (3, 9), (-1, 3)])
def test_ends_that_are_none(ends):
    with pytest.raises(RuntimeError, match="offs must hold the ends"):
        torch.nn.functional.grouped_mm(
            torch.ones(8, 4), torch.ones(2, 4, 4), offs=ints(torch, *ends)
        )


def test_in_a_pipeline():
    a, b = torch.ones(4, 3), torch.ones(2, 3, 2)
    with torch.pipeline():
        result = torch.nn.functional.grouped_mm(a, b, offs=ints(torch, 1, 4))
        assert result.shape == (4, 2)
    assert result.tolist() == [[3, 3]] * 4
