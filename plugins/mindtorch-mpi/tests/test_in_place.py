"""Modules that take on ways to train in place, and what stands beside DTensors: as on PyTorch, by gloo."""

import pytest


@pytest.mark.parametrize(
    ("count", "line"), [(2, "beside_dtensors.py {folder}"), (2, "composable.py {folder}")]
)
def test_a_program_finds_what_it_finds_on_pytorch(as_pytorch, count, line):
    as_pytorch(count, line)
