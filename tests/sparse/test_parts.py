"""Parts of sparse tensors, places that there are not, and powers, against PyTorch."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def held(lib, kind="matrix"):
    if kind == "row":
        return lib.tensor([0.0, 5.0, 0.0, 7.0]).to_sparse()
    if kind == "hybrid":
        return lib.tensor([[[1.0, 2.0], [0.0, 0.0]], [[0.0, 3.0], [4.0, 5.0]]]).to_sparse(2)
    return lib.tensor([[1.0, 2.0, 0.0], [0.0, 4.0, 0.0]]).to_sparse()


def outcome(call, lib, kind):
    try:
        found = call(lib, held(lib, kind))
    except (IndexError, RuntimeError) as error:
        return type(error), str(error)
    return (found.to_dense() if found.is_sparse else found).tolist(), tuple(found.shape)


CALLS = {
    "the last": lambda lib, a: a[-1],
    "a number": lambda lib, a: a[1][0] if a.dim() > 1 else a[1],
    "beyond": lambda lib, a: a[5],
    "before": lambda lib, a: a[-5],
    "beyond, within": lambda lib, a: a[0][7] if a.dim() > 1 else a[7],
    "beyond, selected": lambda lib, a: a.select(0, 9),
    "before, selected": lambda lib, a: a.select(0, -9),
    "from the end": lambda lib, a: a.select(0, -2),
    "chosen": lambda lib, a: a.index_select(0, lib.tensor([1, 0, 1])),
    "chosen by columns": lambda lib, a: a.index_select(
        -1 if a.dense_dim() == 0 else 1, lib.tensor([1, 0])
    ),
    "none chosen": lambda lib, a: a.index_select(0, lib.tensor([], dtype=lib.int64)),
    "chosen beyond": lambda lib, a: a.index_select(0, lib.tensor([0, 9])),
    "chosen from the end": lambda lib, a: a.index_select(0, lib.tensor([-1])),
    "of a dimension beyond": lambda lib, a: a.index_select(7, lib.tensor([0])),
    "squares": lambda lib, a: a**2,
    "roots": lambda lib, a: a**0.5,
    "cubes": lambda lib, a: lib.pow(a, 3),
    "ones": lambda lib, a: a**0,
    "ones, too": lambda lib, a: lib.pow(a, 0.0),
    "ones of a method": lambda lib, a: a.pow(0),
}


@pytest.mark.parametrize("kind", ["matrix", "row", "hybrid"])
@pytest.mark.parametrize("what", CALLS)
def test_as_pytorch(what, kind):
    theirs = outcome(CALLS[what], pt, kind)
    assert outcome(CALLS[what], torch, kind) == theirs


def test_parts_are_recorded():
    """PyTorch's backward fails at these."""
    a = held(torch).requires_grad_()
    (a.index_select(0, torch.tensor([1, 1, 0])).to_dense() * 2).sum().backward()
    assert a.grad.to_dense().tolist() == [[2, 2, 0], [0, 4, 0]]
    a = held(torch).requires_grad_()
    (a.select(0, 0).to_dense() * torch.arange(3.0)).sum().backward()
    assert a.grad.to_dense().tolist() == [[0, 1, 0], [0, 0, 0]]
