"""What wrappers for several processes make of their arguments, which one process can see."""

import dataclasses
import math
import warnings
from types import SimpleNamespace

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome
from mindtorch_nn.parallel.arguments import (
    _find_tensors,
    bytes_of,
    check_devices,
    delayed_names,
    syncs_buffers,
)
from mindtorch_nn.parallel.sharding.fully_shard import _dimension

MB = 1024 * 1024


@pytest.mark.parametrize(
    ("one", "several", "wanted"),
    [
        (None, None, [25 * MB]),
        (2, None, [2 * MB]),
        (0.5, None, [MB // 2]),
        (3, [1, 0.25], [MB, MB // 4]),
        (None, [], [25 * MB]),
        (0, None, [0]),
    ],
)
def test_sizes_of_buckets(one, several, wanted):
    assert bytes_of(one, several) == wanted


@pytest.mark.parametrize(("one", "several"), [(-1, None), (1, [1, -0.5])])
def test_sizes_that_are_refused(one, several):
    with pytest.raises(ValueError, match="must not be negative, got "):
        bytes_of(one, several)


def test_names_of_delayed_parameters():
    a, b, c = torch.ones(1), torch.ones(1), torch.ones(1)
    named = [("a", a), ("b", b)]
    assert delayed_names(None, None, named) == set()
    assert delayed_names([("other", b)], a, named) == {"b"}
    for one in ((None, a), ([("b", b)], None)):
        with pytest.raises(ValueError, match="need to be set at the same time"):
            delayed_names(*one, named)
    for unknown in (([("c", c)], a), ([("b", b)], c)):
        with pytest.raises(ValueError, match="is no parameter of the module"):
            delayed_names(*unknown, named)


@pytest.mark.parametrize(
    ("old", "new", "wanted", "said"),
    [
        (None, None, True, ""),
        (None, False, False, ""),
        (None, True, True, ""),
        (False, None, False, "is deprecated. Use `forward_sync_buffers`"),
        (True, None, True, "is deprecated. Use `forward_sync_buffers`"),
        (True, False, False, "its value is ignored"),
        (False, True, True, "its value is ignored"),
    ],
)
def test_buffers_by_two_names(old, new, wanted, said):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert syncs_buffers(old, new) is wanted
    assert [(w.category, w.filename) for w in caught] == [(FutureWarning, __file__)] * bool(said)
    assert all(said in str(w.message) for w in caught)


@pytest.mark.parametrize(
    ("chosen", "wanted"),
    [(None, 0), (0, 0), (1, 1), (-1, 1), (-2, 0), (2, "chose"), (-3, "chose"), (math.pi, "a Shard or None")],
)  # fmt: skip
def test_along_which_dimension_a_parameter_is_cut(chosen, wanted):
    shard = torch.distributed.tensor.Shard
    choice = shard(chosen) if isinstance(chosen, int) else chosen
    seen = []
    whole = torch.ones(2, 3)
    found = outcome(_dimension, whole, lambda p: seen.append(p) or choice)
    assert seen[0] is whole
    if isinstance(wanted, str):
        assert isinstance(found, ValueError)
        assert wanted in str(found)
    else:
        assert found == wanted
        assert _dimension(whole, None) == 0


@pytest.mark.parametrize(
    ("ids", "output", "kind", "said"),
    [
        (None, None, "cpu", ""),
        ([], None, "cpu", ""),
        ([0], None, "meta", ""),
        (None, 0, "meta", ""),
        ([0], None, "cpu", "got device_ids [0], output_device None"),
        (None, 0, "cpu", "got device_ids None, output_device 0"),
        ([0, 1], None, "meta", "a single element"),
    ],
)
def test_devices_that_are_told(ids, output, kind, said):
    found = outcome(check_devices, [torch.ones(1, device=kind)], ids, output)
    assert (type(found) is ValueError) is bool(said)
    assert said in str(found)


@dataclasses.dataclass
class Pair:
    one: object
    other: object


RESULTS = {
    "a tensor": lambda a, b: a,
    "a list in a tuple": lambda a, b: (1, [a, (b,)]),
    "a dict": lambda a, b: {"b": b, "a": {"a": a}},
    "a dataclass": lambda a, b: Pair(b, [a]),
    "one in one": lambda a, b: Pair(Pair(a, None), b),
    "nothing": lambda a, b: ["a", None, 1.0],
}


@pytest.mark.parametrize("what", RESULTS)
def test_tensors_of_results(what):
    """As in PyTorch, in its order."""
    pt = pytest.importorskip("torch")
    theirs = pt.nn.parallel.distributed._find_tensors
    found = []
    for lib, find in ((torch, _find_tensors), (pt, theirs)):
        a, b = lib.tensor(1.0), lib.tensor(2.0)
        found.append([t.item() for t in find(RESULTS[what](a, b))])
    assert found[0] == found[1]


def test_tensors_of_objects():
    """One attribute deep, and each object once."""
    a, b = torch.tensor(1.0), torch.tensor(2.0)
    inner = SimpleNamespace(b=b)
    ring = [a]
    ring.append(ring)
    assert {id(t) for t in _find_tensors(SimpleNamespace(a=a, rest=[b, 1]))} == {id(a), id(b)}
    assert list(_find_tensors(SimpleNamespace(a=a, inner=inner))) == [a]
    assert list(_find_tensors(ring)) == [a]
    assert list(_find_tensors(torch.nn.Linear(1, 1))) == []
