"""resize_, and outputs that are resized, against PyTorch."""

import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core.testing import assert_close, assert_same_outcome
from mindtorch_core.testing.facts import missing

pt = pytest.importorskip("torch")

START = {
    "row": lambda lib: lib.arange(6.0),
    "matrix": lambda lib: lib.arange(6.0).view(2, 3),
    "transposed": lambda lib: lib.arange(6.0).view(2, 3).t(),
    "part": lambda lib: lib.arange(6.0)[2:],
    "bfloat16": lambda lib: lib.arange(6.0).to(lib.bfloat16),
    "empty": lambda lib: lib.empty(0, 3),
}


@pytest.mark.parametrize("size", [(6,), (2, 2), (3, 2), (2, 3), (1,), (0,), (), (4, 0)])
@pytest.mark.parametrize("start", START)
def test_elements_that_stay(start, size):
    ours, theirs = START[start](torch), START[start](pt)
    kept = theirs.untyped_storage().nbytes() // theirs.itemsize - theirs.storage_offset()
    assert ours.resize_(size) is ours
    theirs.resize_(size)
    assert (ours.shape, ours.stride(), ours._version) == (theirs.shape, theirs.stride(), 1)
    if theirs.numel() <= kept:
        assert_close(ours, theirs)


@pytest.mark.parametrize("start", START)
def test_bytes_of_the_memory(start):
    """Methods, as in PyTorch, and the same for views."""
    ours, theirs = START[start](torch), START[start](pt)
    for t, other in ((ours, theirs), (ours[:1], theirs[:1]), (ours.data, theirs.data)):
        expected = other.untyped_storage()
        storage = t.untyped_storage()
        assert (storage.nbytes(), storage.size()) == (expected.nbytes(), expected.size())


def test_growing_keeps_the_elements():
    x = torch.arange(6.0)
    x.resize_(4, 3)
    assert x.shape == (4, 3)
    assert x[:2].tolist() == [[0, 1, 2], [3, 4, 5]]
    x.fill_(1).add_(1)
    assert x.sum().item() == 24


def test_memory_that_is_large_enough_is_kept():
    for lib in (torch, pt):
        x = lib.arange(6.0)
        view, at = x[:2], x.data_ptr()
        assert x.resize_(3).add_(1).tolist() == [1, 2, 3]
        assert view.tolist() == [1, 2]
        assert x.resize_(2, 3).data_ptr() == at


GROWN = {
    "the tensor": lambda x: x,
    "a view": lambda x: x[1:],
    "its end": lambda x: x[3:],
    "transposed": lambda x: x.view(2, 2).t(),
    "detached": lambda x: x.detach(),
    "data": lambda x: x.data,
}


@pytest.mark.parametrize("grown", GROWN)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64", "bool"])
def test_everything_that_shows_the_memory_shows_the_larger_one(grown, dtype):
    found = []
    for lib in (torch, pt):
        x = lib.tensor([0, 1, 0, 2], dtype=getattr(lib, dtype))
        others = [make(x) for make in GROWN.values()]
        t = GROWN[grown](x)
        counted = x._version
        t.resize_(20).fill_(1)
        addresses = {each.untyped_storage().data_ptr() for each in (x, t, *others)}
        sizes = {each.untyped_storage().nbytes() for each in (x, t, *others)}
        found.append(
            (t.storage_offset(), t._is_view(), len(addresses), sizes, x._version - counted,
             [each.tolist() for each in (x, t, *others)])
        )  # fmt: skip
    assert found[0] == found[1]


def test_views_follow_an_output_that_grows():
    for lib in (torch, pt):
        out = lib.zeros(2)
        view = out[1:]
        with pytest.warns(UserWarning, match="resized"):
            lib.add(lib.ones(3), 1, out=out)
        out.fill_(5)
        assert view.tolist() == [5]


