"""Names of `torch.distributed` that stand below its public ones, and its breakpoint, in one process."""

import subprocess
import sys

import pytest

from mindtorch_core import distributed as dist

PROGRAM = """
dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
for value in (11, 22):
    dist.breakpoint(skip=1, timeout_s=77)
dist.breakpoint(rank=3)
"""


@pytest.mark.parametrize("module", ["torch", "mindtorch_core"])
def test_a_breakpoint_stops_one_rank(tmp_path, module):
    if module == "torch":
        pytest.importorskip("torch")
    script = tmp_path / "stops.py"
    script.write_text(f"import {module} as torch\ndist = torch.distributed\n{PROGRAM}")
    done = subprocess.run(
        [sys.executable, script], input="up\np value\nc\n",
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("!!! ATTENTION !!!") == 1
    assert done.stderr.count("Skip the breakpoint, counter=1") == 1
    assert "(Pdb) 22\n" in done.stdout


@pytest.mark.parametrize(
    "text", ["gloo", "nccl", "mpi", "cpu:gloo", "cpu:GLOO,cuda:nccl", "undefined"]
)
def test_backends_by_device(text):
    peer = pytest.importorskip("torch.distributed.distributed_c10d")
    mine = dist.BackendConfig(dist.Backend(text))
    expected = peer.BackendConfig(peer.Backend(text))
    assert mine.get_device_backend_map() == expected.get_device_backend_map()
    assert repr(mine) == repr(expected)


@pytest.mark.parametrize("text", ["cpu:gloo,cpu:mpi", "cpu:gloo,x"])
def test_backends_by_device_that_are_none(text):
    with pytest.raises(ValueError, match="in the backend string"):
        dist.BackendConfig(dist.Backend(text))
