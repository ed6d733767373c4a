"""copy, deepcopy and pickle: what they keep of a tensor and what they share."""

import copy
import pickle

import pytest

import mindtorch_core as torch
from mindtorch_core.values.dtypes import DTYPES

NAMES = list(DTYPES)
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def pickled(value, protocol=pickle.DEFAULT_PROTOCOL):
    return pickle.loads(pickle.dumps(value, protocol))


COPIES = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": pickled}


def layout(t):
    return t.shape, t.stride(), t.storage_offset(), t.dtype, t.device, t.requires_grad


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("name", NAMES)
def test_layout_and_values_are_kept(name, make):
    whole = torch.arange(24).to(getattr(torch, name)).reshape(2, 3, 4)
    for t in (whole, whole.transpose(0, 2), whole[1:, ::2], whole[1, 2, 3], whole[:, :0]):
        made = make(t)
        assert layout(made) == layout(t)
        assert made.tolist() == t.tolist()
        assert made.is_leaf


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_of_pickle(protocol):
    t = torch.arange(6.0).reshape(2, 3).t().requires_grad_()
    made = pickled([t, t], protocol)
    assert made[0] is made[1]
    assert layout(made[0]) == layout(t)


@pytest.mark.parametrize("make", [copy.deepcopy, pickled], ids=["deepcopy", "pickle"])
def test_tensors_that_share_memory_still_do(make):
    base = torch.arange(12.0).reshape(3, 4)
    first, second, bits, again = make([base, base.t()[1:], base.view(torch.int32), base])
    assert first is again
    assert first.untyped_storage() is second.untyped_storage() is bits.untyped_storage()
    first.fill_(7)
    assert second.tolist() == [[7.0] * 3] * 3
    assert bits[0, 0].item() != 0
    assert base[0].tolist() == [0, 1, 2, 3]


def test_a_deep_copy_of_a_tensor_and_its_data_shares_memory():
    t = torch.zeros(3)
    tied = torch.ones(3)
    tied.data = t.data
    whole, data, other = copy.deepcopy([t, t.data, tied])
    whole.add_(1)
    assert (data.tolist(), other.tolist(), t.tolist()) == ([1] * 3, [1] * 3, [0] * 3)


def test_a_copy_shares_memory_and_a_deep_copy_does_not():
    t = torch.zeros(3)
    copy.copy(t).fill_(1)
    copy.deepcopy(t).fill_(2)
    pickled(t).fill_(3)
    assert t.tolist() == [1, 1, 1]


def test_an_expanded_tensor_stays_small():
    t = torch.ones(1).expand(1000, 1000)
    assert len(pickle.dumps(t)) < 1000
    assert copy.deepcopy(t).stride() == (0, 0)


def test_gradients_and_attributes():
    t = torch.ones(2, requires_grad=True)
    (t * 3).sum().backward()
    t.note = ["kept"]
    deep = copy.deepcopy(t)
    assert deep.grad.tolist() == [3, 3]
    assert deep.grad is not t.grad
    assert deep.note == ["kept"]
    assert deep.note is not t.note
    assert copy.copy(t).note is t.note
    assert copy.copy(t).grad is None
    assert pickled(t).note == ["kept"]
    assert pickled(t).grad is None


def test_results_of_ops():
    result = torch.ones(2, requires_grad=True) * 2
    for make in (copy.copy, pickled):
        made = make(result)
        assert made.is_leaf
        assert made.requires_grad
    with pytest.raises(RuntimeError, match="created explicitly by the user"):
        copy.deepcopy(result)
    assert copy.deepcopy(result.detach()).tolist() == [2, 2]


def test_a_tensor_that_refers_to_itself():
    t = torch.ones(1)
    t.me = t
    for make in (copy.deepcopy, pickled):
        made = make(t)
        assert made.me is made


def test_meta_tensors_have_no_data_to_copy():
    t = torch.empty(2, 3, device="meta").t()
    for make in COPIES.values():
        made = make(t)
        assert (made.shape, made.stride(), made.device.type) == ((3, 2), (1, 3), "meta")


def test_inference_tensors_become_normal_ones():
    with torch.inference_mode():
        t = torch.ones(2)
        assert copy.deepcopy(t).is_inference()
    for make in COPIES.values():
        assert not make(t).is_inference()


class Marked(torch.Tensor):
    """A subclass with a method."""

    def doubled(self):
        return self * 2


def test_subclasses():
    t = torch.ones(2).as_subclass(Marked)
    t.note = 1
    assert repr(t) == "Marked([1., 1.])"
    assert t.doubled().tolist() == [2, 2]
    for make in COPIES.values():
        made = make(t)
        assert type(made) is Marked
        assert made.note == 1
        assert made.tolist() == [1, 1]
    with pytest.raises(TypeError, match="subclass of Tensor"):
        torch.ones(1).as_subclass(int)


def test_subclass_views_are_differentiable():
    leaf = torch.ones(2, requires_grad=True)
    leaf.as_subclass(Marked).doubled().sum().backward()
    assert leaf.grad.tolist() == [2, 2]


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_what_describes_tensors(make):
    for value in (torch.float32, torch.bool, torch.device("cpu"), torch.device("cuda:1")):
        assert make(value) is value
    size = make(torch.Size([2, 3]))
    assert size == (2, 3)
    assert type(size) is torch.Size


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_generators_go_on_from_the_same_position(make):
    g = torch.Generator().manual_seed(3)
    torch.rand(5, generator=g)
    other = make(g)
    assert other is not g
    assert other.initial_seed() == 3
    assert torch.rand(4, generator=g).tolist() == torch.rand(4, generator=other).tolist()


def test_recorded_work_is_launched_first():
    with torch.pipeline():
        t = torch.ones(3) * 2
        whole, view = copy.deepcopy([t, t[1:]])
        assert pickled(t).tolist() == [2, 2, 2]
    whole.fill_(5)
    assert view.tolist() == [5, 5]
    assert t.tolist() == [2, 2, 2]


def test_storages():
    storage = torch.tensor([1, 2], dtype=torch.int16).untyped_storage()
    assert (len(storage), storage.size(), storage.tolist()) == (4, 4, [1, 0, 2, 0])
    assert bytes(storage) == b"\x01\0\x02\0"
    assert (storage[0], storage[-2]) == (1, 2)
    for make in (copy.deepcopy, pickled):
        made = make(storage)
        assert made is not storage
        assert bytes(made) == bytes(storage)
