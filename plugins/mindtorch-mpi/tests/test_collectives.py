"""Collective operations, messages and groups on the real engine; training by data parallel, as in one process."""

import pytest


@pytest.mark.parametrize(
    ("count", "line"),
    [
        (3, "collectives.py"),  # every operation with every dtype
        (2, "functional.py"),  # ops have gradients and are deferred
        (2, "captured_steps.py"),
        (2, "training.py"),
        (2, "registered.py"),
        (2, "traces.py {folder}"),
        (2, "forks.py"),  # forked children are no ranks
        (4, "large.py"),
        (4, "mesh.py"),
        (4, "split_groups.py"),
    ],
)
def test_a_program_of_several_processes(passes, count, line):
    passes(count, line)
