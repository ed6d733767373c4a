"""What loaders, pipes and samplers do that few programs ask for, beside PyTorch."""

from collections import UserDict, UserList, namedtuple
from types import MappingProxyType

import pytest

import mindtorch_core as torch
from mindtorch_core.utils import data
from same_results import names_of, results_are, scenarios_are

Pair = namedtuple("Pair", "a b")


class Stubborn(list):
    """A list that is not made of another."""

    def __init__(self, *, size=0):
        super().__init__(range(size))

    def __copy__(self):
        raise TypeError


class Mapped(UserDict):
    """A mapping that cannot be copied."""

    def __copy__(self):
        raise TypeError


class Frozen:
    """No sequence, no mapping: something else."""


def stream(lib, size, length=None):
    class Stream(lib.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(size))

        def __len__(self):
            if length is None:
                raise TypeError("no length")
            return length

    return Stream()


names = names_of(
    "utils.data",
    "utils.data.datapipes",
    Pair=lambda lib: Pair,
    Stubborn=lambda lib: Stubborn,
    Mapped=lambda lib: Mapped,
    UserList=lambda lib: UserList,
    Frozen=lambda lib: Frozen,
    proxy=lambda lib: MappingProxyType,
    t=lambda lib: lib.tensor,
    stream=lambda lib: lambda *args: stream(lib, *args),
    pipe=lambda lib: lib.utils.data.datapipes.iter.IterableWrapper,
    seq=lambda lib: lib.utils.data.datapipes.map.SequenceWrapper,
    below=lambda lib: lambda a, b: a < b,
    negative=lambda lib: lambda x: x < 0,
    kind=lambda lib: lambda x: (type(x).__name__, x),
)

test_batches_of_odd_samples = results_are(
    """
    kind(data.default_collate([Pair(1, 2.0), Pair(3, 4.0)]))
    kind(data.default_collate([(1, "a"), (2, "b")]))
    kind(data.default_collate([[1, 2], [3, 4]]))
    kind(data.default_collate([UserList([1, 2]), UserList([3, 4])]))
    kind(data.default_collate([Stubborn(size=2), Stubborn(size=2)]))
    kind(data.default_collate([range(2), range(2, 4)]))
    kind(dict(data.default_collate([proxy({"a": 1}), proxy({"a": 2})])))
    kind(dict(data.default_collate([Mapped({"a": 1}), Mapped({"a": 2})])))
    kind(dict(data.default_convert(Mapped({"a": 1}))))
    kind(data.default_convert(Stubborn(size=2)))
    kind(data.default_convert(Pair(1, "a")))
    kind(data.default_convert(range(2)))
    kind(data.default_convert((1, "a")))
    data.default_collate([True, False])
    data.default_collate([b"a", b"b"])
    ! data.default_collate([Frozen(), Frozen()])
    ! data.default_collate([[1, 2], [3]])
    ! data.default_collate([t([[1.0, 0.0]]).to_sparse()] * 2)
    ! data.default_collate([{"a": 1}, {"b": 1}])
    ! data.default_collate([])
    """,
    names,
)

