"""Storages counted in elements: what they say of themselves, conversions, refusals; as in PyTorch."""

import copy
import re
import sys

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")


def typed(lib, *values):
    return lib.TypedStorage(list(values or (1, 2, 3)), dtype=lib.int32)


def untyped(lib):
    return lib.UntypedStorage([1, 2, 3])


ATTRIBUTES = {
    "what it is": lambda s: (
        s.element_size(), s.get_device(), s.filename, s.is_sparse, s.is_cuda, s.is_hpu, s.type(),
    ),
    "whose memory it is": lambda s: (s.resizable(), s.is_shared(), s.is_pinned()),
    "elements in turn": lambda s: [*s],
    "longer": lambda s: (s.resize_(5), len(s), s.tolist()[:3], s.nbytes()),
    "shorter": lambda s: (s.resize_(1), s.tolist(), s.nbytes()),
    "a part written": lambda s: (s.__setitem__(slice(1, None), 7), s.tolist()),
    "the same memory on the CPU": lambda s: (
        s.cpu() is s, s.to(device="cpu") is s, s.cpu().data_ptr() == s.data_ptr(),
    ),
    "shared": lambda s: (s.share_memory_() is s, s.is_shared(), s.tolist()),
}  # fmt: skip


@pytest.mark.parametrize("what", ATTRIBUTES)
def test_attributes(what):
    assert ATTRIBUTES[what](typed(torch)) == ATTRIBUTES[what](typed(pt))


def test_equal_is_only_the_same_memory():
    for lib in (torch, pt):
        s = typed(lib)
        others = [3, lib.TypedStorage([1, 2, 3], dtype=lib.int64), typed(lib), s]
        assert [s == other for other in others] == [False, False, False, True]
        assert hash(s) == hash(s)


@pytest.mark.parametrize("name", ["int", "float", "double", "complex_float", "bool"])
def test_conversions_are_copies_whatever_the_dtype(name):
    for lib in (torch, pt):
        s = typed(lib)
        made = getattr(s, name)()
        made[0] = 9
        assert s.tolist() == [1, 2, 3]
        assert made.tolist()[1:] == ([True, True] if name == "bool" else [2, 3])


@pytest.mark.parametrize(
    "kind", ["torch.FloatStorage", "FloatStorage", torch.FloatStorage, torch.float32]
)
def test_another_class(kind):
    """PyTorch's method does not work in 2.13; by its documentation the elements stay what they are."""
    found = typed(torch).type(kind)
    assert found.dtype is torch.float32
    assert found.tolist() == [1.0, 2.0, 3.0]
    assert untyped(torch).type(kind).tolist() == [1.0, 2.0, 3.0]


def test_a_class_that_there_is_not():
    with pytest.raises(RuntimeError, match=r"^there is no class of storages 'torch\.Nope'$"):
        typed(torch).type("torch.Nope")


REFUSED = {
    "an element by name": lambda lib: typed(lib)["a"],
    "an element by name, written": lambda lib: typed(lib).__setitem__("a", 3),
    "an element too far": lambda lib: typed(lib).__setitem__(5, 1),
    "of a number with a fraction": lambda lib: lib.TypedStorage(3.5),
    "of nothing": lambda lib: lib.TypedStorage(None),
    "bytes of a number with a fraction": lambda lib: lib.UntypedStorage(3.5),
    "bytes of nothing": lambda lib: lib.UntypedStorage(None),
    "bytes of a text": lambda lib: lib.UntypedStorage([1, "a"]),
    "a file that is not there": lambda lib: lib.from_file("/there/is/none", size=3),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refusals_by_type_and_words(what):
    with pytest.raises(Exception) as theirs:  # noqa: PT011 (whatever PyTorch raises)
        REFUSED[what](pt)
    with pytest.raises(type(theirs.value)) as ours:
        REFUSED[what](torch)
    words = re.sub(r"<class '[^']*\.TypedStorage'>", "<class>", str(theirs.value))
    told = re.sub(r"<class '[^']*\.TypedStorage'>", "<class>", str(ours.value))
    assert told.split("\n")[-1] == words.split("\n")[-1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"device": "meta", "size": 3},
            "a tensor whose memory is a file is on the CPU, not on meta",
        ),
        ({"size": -3}, "from_file: the number of elements is negative: -3"),
    ],
)
def test_tensors_of_files_that_cannot_be(tmp_path, options, words):
    path = tmp_path / "numbers"
    path.write_bytes(bytes(12))
    with pytest.raises(RuntimeError, match=f"^{words}$"):
        torch.from_file(str(path), **options)


def test_bytes_by_themselves():
    for lib in (torch, pt):
        u = untyped(lib)
        assert u.untyped() is u
        assert u.get_device() is None
        assert u.type() == "torch.storage.UntypedStorage"
        assert (len(u.new()), str(u.new().device)) == (0, "cpu")
        other = copy.copy(u)
        other.fill_(9)
        assert (u.tolist(), other.tolist()) == ([1, 2, 3], [9, 9, 9])
        assert u.share_memory_() is u
        assert u.is_shared()
        more = sys.getsizeof(lib.UntypedStorage(1003)) - sys.getsizeof(lib.UntypedStorage(3))
        assert more == 1000
        kinds = lib.UntypedStorage, type(u), int
        assert [issubclass(k, lib.UntypedStorage) for k in kinds] == [True, True, False]


def test_a_part_of_memory_that_the_host_does_not_reach():
    with pytest.raises(NotImplementedError, match="slice a tensor over it"):
        torch.UntypedStorage(4, device="meta")[1:2]
    with pytest.raises(NotImplementedError):
        pt.UntypedStorage(4, device="meta")[1:2]


def test_moved_by_the_name_of_a_device():
    npu = pytest.importorskip("mindtorch_npu")
    if not npu.is_available():
        pytest.skip("there is no NPU")
    for s in (typed(torch), untyped(torch)):
        there = s.npu()
        assert there.device == torch.device("npu:0")
        assert there.get_device() == 0
        assert s.npu("npu:0").tolist() == there.cpu().tolist() == [1, 2, 3]
    assert typed(torch).npu().is_npu
    assert not typed(torch).is_npu
