"""Parts of meshes: flattened, cut anew, sliced by the names of flattened dimensions, and in files."""

import pickle

import pytest

from mindtorch_core import distributed as dist

RANK = 5


@pytest.fixture
def mesh():
    """Of 2 x 2 x 2 ranks, of which this process is (1, 0, 1)."""
    dist.init_process_group("fake", rank=RANK, world_size=8)
    yield dist.init_device_mesh("cpu", (2, 2, 2), mesh_dim_names=("a", "b", "c"))
    dist.destroy_process_group()


def ranks(mesh, dim=None):
    return dist.get_process_group_ranks(mesh.get_group(dim))


def test_flattened_dimensions_are_parts(mesh):
    ab = mesh["a", "b"]._flatten("ab")
    assert (ab.shape, ab.mesh_dim_names, ab.mesh.tolist()) == ((4,), ("ab",), [1, 3, 5, 7])
    assert ranks(ab) == [1, 3, 5, 7]
    assert mesh["a", "b"]._flatten("ab") is ab
    assert ranks(mesh, "ab") == [1, 3, 5, 7]
    with pytest.warns(UserWarning, match="Slicing a flattened dim from root mesh"):
        both = mesh["ab", "c"]
    assert both.shape == (4, 2)
    assert (ranks(both, "ab"), ranks(both, "c")) == ([1, 3, 5, 7], [4, 5])
    with pytest.warns(UserWarning, match="Slicing a flattened dim from root mesh"):
        one = mesh["ab"]
    assert ranks(one) == [1, 3, 5, 7]


def test_meshes_without_groups(mesh):
    """They can be sliced as well."""
    bare = dist.DeviceMesh("cpu", mesh.mesh, mesh_dim_names=("x", "y", "z"), _init_backend=False)
    assert bare["x"].shape == (2,)
    with pytest.raises(RuntimeError, match="process groups not initialized"):
        bare.get_group("x")


def test_what_cannot_be_flattened_or_sliced(mesh):
    mesh["a", "b"]._flatten("ab")
    with pytest.raises(ValueError, match="with mesh_dim_name ab has been created before"):
        mesh["b", "c"]._flatten("ab")
    with pytest.raises(ValueError, match="c already exists for submesh"):
        mesh["a", "b"]._flatten("c")
    part = mesh["a"]
    assert part._flatten("a") is part
    with pytest.raises(KeyError, match="There is no 'd'"):
        mesh["a", "d"]
    with pytest.raises(KeyError, match="should be in ascending order"):
        mesh["b", "a"]
    with (
        pytest.warns(UserWarning, match="Slicing a flattened dim"),
        pytest.raises(RuntimeError, match="Slicing overlapping dim_names"),
    ):
        mesh["ab", "b"]
    unnamed = dist.init_device_mesh("cpu", (8,))
    with pytest.raises(RuntimeError, match="Cannot slice a DeviceMesh without mesh_dim_names"):
        unnamed["a"]
    with pytest.raises(RuntimeError, match="Cannot flatten a DeviceMesh without mesh_dim_names"):
        unnamed._flatten()


@pytest.mark.parametrize("dim", ["b", 1])
def test_dimensions_cut_anew(mesh, dim):
    whole = mesh._flatten("abc")
    cut = whole._unflatten(0, (4, 2), ("x", "y"))
    assert (cut.shape, cut.mesh_dim_names) == ((4, 2), ("x", "y"))
    assert cut.mesh.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert (ranks(cut, "x"), ranks(cut, "y")) == ([1, 3, 5, 7], [4, 5])
    assert cut.get_coordinate() == (2, 1)
    inner = mesh._unflatten(dim, (2, 1), ("p", "q"))
    assert (inner.shape, inner.mesh_dim_names) == ((2, 2, 1, 2), ("a", "p", "q", "c"))
    assert ranks(inner, "p") == ranks(mesh, "b") == [5, 7]


def test_all_parts_along_a_dimension(mesh):
    found = mesh._get_all_submeshes("c")
    assert [each.mesh.tolist() for each in found] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert [bool(each._groups) for each in found] == [False, False, True, False]
    assert ranks(found[2]) == [4, 5]


def test_where_a_process_is(mesh):
    assert mesh.get_coordinate() == (1, 0, 1)
    assert mesh.get_rank() == RANK
    assert [mesh.get_local_rank(name) for name in "abc"] == [1, 0, 1]
    assert mesh._is_current_rank_part_of_mesh()
    assert (mesh.size(), mesh.size(1), mesh.ndim, mesh.shape) == (8, 2, 3, (2, 2, 2))
    other = dist.DeviceMesh("cpu", [0, 1])
    assert other.get_coordinate() is None
    assert not other._is_current_rank_part_of_mesh()
    assert (other.size(), other.ndim) == (2, 1)


def test_meshes_of_other_runs(mesh):
    """What a mesh describes can be read; it has the groups of this run, or none."""
    text = pickle.dumps(mesh["a"])
    assert ranks(pickle.loads(text)) == ranks(mesh["a"])
    dist.destroy_process_group()
    dist.init_process_group("fake", rank=RANK, world_size=8)
    found = pickle.loads(text)
    assert (found.shape, found.mesh_dim_names) == ((2,), ("a",))
    with pytest.raises(RuntimeError, match="process groups not initialized"):
        found.get_group()
