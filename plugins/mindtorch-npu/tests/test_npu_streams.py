"""Streams and events: order, asynchrony, waiting, threads."""

import copy
import pickle

import pytest
from npu_threads import in_threads

import mindtorch_core as torch

SLOW = "200000"  # microseconds that each task takes
# What fills tensors with zeros and with ones.
ZERO, ONE = "aclnnInplaceZero", "aclnnInplaceFillScalar"


def filled(simulator):
    """What has filled tensors, in the order in which it was done, and the stream of each."""
    done = [event for event in simulator.log() if event["kind"] == "done"]
    return [(event["name"], event["stream"]) for event in done if event["name"] in (ZERO, ONE)]


def test_streams_are_torch_streams_of_their_device(npu):
    stream = npu.Stream()
    assert isinstance(stream, torch.Stream)
    assert stream.device is torch.device("npu:0")
    assert npu.Stream("npu:1").device is torch.device("npu:1")
    assert npu.Stream(1).device_index == 1
    assert type(torch.Stream("npu:1")) is npu.Stream
    assert type(torch.Stream(device="npu", priority=-1)) is npu.Stream
    assert repr(npu.default_stream()) == "<torch.npu.Stream device=npu:0 stream_id=0>"
    with pytest.raises(ValueError, match="expected a npu device, got cpu"):
        npu.Stream("cpu")
    with pytest.raises(RuntimeError, match="npu:9 was asked for, but there are 2 npu devices"):
        npu.Stream("npu:9")


def test_streams_compare_by_what_they_are(npu):
    assert npu.current_stream() == npu.default_stream()
    assert hash(npu.current_stream()) == hash(npu.default_stream())
    assert npu.Stream() != npu.default_stream()
    assert npu.default_stream(0) != npu.default_stream(1)
    assert npu.default_stream() != 0


def test_the_current_stream_changes_in_a_block_and_comes_back(npu):
    before, stream = npu.current_stream(), npu.Stream()
    with npu.stream(stream):
        assert npu.current_stream() == stream
        with stream, npu.stream(before):
            assert npu.current_stream() == before
        assert npu.current_stream() == stream
    assert npu.current_stream() == before
    with npu.stream(None):
        assert npu.current_stream() == before
    with pytest.raises(ZeroDivisionError), npu.stream(stream):
        1 / 0
    assert npu.current_stream() == before


def test_a_stream_of_another_device_makes_that_device_current(npu):
    stream = npu.Stream("npu:1")
    with npu.stream(stream):
        assert npu.current_device() == 1
        assert torch.zeros(1, device="npu").device is torch.device("npu:1")
        assert npu.current_stream(0) == npu.default_stream(0)
    assert npu.current_device() == 0
    npu.set_stream(stream)
    assert (npu.current_device(), npu.current_stream()) == (1, stream)


def test_there_are_33_queues_however_many_streams_are_made(npu, simulator):
    made = {npu.Stream("npu:1").stream_id for _ in range(100)}
    assert made == set(range(1, 33))
    assert simulator.live()["stream"] <= 2 * 33


def test_work_is_queued_and_calls_return(npu, simulator):
    stream = npu.Stream()
    with simulator.held():
        with stream:
            cleared = torch.zeros(1000, device="npu")
        assert not stream.query()
        assert npu.default_stream().query()
        event = stream.record_event()
        assert not event.query()
        assert repr(event) == "<torch.npu.Event pending>"
    stream.synchronize()
    assert stream.query()
    assert event.query()
    assert cleared.cpu().tolist() == [0.0] * 1000


def test_reading_waits_for_the_stream_that_wrote(npu, simulator):
    ones = torch.ones(1000)
    simulator.latency(SLOW)
    with npu.Stream():
        moved = ones.to("npu")
    # on the default stream, which knows nothing of the other one
    assert moved.cpu().tolist() == [1.0] * 1000


def test_streams_run_beside_each_other_and_in_order_within(npu, simulator):
    first, second = npu.Stream(), npu.Stream()
    with simulator.held(ZERO):
        with first:
            kept = [torch.zeros(10, device="npu"), torch.ones(10, device="npu")]
        with second:
            kept.append(torch.ones(10, device="npu"))
        second.synchronize()
        assert not first.query()
    npu.synchronize()
    assert first.query()
    (one, beside), (zero, held), (last, behind) = filled(simulator)
    assert (one, zero, last) == (ONE, ZERO, ONE)
    assert beside != held == behind
    assert len(kept) == 3


def test_a_stream_waits_for_events_and_streams(npu, simulator):
    first, second, third = npu.Stream(), npu.Stream(), npu.Stream()
    event = torch.Event("npu:0")
    with simulator.held(ZERO):
        with first:
            kept = [torch.zeros(10, device="npu")]
        event.record(first)
        first.wait_event(event)
        event.wait(second)
        third.wait_stream(first)
        for stream in (second, third):
            with stream:
                kept.append(torch.ones(10, device="npu"))
        assert not event.query()
    event.synchronize()
    assert event.query()
    npu.synchronize()
    assert [name for name, _ in filled(simulator)] == [ZERO, ONE, ONE]
    steps = [(e["kind"], e["name"]) for e in simulator.log()]
    assert steps.index(("done", ZERO)) < steps.index(("run", ONE))
    assert len(kept) == 3


