"""Data sets, samplers, packed sequences and what averages weights: lines with results or refusals, beside PyTorch's."""

import warnings

import pytest

import mindtorch_core as torch

oracle = pytest.importorskip("torch")
pytest.importorskip("mindtorch_nn")

LINES = """
D.TensorDataset(x, y)[1]
len(D.TensorDataset(x, y))
D.TensorDataset(x, x[:2])
D.StackDataset(x, y)[2]
D.StackDataset(a=x, b=y)[2]
len(D.StackDataset(x, y))
D.StackDataset(x, y).__getitems__([0, 2])
D.StackDataset(a=x, b=y).__getitems__([0, 2])
D.StackDataset(x, x[:2])
D.StackDataset(a=x, b=x[:2])
D.StackDataset()
D.StackDataset(x, a=y)
D.StackDataset(Short(), x).__getitems__([0, 1])
D.ConcatDataset([])
D.ConcatDataset([Stream()])
D.ConcatDataset([[1, 2], [3]]).cumulative_sizes
D.ConcatDataset([[1, 2], [3]])[-1]
D.ConcatDataset([[1, 2], [3]])[-4]
D.ConcatDataset([[1, 2], [3]])[2]
[*D.ChainDataset([Stream(), Stream()])]
[*D.ChainDataset([[1]])]
len(D.ChainDataset([Stream(), Stream()]))
D.Subset(x, [2, 0])[1]
D.Subset([5, 6, 7], [2, 0])[0]
D.Subset(x, [2, 0])[[0, 1]]
D.Subset(x, [2, 0]).__getitems__([1, 0])
D.Subset(D.StackDataset(x, y), [2, 0]).__getitems__([1, 0])
[len(each) for each in D.random_split(x, [2, 1])]
[len(each) for each in D.random_split(x, [0.5, 0.5])]
D.random_split(x, [2, 2])
D.random_split(x, [0.5, 0.6])
D.Dataset()[0]
D.RandomSampler(x, replacement=1)
D.RandomSampler(x, num_samples=0)
D.RandomSampler(x, num_samples=1.5)
len(D.RandomSampler(x, num_samples=7))
D.WeightedRandomSampler([0.5], 2, replacement=1)
D.WeightedRandomSampler([[0.5]], 2)
D.WeightedRandomSampler([0.5], 0)
D.WeightedRandomSampler([0.5], True)
D.BatchSampler(range(5), 0, False)
D.BatchSampler(range(5), True, False)
D.BatchSampler(range(5), 2, 1)
[*D.BatchSampler(range(5), 2, True)]
[*D.BatchSampler(range(5), 2, False)]
len(D.BatchSampler(range(5), 2, True))
len(D.BatchSampler(range(5), 2, False))
[*D.DistributedSampler(x, 2, 0, shuffle=False)]
[*D.DistributedSampler(x, 2, 1, shuffle=False)]
[*D.DistributedSampler(x, 2, 1, shuffle=False, drop_last=True)]
len(D.DistributedSampler(x, 2, 1, drop_last=True))
D.DistributedSampler(x, 2, 2)
D.DistributedSampler(x, 2, -1)
[*D.DistributedSampler([0], 4, 3, shuffle=False)]
len(D.DataLoader(x, 2))
len(D.DataLoader(x, 2, drop_last=True))
len(D.DataLoader(Stream(), 2))
D.DataLoader(x, prefetch_factor=2)
D.DataLoader(x, num_workers=-1)
D.DataLoader(x, timeout=-1)
D.DataLoader(x, num_workers=1, multiprocessing_context="none")
D.DataLoader(x, num_workers=1, multiprocessing_context=3)
D.DataLoader(x, num_workers=1, prefetch_factor=-1)
D.DataLoader(x, 2, batch_sampler=[[0]])
D.DataLoader(x, None, shuffle=True, drop_last=True)
D.DataLoader(Stream(), shuffle=True)
D.DataLoader(Stream(), sampler=[0])
D.default_collate([{"a": 1, "b": x[0]}, {"a": 2, "b": x[1]}])
D.default_collate([{"a": 1}, {"b": 2}])
D.default_collate([(1, "x"), (2, "y")])
D.default_collate([[1, 2.5], [3, 4.5]])
D.default_collate([[1], [2, 3]])
D.default_collate([1.5, 2])
D.default_collate([None])
D.default_convert({"a": [1, (2.0, "x")], "b": None})
P(x, [2, 1, 1], True).data
[*P(x, [3, 1], False).batch_sizes]
P(x, [1, 3], True)
P(x, [0, 3], False)
P(x, [3], False)
pack.double().data.dtype
pack.float().data.dtype
pack.half().data.dtype
pack.long().data.dtype
pack.int().data.dtype
pack.short().data.dtype
pack.char().data.dtype
pack.byte().data.dtype
pack.cpu() is pack
pack.to("cpu") is pack
pack.to(t.float64) is pack
pack.is_cuda
pack.is_pinned()
R.pad_packed_sequence(pack)
R.pad_packed_sequence(pack, True, -1.0, 5)
R.pad_packed_sequence(pack, total_length=1)
R.pad_packed_sequence(loose)
R.unpack_sequence(loose)
R.unpad_sequence(x.t().unsqueeze(-1), t.tensor([3, 1, 2]))
R.pad_sequence([x[0], x[1, :1]], True, 7.0)
R.pad_sequence([x[0], x[1, :1]], padding_side="left")
R.pad_sequence([x[0], x[1, :1]], padding_side="top")
R.pack_sequence([x[1, :1], x[0]])
R.pack_sequence([x[1, :1], x[0]], enforce_sorted=False).unsorted_indices
S.AveragedModel(t.nn.Linear(1, 1), avg_fn=max, multi_avg_fn=max)
S.SWALR(t.optim.SGD([p], 0.5), 0.1, 3, "square")
S.SWALR(t.optim.SGD([p], 0.5), 0.1, -1)
S.SWALR(t.optim.SGD([p], 0.5), [0.1, 0.2])
S.get_ema_multi_avg_fn(2.0)
S.get_ema_avg_fn(-0.5)
"""
CALLS = [line for line in LINES.strip().splitlines() if line]


