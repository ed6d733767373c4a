"""Meshes of four ranks. Runs on mindtorch and on PyTorch; writes what it finds."""

import copy
import json
import os
import pickle
import sys
import warnings

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, _mesh_resources, init_device_mesh

dist.init_process_group("gloo")
rank = dist.get_rank()
found = {}
warnings.simplefilter("ignore")


def ranks_of(group):
    return dist.get_process_group_ranks(group)


def shown(mesh):
    groups = [ranks_of(each) for each in mesh.get_all_groups()]
    facts = [mesh.mesh.tolist(), str(mesh.mesh.dtype), list(mesh.shape), mesh.ndim, mesh.size()]
    names = mesh.mesh_dim_names and list(mesh.mesh_dim_names)
    local = [mesh.get_local_rank(i) for i in range(mesh.ndim)]
    return [*facts, names, repr(mesh), list(mesh.get_coordinate()), groups, local]


def refused(name, call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            given = call()
        except Exception as error:  # noqa: BLE001
            found[f"refused {name}"] = [type(error).__name__, str(error.args[0])[:30]]
        else:
            found[f"refused {name}"] = repr(given)


line = init_device_mesh("cpu", (4,))
square = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
deep = init_device_mesh("cpu", (2, 1, 2), mesh_dim_names=("pp", "dp", "tp"))
found["line"] = shown(line)
found["square"] = shown(square)
found["deep"] = shown(deep)
found["coordinate"] = type(square.get_coordinate()).__name__
os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"
found["more"] = repr(square)
del os.environ["TORCH_DISTRIBUTED_DEBUG"]
for name, names in (("dp", "dp"), ("tp", ("tp",)), ("both", ("dp", "tp"))):
    found[f"square {name}"] = shown(square[names])
    found[f"square {name} again"] = [
        square[names] == square[names],
        square[names] is square,
        hash(square[names]) == hash(square[names]),
    ]
for names in (("pp", "dp"), ("dp", "tp"), ("pp", "tp"), "pp"):
    found[f"deep {names}"] = shown(deep[names])
found["root"] = [deep["pp"]._get_root_mesh() is deep, deep._get_root_mesh() is deep]
found["place in root"] = deep["pp"]._get_root_mesh_dim()
found["all parts"] = [each.mesh.tolist() for each in square._get_all_submeshes("tp")]
found["equal"] = [square == deep, square == init_device_mesh("cpu", (2, 2)), square == "square"]
found["same"] = square == init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
found["part is other"] = square["tp"] == DeviceMesh("cpu", [0, 1], mesh_dim_names=("tp",))

# Dimensions made one, and one made several.
flat = deep["pp", "tp"]._flatten("ptp")
found["flat"] = shown(flat)
found["flat whole"] = shown(square._flatten())
found["flat again"] = [deep["pp", "tp"]._flatten("ptp") is flat, flat._flatten("ptp") is flat]
found["flat group"] = ranks_of(deep.get_group("ptp"))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    found["flat by name"] = shown(deep["ptp"])
found["flat warns"] = [str(each.message)[:50] for each in caught]
parts = init_device_mesh("cpu", (4,), mesh_dim_names=("world",))
found["parts"] = shown(parts._unflatten(0, (2, 2), ("a", "b")))
found["a part"] = shown(parts._unflatten("world", (2, 2), ("a", "b"))["b"])
found["together"] = shown(DeviceMesh._concatenate([square["dp"], square["tp"]]))
columns = torch.tensor([[0, 2], [1, 3]])
found["columns"] = shown(DeviceMesh("cpu", columns, mesh_dim_names=("x", "y")))
found["columns flat"] = shown(DeviceMesh("cpu", columns, mesh_dim_names=("x", "y"))["x"])

# Of a part of the ranks.
few = init_device_mesh("cpu", (2,), mesh_dim_names=("few",))
found["few"] = [few.get_coordinate() and list(few.get_coordinate()), few.mesh.tolist(), few.size()]
some = DeviceMesh("cpu", [1, 3])
found["some"] = shown(some) if rank in (1, 3) else [some.mesh.tolist(), some.get_coordinate()]

# Of groups that are there.
pair = dist.new_subgroups(2)[0]
own = DeviceMesh.from_group(pair, "cpu", mesh_dim_names=("own",))
found["of a group"] = [*shown(own), own.get_group() is pair]
given = [square.get_group(0), square.get_group(1)]
other = DeviceMesh.from_group(given, "cpu", [[0, 1], [2, 3]], mesh_dim_names=("a", "b"))
found["of groups"] = [*shown(other), shown(other["b"])]

# Kept, copied, in a block.
again = pickle.loads(pickle.dumps(square))
found["pickled"] = [*shown(again), again == square, again.get_group(0) is square.get_group(0)]
found["copied"] = copy.deepcopy(square) == square
with square as inside:
    found["block"] = [inside is square, _mesh_resources.get_current_mesh() is square]
refused("no block", _mesh_resources.get_current_mesh)

chosen = init_device_mesh(
    "cpu", (2, 2), mesh_dim_names=("dp", "tp"), backend_override={"dp": "gloo", 1: "gloo"}
)
found["chosen"] = [*shown(chosen), [dist.get_backend(each) for each in chosen.get_all_groups()]]

refused("names twice", lambda: init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "a")))
refused("names too few", lambda: init_device_mesh("cpu", (2, 2), mesh_dim_names=("a",)))
refused("too large", lambda: init_device_mesh("cpu", (3, 2)))
refused("an index", lambda: init_device_mesh("cpu:0", (4,)))
refused("no mesh", lambda: DeviceMesh("cpu"))
refused("no names", lambda: line["x"])
refused("no such name", lambda: square["pp"])
refused("other order", lambda: square["tp", "dp"])
refused("twice", lambda: square["tp", "tp"])
refused("no dim", square.get_group)
refused("no dim of rank", square.get_local_rank)
refused("group of no name", lambda: square.get_group("pp"))
refused("group of no names", lambda: line.get_group("pp"))
refused("group out of range", lambda: square.get_group(2))
refused("flat without names", lambda: init_device_mesh("cpu", (2, 2))._flatten())
refused("flat as there is", lambda: deep["pp", "dp"]._flatten("tp"))
refused("flat as another", lambda: deep["pp", "dp"]._flatten("ptp"))
refused("parts of no dim", lambda: parts._unflatten(1, (2, 2), ("a", "b")))
refused("parts of no name", lambda: parts._unflatten("z", (2, 2), ("a", "b")))
refused("parts of no sizes", lambda: parts._unflatten(0, (2, 3), ("a", "b")))
refused("parts of no names", lambda: parts._unflatten(0, (2, 2), ("a",)))
refused("together of others", lambda: DeviceMesh._concatenate([square["dp"], few]))
refused("together twice", lambda: DeviceMesh._concatenate([square["dp"], square["dp"]]))
refused("another group", lambda: DeviceMesh.from_group(pair, "cpu", [7, 8]))
refused("no group", lambda: DeviceMesh.from_group([], "cpu"))
refused("groups without mesh", lambda: DeviceMesh.from_group(given, "cpu"))
refused("groups without names", lambda: DeviceMesh.from_group(given, "cpu", [[0, 1], [2, 3]]))
refused("groups too many", lambda: DeviceMesh.from_group(given, "cpu", [0, 1], mesh_dim_names="a"))
for name, wrong in (
    ("name", {"z": "gloo"}),
    ("number", {5: "gloo"}),
    ("both", {"a": "gloo", 0: "gloo"}),
):
    refused(
        f"backend of {name}",
        lambda wrong=wrong: init_device_mesh(
            "cpu", (2, 2), mesh_dim_names=("a", "b"), backend_override=wrong
        ),
    )
refused("backends", lambda: DeviceMesh("cpu", [0, 1], backend_override=(("gloo", None),) * 2))
with open(f"{sys.argv[1]}/mesh_parts-{rank}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
print("done")
