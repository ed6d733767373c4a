"""Programs of several processes that find the same as on PyTorch, by gloo."""

import pytest


@pytest.mark.parametrize(
    "program",
    ["uneven_steps.py", "group_methods.py", "gradients.py", "comm_hooks.py"],
    ids=lambda name: name[:-3],
)
def test_a_program_finds_what_it_finds_on_pytorch(as_pytorch, program):
    as_pytorch(2, program)
