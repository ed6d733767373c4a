"""Who may take a dead process's place: what the launcher answers, by what the processes say in its store."""

import json
from datetime import timedelta

import pytest

from mindtorch_core.cli.replacements import Replacements
from mindtorch_core.communication.tcp_store import TCPStore


@pytest.fixture
def started():
    """``started(count, allowed)``: the launcher's part, and the store as processes see it."""

    def start(count, allowed):
        made = Replacements(count, allowed)
        told = made.variables(["python", "rank.py"])
        assert json.loads(told["MINDTORCH_ELASTIC"]) == ["python", "rank.py"]
        port = int(told["MASTER_PORT"])
        return made, TCPStore(told["MASTER_ADDR"], port, None, False, timedelta(seconds=10))

    return start


def whole(store, count, generation=0):
    for rank in range(count):
        store.set(f"elastic/whole/{rank}", str(generation))


def test_nobody_is_replaced_before_the_group_is_whole(started):
    made, store = started(2, 3)
    store.set("elastic/whole/0", "0")
    assert not made.allow(1, caused=True)
    assert store.get("elastic/1/1") == b"stop"
    assert made.used == 0


def test_ranks_are_replaced_as_often_as_is_allowed(started):
    made, store = started(3, 3)
    whole(store, 3)
    assert made.allow(0, caused=True)
    assert made.allow(2, caused=True)
    assert store.get("elastic/2/1") == b"replace"
    assert (made.missing(), made.used, made.hopeless()) == ([0, 2], 0, False)
    store.set("elastic/anew/1", "[0, 2]")
    whole(store, 3, 1)
    assert not made.hopeless()
    assert made.allow(2, caused=True)
    assert (made.deaths(2), made.missing(), made.used) == (2, [2], 2)
    store.set("elastic/anew/2", "[2]")
    whole(store, 3, 2)
    assert not made.allow(1, caused=True)
    assert store.get("elastic/1/1") == b"stop"


def test_a_death_that_is_heard_of_after_the_others_began_to_replace_it(started):
    made, store = started(3, 9)
    whole(store, 3)
    store.set("elastic/anew/1", "[0, 2]")
    assert made.allow(0, caused=True)
    assert made.allow(2, caused=True)
    assert not made.hopeless()


@pytest.mark.parametrize("second", [0, 1], ids=["who came instead", "one of the others"])
def test_who_dies_while_the_group_is_made_anew_is_not_replaced(started, second):
    made, store = started(3, 9)
    whole(store, 3)
    assert made.allow(0, caused=True)
    store.set("elastic/anew/1", "[0]")
    assert not made.allow(second, caused=True)


def test_a_group_that_is_made_without_all_that_died_is_given_up(started):
    made, store = started(3, 9)
    whole(store, 3)
    assert made.allow(0, caused=True)
    assert made.allow(1, caused=True)
    store.set("elastic/anew/1", "[0]")
    assert made.hopeless()


def test_where_nobody_is_left_nobody_is_waited_for(started):
    made, store = started(2, 9)
    whole(store, 2)
    assert made.allow(0, caused=True)
    assert not made.hopeless()
    assert made.allow(1, caused=True)
    assert made.hopeless()
    assert made.used == 0


def test_who_ends_as_another_has_died_is_not_replaced(started):
    made, store = started(2, 9)
    whole(store, 2)
    assert not made.allow(0, caused=False)
