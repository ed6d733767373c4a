"""Elements and rows added at positions: one after another, halves in float32 and rounded once."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F

DTYPES = ["float16", "bfloat16", "float32", "float64", "int64", "int32", "int16"]
WIDE = {"float16": torch.float32, "bfloat16": torch.float32}
VIEWS = {
    "whole": lambda x: x,
    "turned": lambda x: x.t().contiguous().t(),
    "from the end": lambda x: x.flip(0).contiguous(),
}


pytestmark = pytest.mark.usefixtures("either_way")


def drawn(seed, dtype):
    numbers = np.random.default_rng(seed).normal(0, 9, (211, 257))
    return torch.from_numpy(numbers).to(getattr(torch, dtype))


def positions(shape, size):
    return torch.from_numpy(np.random.default_rng(5).integers(0, size, shape))


def added(x, where, values, dtype):
    """What NumPy gives, adding one after another in the wide dtype."""
    wide = WIDE.get(dtype, x.dtype)
    found = x.to(wide).contiguous().numpy().copy()
    np.add.at(found, where, values.to(wide).numpy())
    return torch.from_numpy(found).to(x.dtype)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements(dtype, view):
    x, values = VIEWS[view](drawn(0, dtype)), VIEWS[view](drawn(1, dtype))
    for dim, size in enumerate(x.shape):
        i = positions(x.shape, size)
        other = torch.arange(x.shape[1 - dim]).reshape((-1, 1) if dim else (1, -1)).expand(x.shape)
        where = (i.numpy(), other.numpy()) if dim == 0 else (other.numpy(), i.numpy())
        wanted = added(x, where, values, dtype)
        for found in (x.scatter_add(dim, i, values), x.scatter_reduce(dim, i, values, "sum")):
            assert torch.equal(found, wanted)
        written = x.clone()
        written.index_put_(
            tuple(torch.from_numpy(w.copy()) for w in where), values, accumulate=True
        )
        assert torch.equal(written, wanted)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int64"])
def test_slices(dtype, view):
    x, values = VIEWS[view](drawn(0, dtype)), VIEWS[view](drawn(1, dtype))
    for dim, size in enumerate(x.shape):
        i = positions((size,), 7)
        where = (i.numpy(),) if dim == 0 else (slice(None), i.numpy())
        wanted = added(x, where, values, dtype)
        assert torch.equal(x.index_add(dim, i, values), wanted)
        written = x.clone()
        written.index_add_(dim, i, values)
        assert torch.equal(written, wanted)
        with pytest.raises(IndexError, match="out of range"):
            x.index_add(dim, i + 300, values)


def test_what_is_added_to_itself():
    x = drawn(0, "float32")
    i = positions(x.shape, x.shape[0])
    other = torch.arange(x.shape[1]).expand(x.shape).numpy()
    wanted = added(x, (i.numpy(), other), x, "float32")
    assert torch.equal(x.scatter_add_(0, i, x), wanted)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradients_of_tables(dtype):
    table = drawn(2, dtype).requires_grad_()
    words, g = positions((20, 30), 211), drawn(3, dtype).repeat(3, 1)[:600].reshape(20, 30, 257)
    F.embedding(words, table, padding_idx=3).backward(g)
    zeros = torch.zeros(211, 257, dtype=table.dtype)
    wanted = added(zeros, (words.reshape(-1).numpy(),), g.reshape(600, 257), dtype)
    wanted[3] = 0
    assert torch.equal(table.grad, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_slices_along_a_dimension_between_others(dtype):
    x = drawn(0, dtype)[:210, :256].reshape(7, 30, 256)
    values = drawn(1, dtype)[:, :200].repeat(7, 1)[:1400].reshape(7, 200, 200)
    values = values.repeat(1, 1, 2)[..., :256]
    i = positions((200,), 30)
    where = (np.arange(7)[:, None], i.numpy())
    for given in (values, values[..., :1].expand(7, 200, 256)):
        found = x.clone().index_add_(1, i, given)
        assert torch.equal(found, added(x, where, given, dtype))
    with pytest.raises(IndexError, match="out of bounds"):
        x.clone().index_add_(1, i + 1, values)
