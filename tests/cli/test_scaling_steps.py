"""Steps of training as `mindtorch predict-scaling` replays them, by hand-computed values.

Also on a machine whose cores are shared.
"""

import pytest

import mindtorch_core as torch
from mindtorch_core.communication import fake
from mindtorch_core.communication.engine import Finished
from mindtorch_core.measuring.scaling import noting
from mindtorch_core.measuring.scaling.formulas import slowest
from mindtorch_core.measuring.scaling.prediction import predict, replay
from mindtorch_core.measuring.scaling.steps import (
    Event,
    Message,
    Step,
    compute_spread,
    lost_by_the_slowest,
    read_steps,
    typical,
)

# Computes for a second, sends, computes for two, and waits.
STEP = Step(
    3.5,
    (Message("all_reduce", 100),),
    (Event("queue", 0, 1.0), Event("wait", 0, 3.0, 0.5)),
)


def test_what_is_not_waiting_is_computing():
    assert STEP.compute == 3.0
    assert STEP.bytes == 100


@pytest.mark.parametrize(
    ("seconds", "overlap", "waits"),
    [(5.0, 0.0, 5.0), (5.0, 1.0, 3.0), (5.0, 0.5, 4.0), (1.0, 1.0, 0.0), (0.0, 0.0, 0.0)],
)
def test_messages_move_on_while_the_program_computes(seconds, overlap, waits):
    assert replay(STEP, lambda message: seconds, 1.0, overlap) == pytest.approx(waits)


def test_messages_move_one_after_the_other():
    step = Step(
        2.0,
        (Message("all_reduce", 1), Message("all_reduce", 1)),
        (
            Event("queue", 0, 0.0),
            Event("queue", 1, 0.0),
            Event("wait", 1, 1.0),
            Event("wait", 0, 1.0),
        ),
    )
    assert replay(step, lambda message: 2.0, 1.0, 1.0) == pytest.approx(3.0)


def test_a_prediction_adds_the_slowest_rank_and_the_waiting():
    found = predict(STEP, 2, lambda message: 1.0, spread=0.1, overlap=0.0)
    assert found.compute == pytest.approx(3.0 * slowest(2, 0.1))
    assert found.waiting == pytest.approx(1.0)
    assert found.seconds == pytest.approx(found.compute + found.waiting)
    assert found.efficiency == pytest.approx(3.0 / found.seconds)


def test_reports_are_read_without_the_steps_that_warm_up():
    rows = [
        {"seconds": float(i), "messages": [["all_reduce", 8]], "events": [["queue", 0, 0.1, 0.0]]}
        for i in (90, 50, 1, 2, 3)
    ]
    steps = read_steps({"steps": rows})
    assert [step.seconds for step in steps] == [1.0, 2.0, 3.0]
    assert typical(steps).seconds == 2.0
    assert compute_spread([steps]) == pytest.approx(1.4826 / 2)
    with pytest.raises(ValueError, match="4 optimizer steps: a prediction wants 5"):
        read_steps({"steps": rows[1:]})


# ---- a machine whose cores are shared, in ticks ----------------------------------------------------


