"""Streams, events and device functions on devices without queues of their own."""

import re

import pytest

import mindtorch_core as torch
from mindtorch_core.plugins.device_module import DeviceModule, DeviceProperties
from mindtorch_core.plugins.memory_summary import summary
from mindtorch_core.runtime import Runtime


def test_a_stream_on_the_host_has_nothing_to_wait_for():
    stream = torch.Stream("cpu")
    assert type(stream) is torch.Stream
    assert (stream.device, stream.device_type, stream.device_index) == (
        torch.device("cpu"),
        "cpu",
        -1,
    )
    assert stream.query()
    stream.synchronize()
    assert stream == torch.cpu.current_stream() == torch.cpu.default_stream()
    assert repr(stream) == "<torch.cpu.Stream device=cpu stream_id=0>"
    with stream as entered, torch.cpu.stream(stream), torch.cpu.stream(None):
        assert entered is stream
    torch.ones(2).record_stream(stream)
    assert torch.cpu.Stream is torch.Stream


def test_no_event_is_recorded_on_the_host():
    event = torch.Event("cpu", enable_timing=True)
    with pytest.raises(RuntimeError, match=r"^cpu backend doesn't support events\.$"):
        event.record()
    event.wait()
    event.synchronize()
    assert event.query()
    with pytest.raises(ValueError, match="must be recorded before"):
        event.elapsed_time(event)
    with pytest.raises(RuntimeError, match="cpu backend doesn't support events"):
        torch.Stream("cpu").record_event()
    assert not hasattr(torch.cpu, "Event")


def test_what_is_no_stream_is_refused():
    with pytest.raises(TypeError, match=r"record_stream expects a torch\.Stream, got int"):
        torch.ones(2).record_stream(1)
    with pytest.raises(ValueError, match="a stream of meta cannot use a tensor on cpu"):
        torch.ones(2).record_stream(torch.Stream("meta"))
    stream = torch.Stream("cpu")
    for call in (torch.cpu.stream, stream.wait_stream):
        with pytest.raises(TypeError, match=r"^expected a torch\.Stream, got int$"):
            call(1)
    with pytest.raises(TypeError, match=r"^expected a torch\.Event, got int$"):
        stream.wait_event(1)
    assert torch.Stream("cpu") != torch.Stream("meta")
    assert torch.Stream("cpu") != 0


def test_a_stream_may_be_entered_again_and_again():
    stream = torch.Stream("cpu")
    with stream, stream:
        assert torch.cpu.current_stream() == stream
    with pytest.raises(ZeroDivisionError), stream:
        1 / 0


class Counting(Runtime):
    """Two devices, an allocator's counters, and nothing else."""

    type = "cpu"

    def __init__(self):
        super().__init__()
        self.resets = []

    def device_count(self):
        return 2

    def concrete_device(self, wanted):
        return wanted

    def allocate(self, nbytes, on):
        raise NotImplementedError

    copy_from_host = copy_to_host = allocate

    def memory_stats(self, on):
        return {
            "allocated_bytes.all.current": 30 << 20,
            "reserved_bytes.all.peak": 7,
            "num_ooms": 3,
        }

    def reset_memory_stats(self, on, part):
        self.resets.append(part)

    def memory_info(self, on):
        return 1, 2

    def properties(self, on):
        return {"name": "counter", "cores": 4}


def test_numbers_come_from_the_runtime():
    module = DeviceModule(runtime := Counting())
    assert module.memory_allocated() == 30 << 20
    assert module.max_memory_reserved() == 7
    assert module.max_memory_allocated() == module.memory_reserved() == 0
    assert module.mem_get_info() == (1, 2)
    module.reset_peak_memory_stats()
    module.reset_accumulated_memory_stats()
    assert runtime.resets == ["peak", "accumulated"]
    assert module.get_device_name() == "counter"
    assert module.get_device_properties().cores == 4
    text = module.memory_summary(abbreviated=True)
    assert "30 MiB" in text
    assert "Out of memory: 3" in text


def test_a_device_that_does_not_tell_says_so():
    with pytest.raises(RuntimeError, match="does not tell how much memory"):
        torch.cpu.mem_get_info()
    assert torch.cpu.memory_allocated() == 0
    assert "pool" in torch.cpu.memory_summary()
    assert not re.search("[1-9]", torch.cpu.memory_summary())


def test_the_current_device_in_a_block():
    module = DeviceModule(Counting())
    with module.device(1):
        assert module.current_device() == 1
        with module.device(None), module.device(-1), module.device_of(3):
            assert module.current_device() == 1
        module.set_device(-1)
        assert module.current_device() == 1
    assert module.current_device() == 0


@pytest.mark.parametrize(
    ("given", "index"), [(1, 1), (0, 0), ("cpu:1", 1), ("cpu", 0), (torch.device("cpu", 1), 1)]
)
def test_a_device_is_made_current(given, index):
    module = DeviceModule(Counting())
    module.set_device(1 - index)
    module.set_device(given)
    assert module.current_device() == index
    module.set_device(0)


def test_properties_read_like_attributes():
    found = DeviceProperties(name="x", cores=2)
    assert repr(found) == "DeviceProperties(name='x', cores=2)"
    with pytest.raises(AttributeError, match="the device tells no 'speed'; it tells name, cores"):
        found.speed


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (9 << 20, "9216 KiB"), (10 << 30, "10 GiB")],
)
def test_sizes_in_the_table(value, shown):
    text = summary({"allocated_bytes.all.current": value}, "cpu", True)
    line = next(line for line in text.splitlines() if "Allocated memory" in line)
    assert f" {shown} " in line
