"""Types of devices that PyTorch knows and no installed backend serves: programs may ask for them."""

import builtins
from types import SimpleNamespace

import pytest

import mindtorch_core as torch
from mindtorch_core import plugins
from mindtorch_core.plugins import absence, absent_device, loader
from mindtorch_core.plugins.device_module import DeviceModule

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


@pytest.mark.parametrize("type", ["cuda", "xpu"])
def test_every_name_has_an_answer_of_its_kind(type):
    module = getattr(torch, type)
    for name in absent_device._FALSE:
        assert getattr(module, name)(1, x=2) is False, name
    for name in absent_device._ZERO:
        found = [getattr(module, name)(), getattr(module, name)("cuda:0")]
        assert all(each == 0 and each is not False for each in found), name
    for name in absent_device._RAISING:
        with pytest.raises((RuntimeError, AssertionError)):
            getattr(module, name)(1, x=2)
    for name, value in absent_device._VALUES.items():
        assert getattr(module, name) is value
    for name in absent_device._CLASSES:
        assert isinstance(getattr(module, name), builtins.type), name
    assert module.get_rng_state_all() == module.get_arch_list() == []
    module.set_rng_state_all(iter([]))
    with pytest.raises((RuntimeError, AssertionError)):
        module.set_rng_state_all([torch.zeros(16, dtype=torch.uint8)])


@pytest.mark.parametrize(
    ("states", "advice"),
    [
        ({}, "use device='cpu': no backend of an accelerator is installed"),
        ({"cpu": "loaded", "meta": "available"}, "use device='cpu': no backend of an accelerator is installed"),
        ({"npu": "failed", "acme": "disabled"}, "use device='cpu': no backend of an accelerator is installed"),
        ({"npu": "loaded", "cpu": "loaded"}, "use the accelerator that is installed: device='npu'"),
        ({"zed": "available", "acme": "loading", "npu": "failed"},
         "use the accelerator that is installed: device='acme' or device='zed'"),
    ],
)  # fmt: skip
def test_advice_names_the_accelerators_that_could_be_used(states, advice):
    found = {name: SimpleNamespace(state=state, device="") for name, state in states.items()}
    assert absence._other_devices(found) == advice


def test_advice_names_a_backend_by_its_device():
    found = {"of-acme": SimpleNamespace(state="loaded", device="acme")}
    assert absence._other_devices(found) == "use the accelerator that is installed: device='acme'"


class Recorded:
    """A runtime of three devices, of which the first is current."""

    type = "meta"
    current = 0

    def __init__(self):
        self.chosen = []

    def current_device(self):
        return self.current

    def set_device(self, index):
        self.chosen.append(index)

    def concrete_device(self, device):
        return device


@pytest.mark.parametrize(
    ("obj", "chosen"),
    [(torch.ones(1, device="meta"), [0, 0]), (torch.ones(1), []), (None, []), (3, []),
     (SimpleNamespace(device="meta"), []), (SimpleNamespace(device=torch.device("meta")), [0, 0])],
    ids=["own", "another's", "None", "number", "text", "object"],
)  # fmt: skip
def test_an_objects_device_is_current_in_a_block_if_it_is_one_of_these(obj, chosen):
    runtime = Recorded()
    with DeviceModule(runtime).device_of(obj):
        assert runtime.chosen == chosen[:1]
    assert runtime.chosen == chosen
