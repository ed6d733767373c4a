"""Collective operations, messages and groups on the real engine."""


def test_every_operation_with_every_dtype(ranks):
    done = ranks(3, "collectives.py")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n")) == ["", *(f"[{r}] done" for r in range(3))]


def test_ops_have_gradients_and_are_deferred(ranks):
    done = ranks(2, "functional.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == 2


def test_a_mesh(ranks):
    done = ranks(4, "mesh.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == 4


def test_parts_of_groups(ranks):
    done = ranks(4, "split_groups.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == 4
