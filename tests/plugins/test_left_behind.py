"""In one process: what a third party's device gives programs, and what is left when it is unloaded."""

import contextlib
import functools
import importlib

import pytest

import mindtorch_core as torch
from mindtorch_core import plugins
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.plugins import loader
from mindtorch_core.values.devices import TABLE, is_retired, row_of
from mindtorch_core.values.errors import BackendUnavailableError, NoKernelError

GONE = r"this was made on left:1, whose backend was unloaded: make it anew, also the torch\.device"


@contextlib.contextmanager
def loaded(site, monkeypatch, name):
    """The toy backend as a device of that name, until the block ends or it is unloaded in it."""
    site.toy(name)
    with monkeypatch.context() as path:
        path.delenv("MINDTORCH_BACKENDS", raising=False)
        path.syspath_prepend(str(site.folder))
        loader.rediscover()
        plugins.load(name)
        try:
            yield functools.partial(plugins.unload, name)
        finally:
            with contextlib.suppress(KeyError):
                plugins.unload(name)
    loader.rediscover()


@pytest.fixture
def left(site, monkeypatch):
    """A tensor on ``left:1`` and its storage, whose backend was unloaded."""
    with loaded(site, monkeypatch, "left") as unload:
        a = torch.ones(2, device="left:1")
        held = a, a.untyped_storage()
        unload()
        yield held


def test_it_is_shown_by_its_place(left):
    a, storage = left
    assert repr(a) == str(a) == "<tensor on left:1, whose backend was unloaded>"
    assert repr(storage) == "<Storage on left:1, whose backend was unloaded>"


@pytest.mark.parametrize(
    "use",
    [
        lambda a, _: a + 1,
        lambda a, _: torch.relu(a),
        lambda a, _: a.tolist(),
        lambda a, _: a[0],
        lambda a, _: a.cpu(),
        lambda a, _: torch.ones(2, device=a.device),
        lambda a, _: torch.empty_like(a),
        lambda a, _: row_of(a.device.type),
        lambda a, _: TABLE[a.device.type],
        lambda _, s: bytes(s),
        lambda _, s: s.clone(),
    ],
)
def test_every_use_says_what_became_of_it(left, use):
    with pytest.raises(BackendUnavailableError, match=GONE):
        use(*left)


def test_its_device_is_none_of_that_name(left):
    a, _ = left
    type = a.device.type
    assert is_retired(a.device)
    assert (str(type), type == "left", type != "left", type == type) == ("left", False, True, True)
    assert len({type, "left"}) == 2


def test_unloading_what_is_not_loaded(left):
    for name in ("left", "never"):
        with pytest.raises(KeyError, match=f"no backend '{name}' is loaded"):
            plugins.unload(name)


def test_another_backend_of_that_name_has_nothing_of_it(left, site, monkeypatch):
    a, _ = left
    plugins.load("left")
    b = torch.ones(2, device="left:1")
    assert (b + b).tolist() == [2, 2]
    assert b.device != a.device
    with pytest.raises(BackendUnavailableError, match=GONE):
        b.add_(a)
    with pytest.raises(BackendUnavailableError, match=GONE):
        torch.cat([b, a])


# ---- while it is there --------------------------------------------------------------------------


@pytest.fixture
def methods(toy):
    """``tensor.toy()``, as a backend's hook asks for it."""
    from mindtorch_core.frontend.device_methods import tensor_methods

    with registry.scope():
        tensor_methods("toy")
        yield tensor_methods
    assert not hasattr(torch.Tensor, "toy")
    assert not hasattr(torch.Tensor, "is_toy")


def test_tensors_get_methods_of_the_device(methods):
    a = torch.ones(2)
    there = a.toy()
    assert (str(there.device), there.is_toy, a.is_toy) == ("toy:0", True, False)
    assert [str(a.toy(where).device) for where in (1, "toy:1")] == ["toy:1", "toy:1"]
    with pytest.raises(RuntimeError, match=r"^Invalid device, must be toy device, got cpu$"):
        a.toy("cpu")
    with pytest.raises(
        RuntimeError, match=r"^Tensor\.toy is something else already: the device has no"
    ):
        methods("toy")
    assert a.toy().tolist() == [1, 1]


