"""``with torch.device(...)`` and `set_default_device`: of one thread, nested, given back, and as in PyTorch."""

import threading
import warnings

import pytest

import mindtorch_core as torch

# Calls that make a tensor somewhere; those with a place of their own stay there.
FACTORIES = """
l.ones(2)
l.zeros(2, 3)
l.empty(2)
l.full((2,), 1.5)
l.rand(2)
l.randn(2)
l.randint(3, (2,))
l.randperm(3)
l.arange(3)
l.linspace(0, 1, 3)
l.logspace(0, 1, 3)
l.eye(2)
l.tensor([1.0])
l.tensor(x)
l.as_tensor([1.0])
l.as_tensor(x)
l.asarray([1.0])
l.asarray(x)
l.scalar_tensor(1.0)
l.tril_indices(2, 2)
l.empty_strided((2,), (1,))
l.hann_window(3)
l.fft.fftfreq(4)
l.ones(2, device="cpu")
l.ones(2, device=None)
l.zeros_like(x)
l.rand_like(x)
x.new_ones(2)
x.new_tensor([1.0])
x * 2
l.from_numpy(x.numpy())
""".strip().splitlines()


def places(lib):
    scope = {"l": lib, "x": lib.ones(2, device="cpu")}
    return {call: eval(call, scope).device.type for call in FACTORIES}


def in_thread(call):
    """What a call returns in a thread of its own."""
    found = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    return found[0]


@pytest.fixture(autouse=True)
def _given_back():
    yield
    assert torch.get_default_device() == torch.device("cpu")


def test_the_block_gives_the_device():
    d = torch.device("meta")
    with d as given:
        assert given is d
        assert isinstance(given, torch.device)
        assert torch.get_default_device() == d
        assert torch.ones(1).device == given
    with torch.device("cpu", 0) as given:
        assert (given.type, given.index) == ("cpu", 0)


@pytest.mark.parametrize("name", ["meta", "cpu"])
def test_factories_as_in_pytorch(name):
    pt = pytest.importorskip("torch")
    # Both warn of `tensor` of a tensor.
    with torch.device(name), warnings.catch_warnings(action="ignore"):
        found = places(torch)
    with pt.device(name), warnings.catch_warnings(action="ignore"):
        expected = places(pt)
    assert found == expected
    assert {"meta", "cpu"} >= set(found.values()) != ({"cpu"} if name == "meta" else {"meta"})


def test_blocks_nest():
    meta, cpu = torch.device("meta"), torch.device("cpu")
    with meta, cpu:
        assert torch.ones(1).device == cpu
        with meta, meta:
            assert torch.ones(1).device == meta
        assert torch.ones(1).device == cpu
    assert torch.ones(1).device == cpu
    with meta:
        with cpu:
            pass
        assert torch.ones(1).device == meta


def test_a_block_that_raises_gives_the_device_back():
    with pytest.raises(ZeroDivisionError), torch.device("meta"), torch.device("cpu"):
        raise ZeroDivisionError
    assert torch.ones(1).device.type == "cpu"
    with pytest.raises(torch.BackendUnavailableError), torch.device("cuda"):
        pass
    assert torch.ones(1).device.type == "cpu"


@pytest.mark.parametrize("libs", ["mindtorch", "torch"])
def test_other_threads_have_their_own(libs):
    lib = torch if libs == "mindtorch" else pytest.importorskip("torch")
    with lib.device("meta"):
        assert in_thread(lambda: lib.ones(1).device.type) == "cpu"
        assert in_thread(lambda: lib.get_default_device().type) == "cpu"
    try:
        lib.set_default_device("meta")
        assert lib.ones(1).device.type == "meta"
        assert in_thread(lambda: lib.ones(1).device.type) == "cpu"
    finally:
        lib.set_default_device(None)
    in_thread(lambda: lib.set_default_device("meta"))
    assert lib.ones(1).device.type == "cpu"


def test_blocks_of_threads_do_not_mix():
    """Two threads enter and leave blocks of one device in turns: neither gets what the other had."""
    meta, turns = torch.device("meta"), [threading.Event() for _ in range(3)]

    def other():
        with torch.device("cpu"), meta:
            turns[0].set()
            assert turns[1].wait(60)
        seen = torch.ones(1).device.type
        turns[2].set()
        return seen

    found = []
    thread = threading.Thread(target=lambda: found.append(other()))
    thread.start()
    assert turns[0].wait(60)
    with meta:
        turns[1].set()
        assert turns[2].wait(60)
        assert torch.ones(1).device.type == "meta"
    assert torch.ones(1).device.type == "cpu"
    thread.join()
    assert found == ["cpu"]


def test_a_block_in_a_pipeline():
    with torch.pipeline():
        with torch.device("meta"):
            shape_only = torch.ones(2) + 1
        made = torch.ones(2) + 1
    assert shape_only.is_meta
    assert made.tolist() == [2, 2]


def test_setting_it():
    torch.set_default_device("meta")
    try:
        assert torch.ones(1).is_meta
        with torch.device("cpu"):
            assert torch.ones(1).tolist() == [1]
        assert torch.tensor([1.0]).is_meta
    finally:
        torch.set_default_device(None)
