"""What `torch.accelerator` hands to the functions of a device's module, which notes it here."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

import mindtorch_core as torch
from mindtorch_core import accelerator
from mindtorch_core.ecosystem import _utils


class Noting:
    """Functions of a device that note their arguments, and answer with what was asked."""

    def __init__(self):
        self.told = []

    def __getattr__(self, name):
        def call(*args):
            self.told.append((name, *args))
            return {"memory_stats": {"a": 1}, "current_device": 2}.get(name, (name, *args))

        return call

    @contextmanager
    def device(self, index):
        self.told.append(("in", index))
        try:
            yield
        finally:
            self.told.append(("out", index))


@pytest.fixture
def noted(monkeypatch):
    """An accelerator, "meta" by name, of three devices."""
    module = Noting()
    runtime = SimpleNamespace(device_count=lambda: 3)
    row = SimpleNamespace(type="meta", module=module, runtime=runtime)
    monkeypatch.setattr(accelerator, "_row", lambda: row)
    return module


CALLS = [
    (lambda: accelerator.set_device_index("meta:1"), ("set_device", 1)),
    (lambda: accelerator.set_device_index(2), ("set_device", 2)),
    (lambda: accelerator.current_stream(), ("current_stream", None)),
    (lambda: accelerator.current_stream("meta:1"), ("current_stream", 1)),
    (lambda: accelerator.set_stream("a stream"), ("set_stream", "a stream")),
    (lambda: accelerator.synchronize(torch.device("meta", 2)), ("synchronize", 2)),
    (lambda: accelerator.synchronize("meta"), ("synchronize", None)),
    (lambda: accelerator.empty_cache(), ("empty_cache",)),
    (lambda: accelerator.memory_stats(1), ("memory_stats", 1)),
    (lambda: accelerator.memory_allocated(1), ("memory_allocated", 1)),
    (lambda: accelerator.max_memory_allocated(), ("max_memory_allocated", None)),
    (lambda: accelerator.memory_reserved(0), ("memory_reserved", 0)),
    (lambda: accelerator.max_memory_reserved(2), ("max_memory_reserved", 2)),
    (lambda: accelerator.reset_peak_memory_stats(1), ("reset_peak_memory_stats", 1)),
    (lambda: accelerator.reset_accumulated_memory_stats(), ("reset_accumulated_memory_stats", None)),
    (lambda: accelerator.get_memory_info("meta:0"), ("mem_get_info", 0)),
]  # fmt: skip
RETURNING = {
    "current_stream",
    "mem_get_info",
    "memory_allocated",
    "max_memory_allocated",
    "memory_reserved",
}


@pytest.mark.parametrize(
    ("call", "expected"), CALLS, ids=lambda each: str(each[0]) if isinstance(each, tuple) else ""
)
def test_calls_go_to_the_devices_module(noted, call, expected):
    found = call()
    assert noted.told == [expected]
    if expected[0] in RETURNING:
        assert found == expected
    elif expected[0] == "memory_stats":
        assert found == {"a": 1}


def test_a_device_is_current_within_a_block(noted):
    with accelerator.device_index(None):
        assert noted.told == []
    with pytest.raises(ZeroDivisionError), accelerator.device_index(1):
        raise ZeroDivisionError
    assert noted.told == [("in", 1), ("out", 1)]


def test_what_there_is(noted):
    assert accelerator.is_available()
    assert (accelerator.device_count(), accelerator.current_device_index()) == (3, 2)
    assert str(accelerator.current_accelerator()) == "meta"
    assert torch.float32 in accelerator.get_device_capability("meta")["supported_dtypes"]
    assert _utils._get_all_device_indices() == [0, 1, 2]


@pytest.mark.parametrize(
    "call",
    [
        accelerator.set_device_index, accelerator.current_stream, accelerator.synchronize, accelerator.memory_stats,
        accelerator.get_memory_info, accelerator.get_device_capability, accelerator.memory_allocated,
    ],
    ids=lambda call: call.__name__,
)  # fmt: skip
def test_devices_of_another_type_are_refused(noted, call):
    with pytest.raises(ValueError, match=r"cpu doesn't match the current accelerator meta\."):
        call("cpu:0")
    assert noted.told == []


@pytest.fixture
def alone(monkeypatch):
    """No accelerator."""
    monkeypatch.setattr(accelerator, "_row", lambda: None)


def test_without_one(alone):
    assert not accelerator.is_available()
    assert accelerator.device_count() == 0
    assert accelerator.current_accelerator() is None
    assert accelerator.empty_cache() is None
    assert accelerator.empty_host_cache() is None
    assert _utils._get_available_device_type() is None
    assert _utils._get_all_device_indices() == []
    assert _utils._get_device_index(None, optional=True) == 0
    with accelerator.device_index(None):
        pass


@pytest.mark.parametrize(
    "call",
    [
        lambda: accelerator.set_device_index(0), lambda: accelerator.current_stream(),
        lambda: accelerator.set_stream(None), lambda: accelerator.synchronize(),
        lambda: accelerator.memory_stats(), lambda: accelerator.memory_reserved(),
        lambda: accelerator.reset_peak_memory_stats(), lambda: accelerator.reset_accumulated_memory_stats(),
        lambda: accelerator.get_memory_info(), lambda: accelerator.get_device_capability(),
        lambda: accelerator.device_index(0).__enter__(), lambda: accelerator.current_device_index(),
    ],
)  # fmt: skip
def test_calls_without_one_are_refused(alone, call):
    with pytest.raises(
        RuntimeError, match="Cannot access accelerator device when none is available"
    ):
        call()


def test_devices_without_an_index():
    ask = _utils._get_device_index
    for given in ("meta", None):
        with pytest.raises(
            ValueError, match=f"with a specified index or an integer, but got:{given}$"
        ):
            ask(given)
    assert _utils._get_device_module("cpu") is torch.cpu


def test_a_device_without_devices(noted, monkeypatch):
    accelerator._row().runtime.device_count = lambda: 0
    assert str(accelerator.current_accelerator()) == "meta"
    assert accelerator.current_accelerator(check_available=True) is None
    assert not accelerator.is_available()
