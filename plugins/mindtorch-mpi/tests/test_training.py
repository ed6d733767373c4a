"""Training in several processes: as one process, and as PyTorch's by gloo where that is installed."""


def test_data_parallel_training_is_that_of_one_process(ranks):
    done = ranks(2, "training.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == 2


def test_forked_children_are_no_ranks(ranks):
    done = ranks(2, "forks.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == 2
