"""Ops on DTensors, and modules of which each rank computes a part."""

import pytest


@pytest.mark.parametrize(
    ("count", "line"),
    [(2, "distributed_ops.py"), (4, "distributed_ops.py"), (3, "sample_ops.py")],
)
def test_ops_give_what_they_give_of_plain_tensors(passes, count, line):
    passes(count, line)


@pytest.mark.parametrize(
    ("count", "line"), [(2, "tensor_parallel.py {folder}"), (4, "parallel_losses.py {folder}")]
)
def test_a_program_finds_what_it_finds_on_pytorch(as_pytorch, count, line):
    as_pytorch(count, line)
