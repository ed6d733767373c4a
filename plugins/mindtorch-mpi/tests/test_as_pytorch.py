"""Programs of several processes that find the same as on PyTorch, by gloo."""

import pytest

PROGRAMS = [
    (2, "uneven_steps"),
    (2, "group_methods"),
    (2, "gradients"),
    (2, "comm_hooks"),
    (2, "gradient_sums"),
    (2, "lower_names"),
    (2, "sharded_training"),
    (2, "fsdp_wrapper"),
    (2, "activations"),
    (2, "checkpoint_planners"),
    (2, "hugging_face"),
    (2, "along_dimensions"),
    (2, "shuffled_pipes"),
    (4, "mesh_parts"),
    (4, "two_ways"),
    (3, "outside_of_the_mesh"),
]


@pytest.mark.parametrize(
    ("count", "line"),
    [(count, f"{name}.py {{folder}}") for count, name in PROGRAMS],
    ids=[name for _, name in PROGRAMS],
)
def test_a_program_finds_what_it_finds_on_pytorch(as_pytorch, count, line):
    as_pytorch(count, line)
