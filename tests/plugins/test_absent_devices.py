"""Types of devices that PyTorch knows and no installed backend serves: programs may ask for them."""

import pytest

import mindtorch_core as torch
from mindtorch_core import plugins
from mindtorch_core.plugins import loader

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
    assert module.OutOfMemoryError is torch.OutOfMemoryError
    with pytest.raises(AttributeError) as caught:
        module.nonesuch
    said = str(caught.value)
    assert f"module 'torch.{type}' has no attribute 'nonesuch': mindtorch lacks it" in said
    assert "mindtorch's list of issues" in said
    assert f"No installed backend provides the device '{type}'" in said


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


def test_errors_of_cuda():
    cuda = torch.cuda
    assert cuda.AcceleratorError is torch.AcceleratorError
    assert issubclass(cuda.CudaError, RuntimeError)
    assert issubclass(cuda.DeferredCudaCallError, Exception)
    assert cuda.OutOfMemoryError is torch.OutOfMemoryError


@pytest.mark.parametrize(
    "name",
    ["current_solver_handle", "make_graphed_callables", "Event", "FloatStorage", "_lazy_init"],
)
def test_what_needs_cuda_is_refused(name):
    for kind in (AssertionError, RuntimeError):
        with pytest.raises(kind, match="mindtorch has no CUDA here"):
            getattr(torch.cuda, name)()


def test_answers_of_none():
    assert torch.cuda.has_half is True
    assert torch.cuda.has_magma is False
    assert torch.cuda.get_gencode_flags() == ""
    assert torch.cuda.host_memory_stats() == {}
    assert torch.cuda._is_compiled() is False


@pytest.mark.parametrize("type", ABSENT)
def test_the_only_stream_is_none(type):
    module = getattr(torch, type)
    with module.stream(None):
        module.set_stream(None)
    with pytest.raises(torch.BackendUnavailableError, match=f"provides the device '{type}'"):
        module.set_stream(3)


@pytest.mark.parametrize("type", ["cuda", "mtia", "xpu"])
def test_the_error_is_that_of_pytorch_too(type):
    for kind in (AssertionError, torch.BackendUnavailableError):
        with pytest.raises(kind, match=f"provides the device '{type}'"):
            torch.ones(1).to(f"{type}:0")
        with pytest.raises(kind, match=f"provides the device '{type}'"):
            getattr(torch.ones(1), type)()


def test_a_name_that_no_device_has():
    with pytest.raises(AttributeError, match="module 'mindtorch_core' has no attribute 'nodevice'"):
        torch.nodevice


def test_device_modules():
    assert torch.get_device_module("cpu") is torch.cpu
    assert torch.get_device_module() is torch.cpu
    with torch.device("meta"):
        assert torch.get_device_module() is torch.meta
    assert torch.get_device_module("meta").__name__ == "torch.meta"
    with pytest.raises(torch.BackendUnavailableError, match="provides the device 'cuda'"):
        torch.get_device_module("cuda")


def test_what_was_found_shows_a_backend_that_comes(site, monkeypatch):
    xpu = torch.xpu
    assert vars(torch)["xpu"] is xpu  # found once, as programs ask at every step
    assert not xpu.is_available()
    site.toy("xpu", "XPU")
    with monkeypatch.context() as path:
        path.delenv("MINDTORCH_BACKENDS", raising=False)
        path.syspath_prepend(str(site.folder))
        loader.rediscover()
        assert torch.xpu.is_available()
        assert xpu.is_available()
        plugins.unload("xpu")
    loader.rediscover()
    assert not torch.xpu.is_available()


def test_all_tensors_are_dense():
    x = torch.ones(2)
    names = ("is_mkldnn", "is_nested", "is_quantized", "is_sparse", "is_sparse_csr")
    assert [getattr(x, name) for name in names] == [False] * 5


def test_cpu_takes_a_memory_format():
    x = torch.ones(1, 2, 3, 3)
    assert x.cpu() is x
    assert x.cpu(memory_format=torch.preserve_format) is x
    assert x.cpu(torch.channels_last).is_contiguous(memory_format=torch.channels_last)
