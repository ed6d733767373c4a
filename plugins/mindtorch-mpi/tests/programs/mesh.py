"""A mesh of two by two ranks: its groups send, and keep the order of their ranks. `mesh_parts.py` has the rest."""

import mindtorch_core as torch
from mindtorch_core import distributed as dist

mesh = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
rank = dist.get_rank()
assert mesh.mesh.tolist() == [[0, 1], [2, 3]]
assert (mesh.shape, mesh.ndim, mesh.size(), mesh.size(0)) == ((2, 2), 2, 4, 2)
assert mesh.get_coordinate() == (rank // 2, rank % 2)
assert (mesh.get_local_rank("dp"), mesh.get_local_rank(1)) == (rank // 2, rank % 2)
rows, columns = [[0, 1], [2, 3]][rank // 2], [[0, 2], [1, 3]][rank % 2]
assert dist.get_process_group_ranks(mesh.get_group("tp")) == rows
assert dist.get_process_group_ranks(mesh.get_group("dp")) == columns
for name, members in (("tp", rows), ("dp", columns)):
    t = torch.tensor([rank])
    dist.all_reduce(t, group=mesh.get_group(name))
    assert t.item() == sum(members)
    part = mesh[name]
    assert (part.mesh.tolist(), part.mesh_dim_names) == (members, (name,))
    assert part.get_group() is mesh.get_group(name)
    assert part.get_local_rank() == mesh.get_local_rank(name)
assert mesh["dp", "tp"] == mesh
flat = dist.DeviceMesh("cpu", [3, 1, 2, 0])
assert dist.get_process_group_ranks(flat.get_group()) == [3, 1, 2, 0]
assert flat.get_local_rank() == [3, 1, 2, 0].index(rank)
dist.destroy_process_group()
print("done")