def plain(found):
    """A result as Python's values."""
    if hasattr(found, "tolist"):
        return [str(found.dtype).rpartition(".")[2], found.tolist()]
    if isinstance(found, dict):
        return {name: plain(each) for name, each in found.items()}
    if isinstance(found, tuple | list):
        return [plain(each) for each in found]
    return found if isinstance(found, bool | int | float | str | None) else str(found).replace("mindtorch_core", "torch").rpartition(".")[2]  # fmt: skip


def played(lib, call):
    data, rnn = lib.utils.data, lib.nn.utils.rnn

    class Stream(data.IterableDataset):
        def __iter__(self):
            return iter([1, 2])

    class Short(data.Dataset):
        def __len__(self):
            return 3

        def __getitems__(self, indices):
            return [0]

    x = lib.arange(9.0).reshape(3, 3)
    padded = x.t().unsqueeze(-1)

    def packed(x, lengths, first):
        return rnn.pack_padded_sequence(x, lengths, first)

    scope = {"D": data, "R": rnn, "S": lib.optim.swa_utils, "t": lib, "x": x, "y": lib.arange(3), "P": packed,
             "p": lib.ones(1, requires_grad=True), "pack": packed(padded, [3, 2, 1], False), "Stream": Stream, "Short": Short,
             "loose": rnn.pack_padded_sequence(padded, [1, 3, 2], enforce_sorted=False)}  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(eval(call, scope))
        except (RuntimeError, ValueError, IndexError, TypeError, AssertionError, KeyError, NotImplementedError, AttributeError) as error:  # fmt: skip
            return type(error).__name__, str(error).partition("\n")[0]


@pytest.mark.parametrize("call", CALLS)
def test_as_in_pytorch(call):
    assert played(torch, call) == played(oracle, call)
