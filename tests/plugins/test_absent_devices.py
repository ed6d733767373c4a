"""Types of devices that PyTorch knows and no installed backend serves: programs may ask for them."""

import pytest

import mindtorch_core as torch

ABSENT = ["cuda", "hpu", "mtia", "xpu"]


@pytest.mark.parametrize("type", [*ABSENT, "mps"])
def test_there_is_none(type):
    module = getattr(torch, type)
    assert module.is_available() is False
    assert module.device_count() == 0
    module.manual_seed(1)
    module.manual_seed_all(1)
    module.empty_cache()
    assert repr(module) == f"<device functions of {type}, which no installed backend provides>"
    with pytest.raises(AttributeError, match=f"torch.{type} has no attribute 'nonesuch', because"):
        module.nonesuch


@pytest.mark.parametrize("type", ABSENT)
def test_tensors_do_not_go_there(type):
    x = torch.ones(2)
    assert getattr(x, f"is_{type}") is False
    with pytest.raises(torch.BackendUnavailableError, match=f"provides the device '{type}'"):
        getattr(x, type)()
    with pytest.raises(torch.BackendUnavailableError, match=f"provides the device '{type}'"):
        getattr(x, type)(1, non_blocking=True)
    with pytest.raises(RuntimeError, match=f"Invalid device, must be {type} device, got cpu"):
        getattr(x, type)("cpu")


def test_a_name_that_no_device_has():
    with pytest.raises(AttributeError, match="module 'mindtorch_core' has no attribute 'nodevice'"):
        torch.nodevice


def test_device_modules():
    assert torch.get_device_module("cpu") is torch.cpu
    assert torch.get_device_module() is torch.cpu
    with torch.device("meta"):
        assert torch.get_device_module() is torch.meta
    with pytest.raises(torch.BackendUnavailableError, match="provides the device 'cuda'"):
        torch.get_device_module("cuda")


def test_all_tensors_are_dense():
    x = torch.ones(2)
    names = ("is_mkldnn", "is_nested", "is_quantized", "is_sparse", "is_sparse_csr")
    assert [getattr(x, name) for name in names] == [False] * 5


def test_cpu_takes_a_memory_format():
    x = torch.ones(1, 2, 3, 3)
    assert x.cpu() is x
    assert x.cpu(memory_format=torch.preserve_format) is x
    assert x.cpu(torch.channels_last).is_contiguous(memory_format=torch.channels_last)
