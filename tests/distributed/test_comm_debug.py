"""`CommDebugMode` and tables of parts, beside PyTorch's."""

import importlib.util
import json
import threading
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.distributed.tensor.debug import CommDebugMode, visualize_sharding

PROGRAM = Path(__file__).parent / "programs" / "comm_counts.py"


def test_it_counts_what_it_counts_in_pytorch(printed, tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("mindtorch_nn")
    line = [PROGRAM, tmp_path, *(["tables"] if importlib.util.find_spec("tabulate") else [])]
    assert printed("-m", "mindtorch_core", "run", *line) == printed(*line)


@pytest.fixture
def mesh():
    dist.init_process_group("fake", rank=0, world_size=4)
    yield dist.init_device_mesh("cpu", (4,))
    dist.destroy_process_group()


def test_parts_are_shown_as_a_table(mesh, capsys):
    tensor = dist.tensor
    laid = tensor.distribute_tensor(torch.zeros(10, 3), mesh, [tensor.Shard(0)])
    visualize_sharding(laid)
    assert capsys.readouterr().out.splitlines() == [
        "         Col 0-2",
        "-------  ---------",
        "Row 0-2  cpu:0",
        "Row 3-5  cpu:1",
        "Row 6-8  cpu:2",
        "Row 9-9  cpu:3",
    ]


def test_the_ops_of_groups_do_what_the_functions_do(mesh):
    group, x = mesh.get_group(), torch.arange(8.0)
    ops = torch.ops.c10d
    (same,), work = ops.allreduce_([x], group, dist.ReduceOp.SUM, None)
    work.wait()
    assert same.data_ptr() == x.data_ptr()
    whole, work = ops._allgather_base_(torch.zeros(32), x, group, False, 1000)
    assert work.is_completed()
    assert whole.tolist() == x.tolist() * 4
    part, work = ops._reduce_scatter_base_(torch.zeros(2), x, group, dist.ReduceOp.SUM)
    work.wait()
    assert part.tolist() == [0, 1]
    rows = [torch.zeros(8) for _ in range(4)]
    ops.gather_([rows], [x], group, 0).wait()
    assert rows[3].tolist() == x.tolist()
    ops.alltoall_base_(part := torch.zeros(8), x, group, [], []).wait()
    assert part[:2].tolist() == [0, 1]


def test_the_older_ops_name_a_group_by_its_ranks(mesh):
    x, world, ops = torch.arange(8.0), range(4), torch.ops.c10d_functional
    assert ops.all_reduce(x, "SUM", "", world, 4).tolist() == x.tolist()
    assert ops.all_gather_into_tensor(x, "", world, 4).tolist() == x.tolist() * 4
    assert ops.reduce_scatter_tensor(x, "sum", "", world, 4).tolist() == [0, 1]
    assert ops.broadcast(x, 0, "", world, 4).tolist() == x.tolist()
    assert ops.all_to_all_single(x, None, None, "", world, 4)[:2].tolist() == [0, 1]


def test_a_group_that_is_named_by_other_ranks_is_refused(mesh):
    with pytest.raises(ValueError, match=r"in no group of the ranks \[0, 1\]: make one by new_gr"):
        torch.ops.c10d_functional.all_reduce(torch.ones(2), "sum", "", [0, 1], 2)


def test_modules_that_are_called_twice_stand_there_once(mesh, tmp_path):
    nn = pytest.importorskip("mindtorch_nn")  # PyTorch raises IndexError at the second call

    class Sums(nn.Module):
        def forward(self, x):
            dist.all_reduce(x, group=mesh.get_group())
            return x

    model, mode = nn.Sequential(Sums(), nn.ReLU()), CommDebugMode()
    with mode:
        for _ in range(2):
            model(torch.ones(2))
    mode.generate_json_dump(str(tmp_path / "log.json"), noise_level=0)
    tree = json.loads((tmp_path / "log.json").read_text())
    (whole,) = tree["children"]
    assert [each["fqn"] for each in whole["children"]] == ["Sequential.0", "Sequential.1"]
    assert whole["children"][0]["collectives_forward"] == [["c10d.allreduce_", 2]]
    assert (mode.get_comm_counts(), mode.get_total_counts()) == ({torch.ops.c10d.allreduce_: 2}, 2)


def test_other_threads_calls_are_not_counted(mesh):
    def call():
        dist.all_reduce(torch.ones(2))

    with CommDebugMode() as mode:
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        call()
    assert mode.get_total_counts() == 1
