"""Containers of tensors that take their samples' dimension away for `torch.vmap`, as tensordict's do."""

import pytest

import mindtorch_core as torch


class Box:
    """A tensor whose first dimensions are the container's, too."""

    def __init__(self, held, rank):
        self.held, self.rank = held, rank

    @property
    def shape(self):
        return self.held.shape[: self.rank]

    def __getitem__(self, index):
        return Box(self.held[index], self.rank)

    def _add_batch_dim(self, *, in_dim, vmap_level):
        one = torch._C._functorch._add_batch_dim(self.held, in_dim, vmap_level)
        return Box(one, self.rank - 1)

    def _maybe_remove_batch_dim(self, funcname, *, vmap_level, batch_size, out_dim):
        put_back = torch._functorch.vmap._maybe_remove_batch_dim
        return Box(put_back(funcname, self.held, vmap_level, batch_size, out_dim), self.rank + 1)


def x():
    return torch.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_a_container_is_mapped(dim):
    def double(box, by):
        assert box.rank == 1
        return Box(box.held * by, box.rank)

    by = torch.arange(1.0, 3 if dim == 0 else 4)
    made = torch.vmap(double, (dim, 0), 1)(Box(x(), 2), by)
    assert made.rank == 2
    expected = torch.vmap(lambda x, y: x * y, (dim % 2, 0), 1)(x(), by)
    assert torch.equal(made.held, expected)


def test_a_container_in_chunks():
    found = torch.vmap(lambda box: box.held.sum(), chunk_size=1)(Box(x(), 2))
    assert torch.equal(found, x().sum((1, 2)))


def test_a_result_that_is_the_same_for_all():
    same = torch.ones(3)
    made = torch.vmap(lambda box: (box.held.sum(), Box(same, 1)), out_dims=(0, None))(Box(x(), 2))
    assert made[1].held is same
    with pytest.raises(ValueError, match="`out_dims` can not be None"):
        torch.vmap(lambda box: box, out_dims=None)(Box(x(), 2))