def test_storages_know_the_number_of_their_device(toy):
    storage = torch.ones(2, device="toy:1").untyped_storage()
    assert storage.get_device() == 1
    assert torch.ones(2, device="toy").untyped_storage().get_device() == 0
    assert (storage.new().device, len(storage.new())) == (torch.device("toy:1"), 0)
    with pytest.raises(
        NotImplementedError, match="a part of a storage on toy:1 cannot be a storage"
    ):
        storage[1:2]
    with pytest.raises(RuntimeError):
        storage.share_memory_()


def test_the_module_of_the_device_names_it(toy):
    assert repr(torch.toy) == "<device functions of toy>"
    with pytest.raises(ValueError, match=r"^expected a toy device, got cpu$"):
        torch.toy.set_device("cpu")


class Source:
    """Random numbers that know their seed alone."""

    def __init__(self, on):
        self.seed = 0

    def manual_seed(self, seed):
        self.seed = seed

    def initial_seed(self):
        return self.seed

    def get_state(self):
        return self.seed.to_bytes(8, "little")

    def set_state(self, state):
        self.seed = int.from_bytes(state, "little")


def test_random_states_of_devices_go_back(toy, monkeypatch):
    from mindtorch_core.utils.checkpoint import get_device_states, set_device_states

    monkeypatch.setattr(toy.ToyRuntime, "generator", lambda self, on: Source(on), raising=False)
    a, b = torch.ones(2, device="toy:0"), torch.ones(2, device="toy:1")
    numbers, states = get_device_states(a, {"b": [b]}, torch.ones(2))
    assert numbers == [0, 1]
    given = [torch.tensor([n, *[0] * 7], dtype=torch.uint8) for n in (3, 4)]
    set_device_states(numbers, given, device_type="toy")
    assert [s.tolist() for s in get_device_states(a, b)[1]] == [g.tolist() for g in given]
    set_device_states(numbers[1:], states[1:], device_type="toy")
    assert [s.tolist() for s in get_device_states(b, a)[1]] == [
        states[1].tolist(),
        given[0].tolist(),
    ]
    with pytest.raises(ValueError, match="shorter"):
        set_device_states(numbers, given[:1], device_type="toy")
    set_device_states(numbers, given, device_type="meta")  # which draws nothing


# ---- ops that are left to the CPU ---------------------------------------------------------------


@pytest.fixture
def fallback(toy):
    with registry.scope():
        registry.register_fallback(TABLE["toy"].key, torch.library.cpu_fallback)
        yield


def test_an_op_of_the_cpu(fallback):
    a = torch.tensor([[2.0, 1.0], [1.0, 3.0]]).to("toy:1")
    found = torch.linalg.eigvalsh(a)
    assert str(found.device) == "toy:1"
    assert found.cpu().tolist() == pytest.approx(torch.linalg.eigvalsh(a.cpu()).tolist())


def test_a_view_is_not_left_to_the_cpu():
    with pytest.raises(
        NotImplementedError, match="aten::view returns a view of its argument, so it ca"
    ):
        torch.library.cpu_fallback("aten::view", torch.ones(2), [2])


def test_random_numbers_need_a_kernel_of_the_device(fallback):
    with pytest.raises(NoKernelError, match="the fallback itself needs 'aten::random_"):
        torch.ones(3, device="toy").random_()


def test_a_device_without_numbers_of_its_own(toy):
    assert importlib.import_module("mindtorch_toy.plugin") is toy
    with pytest.raises(NotImplementedError, match="toy"):
        torch.linalg.eigvalsh(torch.ones(2, 2, device="toy"))