def shared_machine(ranks, cores, others, compute, message, steps=40):
    """What ranks note where other programs want the cores too: a tick a turn, for whoever has waited longest.

    A step computes and sends one message, which goes once all have come and takes no core.
    """
    begun, left, lost = [0] * ranks, [compute] * ranks, [0] * ranks
    came, ends = [None] * ranks, None
    line = [*range(ranks), *[-1] * others]
    rows, tick = [[] for _ in range(ranks)], 0
    while len(rows[0]) < steps:
        ready = [n for n, who in enumerate(line) if who < 0 or left[who]]
        running = ready[:cores]
        for n in ready[cores:]:
            if line[n] >= 0:
                lost[line[n]] += 1
        tick += 1
        for n in running:
            who = line[n]
            if who >= 0:
                left[who] -= 1
                came[who] = tick if not left[who] else None
        line = [who for n, who in enumerate(line) if n not in running] + [line[n] for n in running]
        if ends is None and None not in came:
            ends = tick + (message if ranks > 1 else 0)
        if ends is not None and tick >= ends:
            for rank in range(ranks):
                blocked, at = tick - came[rank], came[rank] - begun[rank]
                events = [["queue", 0, at, 0.0], ["wait", 0, at, blocked]]
                rows[rank].append({"seconds": tick - begun[rank], "lost": lost[rank], "events": events,
                                   "messages": [["all_reduce", 8]]})  # fmt: skip
            begun, left, lost = [tick] * ranks, [compute] * ranks, [0] * ranks
            came, ends = [None] * ranks, None
    return [read_steps({"steps": each}) for each in rows]


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize(("cores", "others"), [(8, 0), (2, 0), (2, 1), (2, 5), (4, 12)])
def test_what_other_programs_take_is_no_part_of_computing(ranks, cores, others):
    alone = typical(shared_machine(1, cores, others, 100, 30)[0])
    several = shared_machine(ranks, cores, others, 100, 30)
    assert alone.compute == 100
    assert {step.compute for steps in several for step in steps} == {100}
    lost = lost_by_the_slowest(several)
    foretold = predict(alone, ranks, lambda _: 30, spread=0.0, overlap=0.0, lost=lost).seconds
    measured = sorted(step.seconds for steps in several for step in steps)
    assert foretold == pytest.approx(measured[len(measured) // 2], rel=0.15)
    assert (lost > 0) == (ranks + others > cores)
    # A machine for each rank takes nothing from it.
    assert predict(alone, ranks, lambda _: 30, spread=0.0, overlap=0.0).seconds == 130


def test_messages_move_on_in_the_time_of_computing_alone():
    lost = Step(9.5, STEP.messages, (Event("queue", 0, 3.0), Event("wait", 0, 9.0, 0.5)), 6.0)
    assert lost.compute == 3.0
    assert lost.running == pytest.approx(1 / 3)
    assert replay(lost, lambda message: 5.0, 1.0, 1.0) == pytest.approx(3.0)


def test_what_stands_for_a_message_is_no_part_of_a_step(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(noting.time, "perf_counter", lambda: clock[0])

    class Alone:
        size = 2

        def all_reduce(self, call, tensor, reduction):
            clock[0] += 5
            return Finished()

    notes = noting.Notes()
    clock[0] += 2
    noting._Listening(notes, Alone()).all_reduce(None, torch.ones(3), "sum").wait()
    clock[0] += 1
    notes.end_step()
    (step,) = notes.steps
    assert step["seconds"] == 3
    assert step["messages"] == [("all_reduce", 12)]
    assert [at for _, _, at, _ in step["events"]] == [2, 2]


def test_what_is_lost_at_the_end_of_waiting_counts_for_the_last_rank():
    last, first = Step(12.0, lost=3.0, late=0.5), Step(5.0, late=9.0)
    assert lost_by_the_slowest([[first], [last]]) == 3.5


@pytest.mark.parametrize("rank", [0, 1])
def test_the_bytes_of_a_message_are_those_of_the_whole_on_every_rank(rank):
    notes = noting.Notes()
    listening = noting._Listening(notes, fake.Alone(rank, 4))
    part, whole = torch.ones(3), torch.ones(12)
    root = rank == 0
    listening.all_reduce(None, part, "sum")
    listening.broadcast(None, part, 0)
    listening.reduce(None, part, 0, "sum")
    listening.all_gather(None, whole, part)
    listening.reduce_scatter(None, part, whole, "sum")
    listening.gather(None, whole if root else None, part, 0)
    listening.scatter(None, part, whole if root else None, 0)
    listening.all_to_all(None, whole, whole, [3] * 4, [3] * 4)
    listening.barrier(None, "cpu")
    listening.send(None, part, 1, 0)
    notes.end_step()
    assert dict(notes.steps[0]["messages"]) == {
        "all_reduce": 12, "broadcast": 12, "reduce": 12, "all_gather": 48, "reduce_scatter": 48, "gather": 48,
        "scatter": 48, "all_to_all": 48, "barrier": 0,
    }  # fmt: skip
