"""A sparse tensor added to a dense one of another dtype, beside PyTorch."""

import itertools
import warnings

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")
DTYPES = ("int64", "bfloat16", "float32", "float64", "complex64")
SUMS = (
    "d + s",
    "d - s",
    "d.add(s, alpha=2)",
    "d.sub(s, alpha=2)",
    "d.add_(s)",
    "d.sub_(s, alpha=2)",
)


def summed(lib, text, dense, sparse):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = lib.tensor([1, 2, 3]).to(getattr(lib, sparse))
        s = lib.sparse_coo_tensor(lib.tensor([[0, 2, 0]]), values, (4,))
    d = lib.arange(4).to(getattr(lib, dense))
    try:
        found = eval(text, {"d": d, "s": s})
    except RuntimeError:
        return "refused"
    return found.tolist(), str(found.dtype).rpartition(".")[2], found is d


@pytest.mark.parametrize("text", SUMS)
@pytest.mark.parametrize(("dense", "sparse"), [*itertools.product(DTYPES, repeat=2)])
def test_sums(text, dense, sparse):
    assert summed(torch, text, dense, sparse) == summed(pt, text, dense, sparse)


@pytest.mark.parametrize("text", ["d + s", "d.clone().add_(s, alpha=3)"])
def test_gradients_have_the_dtypes_of_the_operands(text):
    found = []
    for lib in (torch, pt):
        d = lib.ones(4, requires_grad=True)
        v = lib.tensor([1.0, 2.0], dtype=lib.float64, requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            s = lib.sparse_coo_tensor(lib.tensor([[0, 2]]), v, (4,))
        eval(text, {"d": d, "s": s}).square().sum().backward()
        found.append([(x.grad.tolist(), str(x.grad.dtype).rpartition(".")[2]) for x in (d, v)])
    assert found[0] == found[1]
