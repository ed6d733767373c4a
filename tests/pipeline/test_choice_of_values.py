"""Which values are made again, of ops that are nothing but what they read, make and change."""

import random

import pytest

from mindtorch_core.deferred.remaking.choosing import LIMITS, Memory, Work, chosen


@pytest.fixture(autouse=True)
def everything_counts(monkeypatch):
    monkeypatch.setattr(LIMITS, "least_bytes", 1)
    monkeypatch.setattr(LIMITS, "least_share", 0.0)


def made(at, *reads, again=False):
    return Work(reads, [at], [], again)


def fullest(works, memories, again):
    """Bytes that are held at the fullest moment; what is read must be there, and be what it was.

    Values are told by what they were made of, so that one that was made again of something else is another one.
    """
    before = {}
    for each in again:
        before.setdefault(each.before, []).append(each.makers)
    order = []  # each as the op, and whether it makes something again for one that follows
    for at, work in enumerate(works):
        order += [(works[i], i == makers[-1]) for makers in before.get(at, ()) for i in makers]
        order.append((work, None))
    last, present, seen = {}, {}, []
    for step, (work, _) in enumerate(order):
        last |= dict.fromkeys((*work.reads, *work.makes, *work.writes), step)
    wanted = [m for m, memory in enumerate(memories) if memory.seen]
    # Backward, as a value that is made once more later is not held until then.
    held, alive = [0] * len(order), set(wanted)
    for step in range(len(order) - 1, -1, -1):
        work = order[step][0]
        alive |= {*work.reads, *work.makes, *work.writes}
        held[step] = sum(memories[m].nbytes for m in alive if not memories[m].there)
        alive -= {*work.makes}
    assert not [m for m in alive if not memories[m].there], "read before it is made"
    for work, repeats in order:
        for m in work.reads:
            present.setdefault(m, ("there", m))
        told = tuple(present[m] for m in work.reads)
        for m in work.writes:
            present[m] = "written", told, present.get(m)
        for m in work.makes:
            present[m] = "made", m, told
        if repeats is None:
            seen.append(told)
    return max(held), seen


def check(works, memories):
    again, saved = chosen(works, memories)
    before, values = fullest(works, memories, [])
    after, same = fullest(works, memories, again)
    assert same == values
    assert before - after >= saved
    assert bool(again) == (saved > 0)
    return again, saved


def layers(count):
    """A network: of each layer a product and what is made of it; then gradients, which read both."""
    works, memories = [made(1, 0)], [Memory(8, there=True, seen=True), Memory(8)]
    for _ in range(count):
        n = len(memories)
        works += [made(n, n - 1, again=True), made(n + 1, n)]
        memories += [Memory(8), Memory(8)]
    for n in range(len(memories) - 2, 1, -2):
        at = len(memories)
        works += [made(at, at - 1, n), made(at + 1, at, n - 1)]
        memories += [Memory(1), Memory(8)]
    return works, memories


def test_what_layers_pass_on_is_made_again():
    again, saved = check(*layers(5))
    assert saved == 4 * 8  # of the last layer it is read at once
    assert [each.makers for each in again] == [(7,), (5,), (3,), (1,)]
    assert sorted(each.before for each in again) == [each.before for each in again]


@pytest.mark.parametrize(
    "other",
    [
        {"seen": True},  # somebody looks at it
        {"views": [(2, 20)]},  # an early view of it is read late
    ],
)
def test_what_others_know_is_kept(other):
    works, memories = layers(5)
    for n in range(2, 11, 2):
        memories[n] = Memory(8, **other)
    assert check(works, memories) == ([], 0)


def test_small_values_and_small_gains_are_let_be(monkeypatch):
    works, memories = layers(5)
    monkeypatch.setattr(LIMITS, "least_share", 0.5)
    assert check(works, memories) == ([], 0)
    monkeypatch.setattr(LIMITS, "least_share", 0.0)
    monkeypatch.setattr(LIMITS, "least_bytes", 9)
    assert check(works, memories) == ([], 0)


@pytest.mark.parametrize("changed", [0, 3])
def test_what_follows_from_what_was_changed_is_kept(changed):
    """Where that is what it was made of, not where it is something else."""
    works, memories = [made(1, 0, again=True), made(2, 1)], [Memory(8, True, True), Memory(8)]
    memories += [Memory(8), Memory(8)]
    works += [made(3, 0), Work([], [], [changed], False), made(4, 2), made(5, 4), made(6, 5, 1)]
    memories += [Memory(80), Memory(8), Memory(8)]
    again, _ = check(works, memories)
    assert bool(again) == (changed == 3)


def test_other_names_of_what_was_there_may_have_been_changed():
    works = [made(2, 0, again=True), made(3, 2), made(4, 3), made(5, 4), made(6, 5, 2)]
    memories = [Memory(8, True, True), Memory(8, True, True), Memory(8), Memory(8)]
    memories += [Memory(80), Memory(8), Memory(8)]
    assert check(works, memories)[0]
    works.insert(3, Work([], [], [1], False))
    assert check(works, memories) == ([], 0)


def drawn(draw):
    """Ops that read what there is, some of which change something."""
    memories = [Memory(draw.randrange(1, 9), True, draw.random() < 0.8) for _ in range(2)]
    works = []
    for at in range(draw.randrange(4, 40)):
        near = range(max(0, len(memories) - 5), len(memories))
        places = near if draw.random() < 0.6 else range(len(memories))
        reads = sorted({draw.choice(places) for _ in range(draw.randrange(1, 4))})
        if at and draw.random() < 0.08:
            works.append(Work(reads, [], [draw.choice(reads)], False))
            continue
        works.append(made(len(memories), *reads, again=draw.random() < 0.6))
        memories.append(Memory(draw.randrange(1, 9), seen=draw.random() < 0.1))
    return works, memories


def test_drawn_ops_read_the_same_and_hold_less():
    gained = 0
    for seed in range(2000):
        gained += bool(check(*drawn(random.Random(seed)))[0])
    assert gained > 200
