"""`fully_shard` where there is one process: all is computed as without it, and what it refuses it refuses."""

import pytest

import mindtorch_core as torch
import mindtorch_core.distributed as dist
from mindtorch_core import nn
from mindtorch_core.distributed.fsdp import fully_shard


@pytest.fixture(autouse=True)
def group():
    dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
    yield
    dist.destroy_process_group()


def model():
    """Some of its layers have parameters that are None."""
    return nn.Sequential(nn.Linear(3, 4, bias=False), nn.LayerNorm(4, bias=False), nn.Linear(4, 2))


@pytest.mark.parametrize("reshard", [None, True, False, 1])
@pytest.mark.parametrize("layers", [(), (0, 2)])
def test_one_process_computes_as_without_parts(reshard, layers):
    plain, cut = model(), model()
    cut.load_state_dict(plain.state_dict())
    for part in (*(cut[i] for i in layers), cut):
        fully_shard(part, reshard_after_forward=reshard)
    x = torch.randn(5, 3)
    for _ in range(2):  # what is given up after a call is there in the next
        found, wanted = cut(x), plain(x)
        assert torch.equal(found, wanted)
        (found * found).sum().backward()
        (wanted * wanted).sum().backward()
    for ours, theirs in zip(cut.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(ours.grad.full_tensor(), theirs.grad)
    assert list(cut.state_dict()) == list(plain.state_dict())


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("a", "should be a bool or an int representing the group size to reshard to, not a"),
        (2.5, "should be a bool or an int representing the group size to reshard to, not 2.5"),
        *((n, f"as an int, it should be a factor of 1, not {n}") for n in (2, 0, -1)),
    ],
)
def test_sizes_of_groups_that_are_refused(wanted, text):
    with pytest.raises(ValueError, match=text):
        fully_shard(nn.Linear(2, 2), reshard_after_forward=wanted)


def test_numbers_cannot_be_cut():
    scale = nn.Module()
    scale.factor = nn.Parameter(torch.tensor(1.0))
    with pytest.raises(ValueError, match="Change factor to a 1D tensor with numel equal to 1"):
        fully_shard(scale)
    fully_shard(scale, ignored_params={scale.factor})
    assert type(scale.factor) is nn.Parameter
