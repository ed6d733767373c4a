"""Training with parts of parameters in several processes: as one process."""

import pytest

CHECKS = {
    "training": ("perceptrons", "accumulation", "mixed_precision"),
    "models": ("transformer", "parts", "where_parameters_are", "states"),
    "cases": ("frozen_unused_and_ignored", "groups_of_modules", "recomputation"),
}


def passes(done, count):
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == count


@pytest.mark.parametrize("name", CHECKS)
def test_two_processes_train_as_one(ranks, name):
    passes(ranks(2, "sharding.py", *CHECKS[name]), 2)


def test_four_processes_train_as_one(ranks):
    passes(ranks(4, "sharding.py", "perceptrons", "copies_of_parts"), 4)


def test_parts_that_are_uneven_or_empty(ranks):
    passes(ranks(4, "sharding.py", "parts", "transformer"), 4)


def test_tensors_in_parts(ranks):
    passes(ranks(2, "distributed_tensors.py"), 2)
