"""Copies and files of tensors that lie on a third party's device."""

import copy
import io
import pickle

import pytest

import mindtorch_core as torch
from mindtorch_core.serialization import safetensors

pytest.importorskip("numpy")


def example():
    whole = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device="toy:1")
    return whole, whole.t()[1:]


@pytest.mark.parametrize("make", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_copies_stay_on_the_device(toy, make):
    whole, part = make(example())
    assert str(whole.device) == "toy:1"
    assert (part.stride(), part.storage_offset()) == ((1, 3), 1)
    assert part.tolist() == [[2, 5], [3, 6]]
    whole.fill_(7)
    assert part.tolist() == [[7, 7], [7, 7]]
    assert example()[0].tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    ("where", "device"),
    [
        (None, "toy:1"),
        ("cpu", "cpu"),
        ({"toy:1": "toy:0"}, "toy:0"),
        (lambda storage, location: storage if location == "toy:1" else None, "cpu"),
    ],
)
def test_files_remember_the_device(toy, where, device):
    file = io.BytesIO()
    torch.save(example(), file)
    file.seek(0)
    whole, part = torch.load(file, where)
    assert str(whole.device) == str(part.device) == device
    assert whole.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert part.tolist() == [[2, 5], [3, 6]]
    assert part.untyped_storage() is whole.untyped_storage()


def test_tensors_of_the_host_can_go_there(toy):
    file = io.BytesIO()
    torch.save(torch.ones(2), file)
    file.seek(0)
    assert torch.load(file, "toy").relu().tolist() == [1, 1]
    raw = safetensors.save({"a": example()[1]})
    assert safetensors.load(raw, "toy:1")["a"].tolist() == [[2, 5], [3, 6]]


def test_memory_that_others_cannot_read(toy):
    whole, _ = example()
    with pytest.raises(BufferError, match="Cannot pack tensors on toy:1"):
        whole.__dlpack__()
    with pytest.raises(TypeError, match="can't convert toy:1 device type tensor to numpy"):
        whole.numpy()
    assert bytes(whole.untyped_storage())[:4] == b"\0\0\x80?"
    assert whole.get_device() == 1
