"""The backend that a device has by default, however the device is given: PyTorch's."""

import pytest

import mindtorch_core as torch
import mindtorch_core.distributed as dist

pt = pytest.importorskip("torch")

DEVICES = {
    "type": lambda lib: "cpu",
    "place": lambda lib: "cpu:0",
    "device": lambda lib: lib.device("cpu"),
    "device with a place": lambda lib: lib.device("cpu", 0),
}


@pytest.mark.parametrize("device", DEVICES.values(), ids=DEVICES)
def test_the_backend_of_a_device(device):
    wanted = pt.distributed.get_default_backend_for_device(device(pt))
    assert dist.get_default_backend_for_device(device(torch)) == wanted


def test_a_device_without_a_backend_is_refused():
    with pytest.raises(ValueError, match="nothing"):
        dist.get_default_backend_for_device("nothing:1")