def test_an_event_of_another_device_is_waited_for_by_the_host(npu, simulator):
    simulator.latency(SLOW)
    kept = torch.zeros(10, device="npu:0")
    event = npu.default_stream(0).record_event()
    npu.default_stream(1).wait_event(event)
    assert event.query()
    assert len(kept) == 10


def test_an_event_belongs_to_the_device_it_was_recorded_on(npu):
    event = npu.Event()
    assert event.device is None
    event.record(npu.default_stream(1))
    assert event.device is torch.device("npu:1")
    with pytest.raises(RuntimeError, match="Event device npu:1 does not match recording stream's"):
        event.record(npu.default_stream(0))
    with pytest.raises(TypeError, match=r"expected a torch\.Stream, got int"):
        event.record(3)


def test_an_event_that_was_never_recorded_keeps_nobody_waiting(npu):
    event = npu.Event()
    assert event.query()
    event.synchronize()
    event.wait()
    npu.current_stream().wait_event(event)
    assert repr(event) == "<torch.Event not recorded>"


def test_elapsed_time_is_that_between_two_marks(npu, simulator):
    start, end = npu.Event(enable_timing=True), npu.Event(enable_timing=True)
    with pytest.raises(ValueError, match="Both events must be recorded"):
        start.elapsed_time(end)
    start.record()
    simulator.latency(f"kernel:{ZERO}=100000")
    with simulator.held():
        kept = torch.zeros(10, device="npu")
        end.record()
        with pytest.raises(ValueError, match="Both events must be completed"):
            start.elapsed_time(end)
    end.synchronize()
    assert 100 <= start.elapsed_time(end) < 100_000
    with pytest.raises(ValueError, match="enable_timing=True"):
        start.elapsed_time(npu.Event())
    assert len(kept) == 10


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_events_are_not_copied(npu, duplicate):
    with pytest.raises(TypeError, match="cannot pickle"):
        duplicate(npu.current_stream().record_event())


def test_events_are_reused(npu, simulator):
    for _ in range(50):
        npu.current_stream().record_event().synchronize()
    made = simulator.counters()["objects"]["event"]["made"]
    for _ in range(50):
        npu.current_stream().record_event().synchronize()
    assert simulator.counters()["objects"]["event"]["made"] == made


def test_backward_on_two_streams_shares_no_memory(npu):
    leaves = [torch.arange(3.0).to("npu").requires_grad_() for _ in range(2)]
    npu.synchronize()
    for leaf in leaves:
        with npu.Stream():
            (leaf * leaf).sum().backward()
    npu.synchronize()
    assert [leaf.grad.tolist() for leaf in leaves] == [[0.0, 2.0, 4.0]] * 2
    # the fixture asserts that the watcher saw no race


def test_a_pipeline_launches_what_it_recorded_before_the_stream_changes(npu):
    first, second = npu.Stream(), npu.Stream()
    with torch.pipeline():
        with first:
            a = torch.zeros(5, device="npu")
        with second:
            b = torch.zeros(5, device="npu")
        assert not a._pending
        assert a._own_storage().memory.stream == first.stream_id
        assert b._own_storage().memory.stream == second.stream_id


# ---- threads ---------------------------------------------------------------------------------------


def test_every_thread_has_a_context_a_device_and_a_stream_of_its_own(npu):
    npu.set_device(1)

    def work(number):
        assert npu.current_device() == 0
        assert npu.current_stream() == npu.default_stream(0)
        npu.set_device(number % 2)
        with npu.Stream() as stream:
            assert npu.current_stream() == stream
            assert torch.zeros(3, device="npu").cpu().tolist() == [0.0, 0.0, 0.0]
        assert npu.current_device() == number % 2

    in_threads(work)
    assert npu.current_device() == 1


def test_four_threads_with_a_stream_each(npu, simulator):
    numbers = torch.arange(5000)

    def work(number):
        on = f"npu:{number % 2}"
        with npu.Stream(on) as stream:
            for step in range(60):
                size = 100 + 37 * step * (number + 1)
                moved = numbers[:size].to(on)
                cleared = torch.zeros(size, device=on)
                assert moved.cpu().sum() == numbers[:size].sum()
                if step % 7 == 0:
                    stream.synchronize()
                    stream.record_event().synchronize()
                    npu.empty_cache()
                assert not cleared.cpu().any()

    in_threads(work)
    npu.synchronize(0)
    npu.synchronize(1)
    assert npu.memory_allocated(0) == npu.memory_allocated(1) == 0


def test_a_tensor_made_in_one_thread_may_go_in_another(npu):
    made = []
    in_threads(lambda number: made.append(torch.zeros(3000, device=f"npu:{number % 2}")))
    assert npu.memory_allocated(0) > 0
    made.clear()
    assert npu.memory_allocated(0) == npu.memory_allocated(1) == 0
