"""DTensor: what is computed with parts is what is computed with the whole."""

import copy
import io
import pickle

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core import nn
from mindtorch_core.distributed import tensor as tensors
from mindtorch_core.distributed.tensor import DTensor, Partial, Replicate, Shard

dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()
mesh = dist.init_device_mesh("cpu", (size,))
close = torch.testing.assert_close
draw = torch.Generator().manual_seed(0)
full = torch.randn(5, 3, generator=draw)
parts = tensors.distribute_tensor(full, mesh, [Shard(0)])

# Where it lies.
assert parts.placements == (Shard(0),)
assert parts.device_mesh == mesh
assert tuple(parts.to_local().shape) == ((3, 3), (2, 3))[rank]
assert (tuple(parts.shape), len(parts), parts.numel()) == ((5, 3), 5, 15)
assert "DTensor(local_tensor=tensor(" in repr(parts)
assert "placements=(Shard(dim=0),)" in repr(parts)
close(parts.full_tensor(), full)
for placement in (Shard(1), Shard(-1), Replicate()):
    other = parts.redistribute(placements=[placement])
    close(other.full_tensor(), full)
    close(other.redistribute(placements=[Shard(0)]).to_local(), parts.to_local())
summed = DTensor.from_local(full, mesh, [Partial()])
close(summed.full_tensor(), full * size)
close(summed.redistribute(placements=[Shard(0)]).full_tensor(), full * size)
for write in (lambda t: t.add_(1), lambda t: t.square_(), lambda t: t.clamp_(0, 1)):
    partial, whole = DTensor.from_local(full.clone(), mesh, [Partial()]), full * size
    write(partial)
    write(whole)
    close(partial.full_tensor(), whole)
assert tuple(DTensor.from_local(torch.ones(2, 3), mesh, [Shard(0)]).shape) == (2 * size, 3)
close(tensors.zeros(5, 3, device_mesh=mesh, placements=[Shard(0)]).full_tensor(), torch.zeros(5, 3))
close(
    tensors.full((5,), 2.0, device_mesh=mesh, placements=[Shard(0)]).full_tensor(),
    torch.full((5,), 2.0),
)

# What optimizers and norms do.
computations = {
    "pointwise": lambda t: (t * 2 + 1).exp().sqrt().clamp(max=2),
    "two": lambda t: torch.where(t > 0, t, -t) / (t.square() + 1),
    "with a value": lambda t: t - t.sum() / 15,
    "dtype": lambda t: t.double(),
    "like": lambda t: torch.zeros_like(t) + torch.ones_like(t),
    "in place": lambda t: t.clone().mul_(2).add_(t, alpha=3).addcdiv_(t, t.abs() + 1),
    "sum": lambda t: t.sum(),
    "mean": lambda t: t.mean(),
    "largest": lambda t: t.amax() + t.max() - t.min(),
    "finite": lambda t: t.isfinite().all(),
    **{
        f"norm {p}": lambda t, p=p: torch.linalg.vector_norm(t, p)
        for p in (0, 1, 2, 3, float("inf"), -float("inf"))
    },
}
for name, compute in computations.items():
    close(compute(parts).full_tensor(), compute(full), msg=name)
assert float(parts.sum()) == pytest.approx(float(full.sum()))
assert torch.equal(parts, parts.clone())
assert not torch.equal(parts, parts + 1)
close(copy.deepcopy(parts).full_tensor(), full)

optimizers = [
    lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, foreach=True),
    lambda p: torch.optim.AdamW(p, amsgrad=True),
    lambda p: torch.optim.RMSprop(p, momentum=0.5, centered=True),
    *(lambda p, kind=kind: getattr(torch.optim, kind)(p) for kind in ("Adagrad", "Adamax", "NAdam", "RAdam", "Adadelta", "ASGD")),
]  # fmt: skip
for make in optimizers:
    alone, own = (
        nn.Parameter(full.clone()),
        nn.Parameter(tensors.distribute_tensor(full, mesh, [Shard(0)])),
    )
    assert isinstance(own, nn.Parameter)
    first, second = make([alone]), make([own])
    for _ in range(3):
        g = torch.randn(5, 3, generator=draw)
        alone.grad, own.grad = g.clone(), tensors.distribute_tensor(g, mesh, [Shard(0)])
        close(
            nn.utils.clip_grad_norm_([own], 1.0).full_tensor(),
            nn.utils.clip_grad_norm_([alone], 1.0),
        )
        first.step()
        second.step()
    close(own.full_tensor(), alone, msg=type(first).__name__)
    second.load_state_dict(second.state_dict())
    states = [v for v in second.state[own].values() if isinstance(v, torch.Tensor) and v.ndim]
    assert all(isinstance(v, DTensor) for v in states)

# Gradients.
leaf = nn.Parameter(tensors.distribute_tensor(full, mesh, [Shard(0)]))
leaf.full_tensor().square().sum().backward()
close(leaf.grad.full_tensor(), 2 * full)
leaf.grad = None
(leaf * 3).to_local().sum().backward()
close(leaf.grad.full_tensor(), torch.full((5, 3), 3.0))
local = torch.ones(2, 3, requires_grad=True)
DTensor.from_local(local, mesh, [Shard(0)]).full_tensor().sum().backward()
close(local.grad, torch.ones(2, 3))

# Random numbers are those of one process with the same seed.
torch.manual_seed(3)
nn.init.normal_(leaf)
torch.manual_seed(3)
close(leaf.full_tensor(), nn.init.normal_(torch.empty(5, 3)))

# What there is not is refused, by name.
for refused in (
    lambda: leaf @ full,
    lambda: leaf + full,
    lambda: leaf.detach().tril_(),
):
    with pytest.raises((NotImplementedError, RuntimeError), match=r"to_local\(\).*full_tensor\(\)"):
        refused()
with pytest.raises(RuntimeError, match="ask its to_local"):
    leaf.numpy()

# In a file: each rank's part, and how the whole lies on the mesh.
for each in (parts, nn.Parameter(parts)):
    file = io.BytesIO()
    torch.save({"of": each}, file)
    file.seek(0)
    for found in (torch.load(file)["of"], pickle.loads(pickle.dumps(each)), copy.copy(each)):
        assert type(found) is DTensor
        assert (
            isinstance(found, nn.Parameter) == isinstance(each, nn.Parameter) == found.requires_grad
        )
        assert (found.placements, found.device_mesh) == (each.placements, mesh)
        assert (found.shape, found.stride(), found.dtype) == (full.shape, full.stride(), full.dtype)
        close(found.to_local(), parts.to_local())
        close(found.full_tensor(), full)
    assert torch.load(file)["of"].to_local().data_ptr() != parts.to_local().data_ptr()
with pytest.raises(ValueError, match=r"same length as `device_mesh\.ndim`"):
    tensors.distribute_tensor(full, mesh, [Shard(0), Shard(1)])
for kind in (
    IndexError,
    AssertionError,
    RuntimeError,
):  # PyTorch's functions raise one of them each
    with pytest.raises(kind, match="Sharding dim 5 greater than tensor ndim 2"):
        tensors.distribute_tensor(full, mesh, [Shard(5)])
print("done")
