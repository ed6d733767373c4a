"""``torch.distributed`` without MPI: a third party's engine, Meta rules, and what programs pay."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mindtorch_core as torch

PROGRAMS = Path(__file__).parent / "programs"


def run(tmp_path, *arguments, **env):
    """Run Python where the toy engine is installed, and one that cannot be loaded."""
    meta = tmp_path / "toy_engine-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-engine\nVersion: 1.0\n")
    (meta / "entry_points.txt").write_text(
        "[mindtorch.communicators]\ntoy = toy_engine\nbad = no_engine\n"
    )
    (tmp_path / "no_engine.py").write_text("raise KeyError('broken')\n")
    unset = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    path = [str(tmp_path), str(PROGRAMS), *filter(None, sys.path)]
    return subprocess.run(
        [sys.executable, "-W", "ignore:mindtorch:RuntimeWarning", *map(str, arguments)],
        env={k: v for k, v in os.environ.items() if k not in unset}
        | {"PYTHONPATH": os.pathsep.join(path), **env},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_a_third_partys_engine(tmp_path):
    done = run(tmp_path, PROGRAMS / "alone.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"


def test_one_process_needs_no_communicator(tmp_path):
    done = run(tmp_path, PROGRAMS / "single.py", MINDTORCH_COMMUNICATORS="none")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"


def test_an_engine_that_is_switched_off(tmp_path):
    text = (
        "import mindtorch_core as torch\n"
        "assert not torch.distributed.is_available()\n"
        "torch.distributed.init_process_group('toy')\n"
    )
    done = run(tmp_path, "-c", text, MINDTORCH_COMMUNICATORS="none")
    assert "'toy' is switched off by MINDTORCH_COMMUNICATORS=none" in done.stderr


def test_a_program_without_it_loads_nothing_of_it(tmp_path):
    text = (
        "import sys, mindtorch_core as torch\n"
        "(torch.ones(2, requires_grad=True) * 2).sum().backward()\n"
        "print([n for n in sys.modules if 'communication' in n or n.startswith(('mpi', 'mindtorch_mpi'))])\n"
    )
    done = run(tmp_path, "-c", text)
    assert done.stdout == "[]\n", done.stderr


def test_shapes_need_no_group():
    torch.distributed.is_available()  # the ops come with the module
    ops, x = torch.ops._c10d_functional, torch.ones(4, 3, device="meta", dtype=torch.float16)
    assert ops.all_reduce(x, "sum", "any").shape == (4, 3)
    assert ops.all_gather_into_tensor(x, 3, "any").shape == (12, 3)
    part = ops.reduce_scatter_tensor(x, "sum", 2, "any")
    assert (part.shape, part.dtype, part.device.type) == ((2, 3), torch.float16, "meta")
    assert ops.all_to_all_single(x, [1, 5], [2, 2], "any").shape == (6, 3)
    assert ops.broadcast(x, 0, "any").shape == ops.wait_tensor(x).shape == (4, 3)
    assert [t.shape for t in ops.all_reduce_coalesced([x, x[0]], "sum", "any")] == [(4, 3), (3,)]
    with pytest.raises(RuntimeError, match="is not divisible by the group's size 3"):
        ops.reduce_scatter_tensor(x, "sum", 3, "any")


def test_the_schemas_are_pytorchs():
    torch.distributed.is_available()
    ops = torch.ops._c10d_functional
    for name, schema in {
        "all_reduce": "(Tensor input, str reduce_op, str group_name) -> Tensor",
        "all_reduce_": "(Tensor(a!) input, str reduce_op, str group_name) -> Tensor(a!)",
        "all_gather_into_tensor": "(Tensor input, int group_size, str group_name) -> Tensor",
        "wait_tensor": "(Tensor tensor) -> Tensor",
    }.items():
        assert str(getattr(ops, name).default._schema) == f"_c10d_functional::{name}{schema}"
