"""Page-locked memory where no accelerator is there, and from a backend that supplies some."""

import pytest

import mindtorch_core as torch
from mindtorch_core.values import devices

CALLS = {
    "tensor": lambda lib: lib.ones(2).pin_memory(),
    "storage": lambda lib: lib.ones(2).untyped_storage().pin_memory(),
    "typed storage": lambda lib: lib.ones(2)._typed_storage().pin_memory(),
    "factory": lambda lib: lib.ones(2, pin_memory=True),
    "from data": lambda lib: lib.tensor([1.0, 2.0], pin_memory=True),
}


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_without_an_accelerator(call, monkeypatch):
    torch.ones(1)  # so that the CPU's row is there
    here = {k: devices.TABLE[k] for k in ("cpu", "meta") if k in devices.TABLE}
    monkeypatch.setattr(devices, "TABLE", type(devices.TABLE)(here))
    with pytest.raises(RuntimeError, match=r"accelerator"):
        call(torch)
    pt = pytest.importorskip("torch")
    if not pt.accelerator.is_available():
        with pytest.raises(RuntimeError, match=r"accelerator"):
            call(pt)


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("name", sorted(CALLS.keys() - {"factory"}))
def test_where_the_host_is_chosen_as_the_accelerator(name, monkeypatch):
    monkeypatch.setenv("MINDTORCH_ACCELERATOR", "cpu")
    CALLS[name](torch)
    assert torch.device(0) == torch.device("cpu:0")


def test_a_loader_locks_nothing_where_the_host_is_chosen(monkeypatch):
    monkeypatch.setenv("MINDTORCH_ACCELERATOR", "cpu")
    loader = torch.utils.data.DataLoader([1, 2], pin_memory=True)
    with pytest.warns(UserWarning, match="no accelerator is found"):
        assert [batch.item() for batch in loader] == [1, 2]


def test_what_is_not_pinned():
    t = torch.ones(2)
    assert (t.is_pinned(), t.is_pinned("cpu"), t.untyped_storage().is_pinned()) == (False,) * 3
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        torch.empty(2, device="meta").pin_memory()
    with pytest.raises(RuntimeError, match="the cpu backend supplies no page-locked memory"):
        t.pin_memory("cpu")


def test_memory_that_a_backend_supplies(monkeypatch):
    runtime = devices.row_of("meta").runtime
    asked = []

    def lent(nbytes):
        asked.append(nbytes)
        return memoryview(bytearray(nbytes))

    monkeypatch.setattr(runtime, "pinned", lent)
    t = torch.arange(6.0).reshape(2, 3).requires_grad_()
    pinned = t.pin_memory("meta")
    assert asked == [24]
    assert (pinned.tolist(), pinned.device.type) == (t.tolist(), "cpu")
    assert pinned.is_pinned("meta")
    assert not pinned.is_pinned("cpu")
    assert pinned.pin_memory("meta") is pinned
    assert pinned[1].is_pinned()
    assert not t.is_pinned()
    assert asked == [24]