CALLS = [
    lambda lib: lib.ones(2).resize_(3, 2).shape,
    lambda lib: lib.ones(2).resize_((3, 2)).shape,
    lambda lib: lib.ones(2).resize_([]).shape,
    lambda lib: lib.ones(2).resize_(2).shape,
    lambda lib: lib.ones(2).resize_as_(lib.ones(3, 3)).shape,
    lambda lib: lib.resize_as_(lib.ones(2), lib.ones(0)).shape,
    lambda lib: lib.ones(2, device="meta").resize_(5).shape,
    lambda lib: lib.ones(2).resize_(3, memory_format=lib.contiguous_format).shape,
    lambda lib: lib.ones(2, requires_grad=True).resize_(2),
    lambda lib: (lib.ones(2, requires_grad=True) * 2).resize_(3),
    lambda lib: (lib.ones(2, requires_grad=True) * 2).detach().resize_(3).shape,
    lambda lib: lib.ones(2).resize_(-1),
    lambda lib: lib.ones(2).resize_("a"),
    lambda lib: lib.ones(2).resize_(2.5),
    lambda lib: lib.ones(2).resize_as_(3),
]


@pytest.mark.parametrize("call", CALLS)
def test_calls(call):
    assert_same_outcome(lambda: call(torch), lambda: call(pt))


def test_a_saved_tensor_must_not_be_resized():
    for lib in (torch, pt):
        x = lib.ones(3)
        y = lib.ones(3, requires_grad=True) * x
        x.resize_(8)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_recorded_ops_read_what_the_tensor_was():
    with torch.pipeline():
        x = torch.arange(4.0)
        doubled = x * 2
        x.resize_(2).fill_(7)
        grown = x.resize_(8)
    assert doubled.tolist() == [0, 2, 4, 6]
    assert grown[:2].tolist() == [7, 7]


OUTPUTS = {
    "smaller": lambda lib: lib.zeros(2),
    "larger": lambda lib: lib.zeros(3, 3),
    "transposed": lambda lib: lib.zeros(2, 4).t(),
    "part": lambda lib: lib.zeros(12)[2:7],
    "float64": lambda lib: lib.zeros(5, dtype=lib.float64),
}
RESULTS = {
    "row": lambda lib: lib.arange(4.0),
    "matrix": lambda lib: lib.arange(6.0).view(2, 3),
    "transposed": lambda lib: lib.arange(6.0).view(2, 3).t(),
    "0d": lambda lib: lib.tensor(3.0),
}


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_outputs_of_another_shape_are_resized_with_a_warning(output, result):
    found = []
    for lib in (torch, pt):
        out = OUTPUTS[output](lib)
        with pytest.warns(UserWarning, match="resized") as seen:
            assert lib.add(RESULTS[result](lib), 1, out=out) is out
        found.append((out, str(seen[0].message)))
        assert len(seen) == 1 or lib is pt  # which warns twice where it converts the result
        assert seen[0].filename == __file__
    (ours, text), (theirs, said) = found
    assert_close(ours, theirs, check_stride=True)
    assert not missing(text, said)


def test_empty_outputs_are_resized_without_a_warning():
    for lib in (torch, pt):
        out = lib.empty(0)
        lib.add(lib.ones(2, 3).t(), 1, out=out)
        assert (tuple(out.shape), out.stride()) == ((3, 2), (1, 3))
        out.resize_(0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            lib.mm(lib.ones(2, 3), lib.ones(3, 2), out=out)
        assert out.tolist() == [[3, 3], [3, 3]]


def test_an_output_that_is_resized_keeps_its_memory():
    for lib in (torch, pt):
        whole = lib.zeros(2, 3)
        row = whole[0]
        with pytest.warns(UserWarning, match="resized"):
            lib.add(lib.ones(3), 1, out=whole)
        assert row.tolist() == [2, 2, 2]


@pytest.mark.parametrize("size", [(2, 4, 2**29, 2**29), (0, 4, 2**61)], ids=["storage", "stride"])
def test_sizes_beyond_every_address(size):
    for lib in (torch, pt):
        x = lib.ones((), dtype=lib.float64)
        with pytest.raises(RuntimeError, match=r"(Storage size|Stride) calculation overflowed"):
            x.resize_(size)
    x = torch.ones((), dtype=torch.float64)
    with pytest.raises(RuntimeError, match="calculation overflowed"):
        x.resize_(size)
    assert (x.shape, x.tolist()) == ((), 1)
