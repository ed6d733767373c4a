"""Page-locked memory of the host: ``t.pin_memory()``."""

import gc

import pytest

import mindtorch_core as torch


@pytest.mark.usefixtures("npu")
def test_tensors_are_pinned_through_the_driver():
    t = torch.arange(6.0).reshape(2, 3)
    pinned = t.t().pin_memory("npu")
    assert (t.is_pinned(), pinned.is_pinned(), pinned.is_pinned("npu")) == (False, True, True)
    assert pinned.device.type == "cpu"
    assert pinned.tolist() == t.t().tolist()
    assert pinned.pin_memory("npu") is pinned
    assert pinned[1:].is_pinned()
    pinned[0, 0] = 50
    assert t[0, 0].item() == 0
    assert pinned.to("npu").cpu().tolist() == pinned.tolist()
    storage = t.untyped_storage().pin_memory("npu")
    assert storage.is_pinned()
    assert storage.tolist() == t.untyped_storage().tolist()
    with pytest.raises(RuntimeError, match="not resizable"):
        pinned.untyped_storage().resize_(4)
    assert torch.empty(0).pin_memory("npu").shape == (0,)


def test_pinned_memory_is_given_back(npu, simulator):
    torch.ones(2, device="npu")  # so that the driver has started
    before = simulator.live()
    part = torch.ones(100_000).pin_memory("npu")[5:]
    gc.collect()
    assert part.sum().item() == 99_995
    assert simulator.live() != before
    del part
    gc.collect()
    assert simulator.live() == before


def test_only_host_memory_is_pinned(npu):
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        torch.ones(2, device="npu").pin_memory()


def test_a_backend_without_page_locked_memory_says_so(npu):
    pytest.importorskip("mindtorch_meta")
    with pytest.raises(RuntimeError, match="supplies no page-locked memory"):
        torch.ones(2).pin_memory("meta")