test_pipes = results_are(
    """
    ! pipe([1]).concat().__class__()
    ! pipe([1]).batch(0)
    ! pipe([1]).batch(-1)
    list(pipe([(1, 2), (4, 3), (0, 5)]).filter(below, input_col=[0, 1]))
    list(pipe([(1, 2), (4, 3), (0, 5)]).filter(below, input_col=(1, 0)))
    list(pipe([(1, 2), (4, -3), (0, 5)]).filter(negative, input_col=1))
    len(seq(range(5)).map(str))
    len(seq(range(5)).concat(seq("ab")))
    len(seq(range(5)).zip(seq("ab")))
    len(seq(range(5)).batch(2))
    len(seq(range(5)).batch(2, drop_last=True))
    seq(range(5)).concat(seq("ab"))[5]
    ! seq(range(5)).concat(seq("ab"))[7]
    ! seq(range(5)).batch(2)[3]
    seq(range(5)).zip(seq("ab"))[1]
    repr(data.DataChunk([1, "a"]))
    data.DataChunk([1, "a"]).as_str("  ")
    list(data.DataChunk([1, 2]).raw_iterator())
    data.DataChunk([1, 2]).items
    list(data.DataChunk(items=[1, 2]))
    list(pipe(range(5)).batch(2, drop_last=True))
    list(map(list, pipe(range(5)).batch(2, wrapper_class=tuple)))
    ! data.functional_datapipe("batch")(type("Own", (data.IterDataPipe,), {}))
    len(data.DataLoader(stream(7, 7), batch_size=2))
    len(data.DataLoader(stream(7, 7), batch_size=2, drop_last=True))
    len(data.DataLoader(stream(7, 7), batch_size=None))
    len(data.DataLoader(stream(0, 0), batch_size=2))
    ! len(data.DataLoader(stream(7), batch_size=2))
    list(data.DataLoader(stream(7, 7), batch_size=3))
    list(data.DataLoader(stream(7, 5), batch_size=None))
    list(data.DataLoader(range(5), batch_size=2, drop_last=True))
    ! iter(data.Sampler())
    ! data.RandomSampler(range(3), num_samples=0)
    ! data.RandomSampler(range(3), replacement=1)
    ! data.BatchSampler(range(3), 0, False)
    ! data.BatchSampler(range(3), True, False)
    ! data.BatchSampler(range(3), 2, 1)
    ! data.WeightedRandomSampler([1.0], 0)
    ! data.WeightedRandomSampler([[1.0]], 1)
    ! data.distributed.DistributedSampler(range(3), 2, 2)
    ! data.distributed.DistributedSampler(range(3), 2, -1)
    list(data.distributed.DistributedSampler(range(5), 2, 1, shuffle=False))
    list(data.distributed.DistributedSampler(range(5), 2, 1, shuffle=False, drop_last=True))
    list(data.distributed.DistributedSampler(range(1), 3, 2, shuffle=False))
    len(data.distributed.DistributedSampler(range(5), 2, 1, drop_last=True))
    ! data.TensorDataset(t([1]), t([1, 2]))
    ! data.StackDataset()
    ! data.StackDataset([1], [1, 2])
    ! data.StackDataset([1], a=[1])
    ! data.ConcatDataset([])
    ! data.ConcatDataset([[1]])[1]
    ! data.ConcatDataset([[1]])[-2]
    ! data.random_split([1, 2, 3], [2, 2])
    ! data.random_split([1, 2, 3], [0.5, 0.7])
    ! data.DataLoader([1], num_workers=-1)
    ! data.DataLoader([1], timeout=-1)
    ! data.DataLoader([1], prefetch_factor=2)
    ! data.DataLoader([1], persistent_workers=True)
    ! data.DataLoader([1], batch_size=None, drop_last=True)
    ! data.DataLoader([1], batch_size=2, batch_sampler=[[0]])
    ! data.DataLoader([1], shuffle=True, sampler=[0])
    ! data.DataLoader(stream(3), shuffle=True)
    ! data.DataLoader(stream(3), sampler=[0])
    ! data.DataLoader(stream(3), batch_sampler=[[0]])
    """,
    names,
)


def told_of_pinning(lib):
    """Batches are as they were where nothing is the better for pinning."""
    return list(lib.utils.data.DataLoader([1, 2], pin_memory=False, batch_size=None))


def pipes_within_themselves(lib):
    """The graph of a pipe that holds itself ends there."""
    pipe = lib.utils.data.datapipes.iter.IterableWrapper([1])
    outer = pipe.map(str)
    pipe.above = outer
    graph = lib.utils.data.graph.traverse_dps(outer)

    def shape(found):
        return [(type(p).__name__, shape(inner)) for p, inner in found.values()]

    return shape(graph)


def shuffled_or_not(lib):
    settings = lib.utils.data.graph_settings
    wrap = lib.utils.data.datapipes.iter.IterableWrapper
    plain = wrap(range(4))
    same = settings.apply_shuffle_settings(plain) is plain
    off = wrap(range(4)).shuffle()
    settings.apply_shuffle_settings(off, shuffle=False)
    sharded = wrap(range(5)).sharding_filter()
    given = settings.apply_sharding(sharded, 2, 1) is sharded
    return same, list(off), given, list(sharded), settings.get_all_graph_pipes is not None


test_loaders = scenarios_are(
    told_of_pinning,
    pipes_within_themselves,
    shuffled_or_not,
)


def test_parts_with_half_of_what_loaders_ask():
    class Half(data.Subset):
        def __getitem__(self, index):
            return -1

    class Whole(Half):
        def __getitems__(self, indices):
            return [-2 for _ in indices]

    with pytest.raises(NotImplementedError, match="overrides __getitem__ but not __getitems__"):
        Half([1, 2], [0])
    assert [b.tolist() for b in data.DataLoader(Whole([1, 2], [0]))] == [[-2]]


def test_more_samples_than_a_stream_told():
    loader = data.DataLoader(stream(torch, 3, 2), batch_size=None)
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="was reported to be 2 .* but 3 samples have been fetched"):
        assert list(loader) == [0, 1, 2]


def test_only_pipes_have_names_of_pipes():
    with pytest.raises(TypeError, match="can only decorate IterDataPipe or MapDataPipe"):
        data.functional_datapipe("anything")(int)
