"""Classes of tensors make what PyTorch's make: of sizes, of data, and over the memory of what they are given."""

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome

pt = pytest.importorskip("torch")

PROGRAMS = """
    t.Tensor()
    t.Tensor(2, 3)
    t.Tensor(2, 0)
    t.Tensor(t.Size([2, 3]))
    t.Tensor([2, 3])
    t.Tensor((2.5, 3))
    t.Tensor([[1, 2], [3, 4]])
    t.Tensor(size=(2, 1))
    t.Tensor(t.ones(2))
    t.Tensor(t.ones(2), device="cpu")
    t.Tensor(t.ones(2), device="meta")
    t.Tensor(t.ones(2, device="meta"))
    t.Tensor(t.ones(2, dtype=t.int64))
    t.Tensor(t.ones(2).untyped_storage())
    t.Tensor("a")
    t.Tensor(1.5)
    t.Tensor({})
    t.Tensor(b"ab")
    t.Tensor(t.Size([2]), 3)
    t.Tensor(2, size=(2,))
    t.LongTensor([1, 2])
    t.LongTensor([1.7, 2])
    t.LongTensor(2, 3)
    t.LongTensor(t.ones(2, dtype=t.int64))
    t.LongTensor(t.ones(2))
    t.LongTensor(t.ones(2, dtype=t.int64), device="cpu")
    t.LongTensor([1, 2], device="cpu")
    t.LongTensor(device="cpu")
    t.Tensor(2, device="meta")
    t.Tensor(size=(2,), device="meta")
    t.LongTensor([1, 2], device="meta")
    t.ones(2).new(3, device="meta")
    t.ones(2, device="meta").new([3], device="cpu")
    t.ones(2, device="meta").new(3, device="meta")
    t.ByteTensor([1, 255])
    t.BoolTensor([0, 2])
    t.HalfTensor([1.5])
    t.BFloat16Tensor([1.5])
    t.DoubleTensor((1, 2))
    t.ones(2, dtype=t.int16).new([1, 2])
    t.ones(2, dtype=t.int16).new(3, 2)
    t.ones(2, dtype=t.int16).new()
    t.ones(2, dtype=t.int16).new(t.ones(2, dtype=t.int16))
    t.ones(2, dtype=t.int16).new(size=(2, 2))
    t.ones(2, dtype=t.int16).new(t.ones(2))
    t.ones(2).new([1, 2], device="cpu")
    t.ones(2).new(t.ones(2), device="cpu")
    t.ones(2).new(t.ones(2, device="meta"))
    t.ones(2, device="meta").new(2, 3)
    t.ones(2, device="meta").new(t.ones(2, device="meta"))
"""


def made(t, program):
    """What a program makes: its class, dtype, device and shape, and its numbers if it has been given any."""
    it = eval(program, {"t": t})
    given = it.device.type == "cpu" and any(mark in program for mark in ("[", "((", "ones"))
    sizes = "Size" in program or "new(3" in program or "new(size" in program or "new()" in program
    return (
        type(it).__name__,
        str(it.dtype),
        str(it.device),
        tuple(it.shape),
        it.tolist() if given and not sizes else None,
    )


@pytest.mark.parametrize("program", [line.strip() for line in PROGRAMS.split("\n") if line])
def test_what_is_made(program):
    ours, theirs = (outcome(made, t, program) for t in (torch, pt))
    if not isinstance(theirs, Exception):
        assert ours == theirs
        return
    assert isinstance(ours, type(theirs))
    if "is not supported" in str(theirs):
        assert str(ours) == str(theirs)
    if "expects device type" in str(theirs):
        assert str(ours).startswith(str(theirs))


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("kind", ["Tensor", "FloatTensor", "LongTensor", "new"])
@pytest.mark.parametrize("storage", ["FloatStorage", "LongStorage", "untyped"])
def test_memory_is_that_of_the_given_storage(kind, storage):
    found = []
    for t in (torch, pt):
        given = t.ones(4)
        held = given.untyped_storage() if storage == "untyped" else getattr(t, storage)([1, 2])
        make = given.new if kind == "new" else getattr(t, kind)
        it = outcome(make, held)
        found.append(str(it) if isinstance(it, Exception) else (it.tolist(), str(it.dtype)))
        if storage == "untyped":
            it.zero_()
            assert not given.any()
        assert isinstance(outcome(make, held, 3), TypeError)
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["Tensor", "FloatTensor", "new"])
def test_memory_is_that_of_the_given_tensor(kind):
    for t in (torch, pt):
        given = t.arange(4.0)[1:]
        it = (given.new if kind == "new" else getattr(t, kind))(given)
        assert it is not given
        assert it.data_ptr() == given.data_ptr()
        it[0] = 7
        assert given.tolist() == [7, 2, 3]


def test_classes_know_their_tensors():
    names = ["Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double", "Bool"]
    found = []
    for t in (torch, pt):
        kinds = [getattr(t, f"{name}Tensor") for name in names]
        given = [kind([1]) for kind in kinds] + [t.ones(1, device="meta"), 3]
        found.append([[isinstance(each, kind) for kind in kinds] for each in given])
    assert found[0] == found[1]
