"""Data sets, samplers and loaders: order, workers, their ends and their errors."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, namedtuple
from itertools import islice
from typing import Any

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    get_worker_info,
    random_split,
)


@pytest.fixture(autouse=True)
def importable(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that are not forked import this module by its name, which begins at pytest's root."""
    monkeypatch.syspath_prepend(request.config.rootpath)


METHODS = [
    m for m in ("fork", "spawn", "forkserver") if m in multiprocessing.get_all_start_methods()
]


class Squares(Dataset):
    def __init__(self, n: int = 20) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> Any:
        return torch.full((3,), float(i * i)), i


class Refusing(Squares):
    def __getitem__(self, i: int) -> Any:
        if i == 7:
            raise ValueError("no seven here")
        return super().__getitem__(i)


class Dying(Squares):
    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def __getitem__(self, i: int) -> Any:
        if i == 7:
            if self.how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            os._exit(3)
        return super().__getitem__(i)


class Waiting(Squares):
    def __getitem__(self, i: int) -> Any:
        if i == 7:
            time.sleep(600)
        return super().__getitem__(i)


class Stream(IterableDataset):
    def __init__(self, n: int = 21, said: int | None = None) -> None:
        self.n, self.said = n, said

    def __len__(self) -> int:
        if self.said is None:
            raise TypeError
        return self.said

    def __iter__(self) -> Any:
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, self.n, step))


class Draws(Dataset):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, i: int) -> Any:
        info = get_worker_info()
        assert info is not None
        return info.seed, random.random(), float(np.random.random()), torch.rand(()).item()


def indices(loader: Any) -> list[list[int]]:
    return [batch[1].tolist() for batch in loader]


IN_ORDER = [list(range(k, min(k + 3, 20))) for k in range(0, 20, 3)]


def test_batches_in_this_process() -> None:
    loader = DataLoader(Squares(), 3)
    assert indices(loader) == IN_ORDER
    assert len(loader) == 7
    assert indices(DataLoader(Squares(), 3, drop_last=True)) == IN_ORDER[:-1]
    assert [i for _, i in DataLoader(Squares(4), None)] == [0, 1, 2, 3]
    x, _ = next(iter(loader))
    assert x.tolist() == [[0.0] * 3, [1.0] * 3, [4.0] * 3]


@pytest.mark.parametrize("method", METHODS)
def test_workers_give_the_same_batches(method: str) -> None:
    loader = DataLoader(Squares(), 3, num_workers=2, multiprocessing_context=method)
    assert indices(loader) == IN_ORDER
    assert not multiprocessing.active_children()


def test_workers_that_stay() -> None:
    loader = DataLoader(Squares(), 3, num_workers=2, persistent_workers=True)
    assert indices(loader) == IN_ORDER
    first = {p.pid for p in multiprocessing.active_children()}
    for _ in loader:  # left early: what is still under way belongs to no later pass
        break
    assert indices(loader) == IN_ORDER
    assert {p.pid for p in multiprocessing.active_children()} == first
    del loader
    assert not multiprocessing.active_children()


def test_leaving_early_leaves_no_process() -> None:
    for _ in DataLoader(Squares(4000), 3, num_workers=2):
        break
    assert not multiprocessing.active_children()


def test_any_order() -> None:
    loader = DataLoader(Squares(), 3, num_workers=2, in_order=False)
    assert sorted(i for batch in indices(loader) for i in batch) == list(range(20))


def test_an_exception_of_a_worker_comes_out_with_its_traceback() -> None:
    with pytest.raises(ValueError, match="in DataLoader worker process") as caught:
        indices(DataLoader(Refusing(), 3, num_workers=2))
    assert "no seven here" in str(caught.value)
    assert "__getitem__" in str(caught.value)
    with pytest.raises(ValueError, match=r"^no seven here$"):
        indices(DataLoader(Refusing(), 3))


@pytest.mark.parametrize(
    ("how", "said"), [("kill", "is killed by signal: Killed"), ("exit", r"exit code\(s\) 3")]
)
def test_a_worker_that_dies_is_reported(how: str, said: str) -> None:
    with pytest.raises(RuntimeError, match=said):
        indices(DataLoader(Dying(how), 3, num_workers=2))
    assert not multiprocessing.active_children()


def test_waiting_too_long() -> None:
    with pytest.raises(RuntimeError, match=r"timed out after 0\.5 seconds"):
        indices(DataLoader(Waiting(), 3, num_workers=1, timeout=0.5))
    assert not multiprocessing.active_children()


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded")
@pytest.mark.parametrize("workers", [0, 1, 2])
def test_streams(workers: int) -> None:
    found = [b.tolist() for b in DataLoader(Stream(), 4, num_workers=workers)]
    assert sorted(i for b in found for i in b) == list(range(21))
    loader = DataLoader(Stream(8, said=3), None, num_workers=workers)
    assert len(loader) == 3
    with pytest.warns(UserWarning, match="was reported to be 3"):
        list(loader)


def test_seeds_of_workers() -> None:
    def drawn() -> list[Any]:
        loader = DataLoader(
            Draws(), None, num_workers=2, generator=torch.Generator().manual_seed(4)
        )
        return list(loader)

    first, again = drawn(), drawn()
    assert first == again
    seeds = [row[0] for row in first]
    assert seeds[1] == seeds[0] + 1
    assert seeds[2:] == seeds[:2]
    assert len({row[1] for row in first}) == len({row[2] for row in first}) == 4


def _note_start(worker: int) -> None:
    os.environ["STARTED_WORKER"] = str(worker)


class Started(Squares):
    def __getitem__(self, i: int) -> Any:
        return os.environ["STARTED_WORKER"]


def _fail(worker: int) -> None:
    raise KeyError("start")


def test_function_at_the_start_of_workers() -> None:
    loader = DataLoader(Started(4), None, num_workers=2, worker_init_fn=_note_start)
    assert list(loader) == ["0", "1", "0", "1"]
    with pytest.raises(KeyError, match="in DataLoader worker process 0"):
        list(DataLoader(Squares(), num_workers=1, worker_init_fn=_fail))


INTERRUPTED = """
import multiprocessing, os, signal, threading, sys
sys.path.insert(0, {here!r})
from test_data import DataLoader, Waiting
loader = DataLoader(Waiting(), 3, num_workers=2)
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    list(loader)
except KeyboardInterrupt:
    print("interrupted", len(multiprocessing.active_children()))
"""


def test_an_interrupt_ends_the_workers() -> None:
    here = os.path.dirname(__file__)
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(here=here)],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.stdout == "interrupted 0\n", done.stderr


WRONG = [
    ({"num_workers": -1}, "num_workers option should be non-negative"),
    ({"timeout": -1}, "timeout option should be non-negative"),
    ({"prefetch_factor": 2}, "prefetch_factor option could only be specified in multiprocessing"),
    ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0"),
    ({"sampler": [0], "shuffle": True}, "mutually exclusive with shuffle"),
    ({"batch_sampler": [[0]], "batch_size": 2}, "batch_sampler option is mutually exclusive"),
    ({"batch_size": None, "drop_last": True}, "batch_size=None option disables auto-batching"),
    ({"multiprocessing_context": "fork"}, "can only be used with multi-process loading"),
    ({"multiprocessing_context": "x", "num_workers": 1}, "should specify a valid start method"),
]


@pytest.mark.parametrize(("options", "said"), WRONG)
def test_options_that_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        DataLoader(Squares(), **options)


def test_a_timeout_without_workers_is_refused_where_a_pass_begins() -> None:
    loader = DataLoader(Squares(), timeout=1)
    with pytest.raises(AssertionError, match="requires timeout == 0"):
        iter(loader)


def test_what_is_fixed_and_what_streams_refuse() -> None:
    loader = DataLoader(Squares())
    with pytest.raises(ValueError, match="should not be set after DataLoader is initialized"):
        loader.batch_size = 3
    with pytest.raises(ValueError, match="expected unspecified shuffle option"):
        DataLoader(Stream(), shuffle=True)
    if not torch.accelerator.is_available():  # another test may have loaded one
        with pytest.warns(UserWarning, match="no accelerator is found"):
            next(iter(DataLoader(Squares(), pin_memory=True)))


# ---- data sets and samplers ---------------------------------------------------------------------


def test_data_sets() -> None:
    a, b = torch.arange(4), torch.arange(4) * 10
    tensors = TensorDataset(a, b)
    assert [tuple(map(int, row)) for row in (tensors[1], tensors[3])] == [(1, 10), (3, 30)]
    with pytest.raises(AssertionError, match="Size mismatch"):
        TensorDataset(a, b[:2])
    joined = Squares(3) + Squares(2)
    assert isinstance(joined, ConcatDataset)
    assert [joined[i][1] for i in (0, 2, 3, -1)] == [0, 2, 0, 1]
    with pytest.raises(ValueError, match="should not exceed dataset length"):
        joined[-6]
    chained = Stream(3) + Stream(2)
    assert isinstance(chained, ChainDataset)
    assert list(chained) == [0, 1, 2, 0, 1]
    stacked = StackDataset(x=Squares(3), y=[5, 6, 7])
    assert stacked[1]["y"] == 6
    assert [row["y"] for row in stacked.__getitems__([2, 0])] == [7, 5]
    assert StackDataset([1, 2], [3, 4])[0] == (1, 3)
    subset = Subset(Squares(), [4, 2])
    assert [subset[i][1] for i in range(2)] == [4, 2]


def test_random_split() -> None:
    parts = random_split(range(10), [0.5, 0.3, 0.2], torch.Generator().manual_seed(1))
    assert [len(p) for p in parts] == [5, 3, 2]
    assert sorted(x for p in parts for x in p) == list(range(10))
    again = random_split(range(10), [5, 3, 2], torch.Generator().manual_seed(1))
    assert [list(p) for p in parts] == [list(p) for p in again]
    with pytest.raises(ValueError, match="Sum of input lengths"):
        random_split(range(10), [5, 3])
    with pytest.warns(UserWarning, match="might result in an empty dataset"):
        random_split(range(1), [0.5, 0.5])


@pytest.mark.parametrize(
    "shares",
    [[1.5, -0.5], [-0.5, 1.5], [0.5, 0.7, -0.2], [0.5, 0.6], [0.5, 0.25], [-1, 11], [1.0], [0.55, 0.45], [0.1] * 10],
)  # fmt: skip
def test_shares_as_pytorch_takes_them(shares: list[float]) -> None:
    theirs = pytest.importorskip("torch").utils.data.random_split

    def split(function: Any) -> Any:
        try:
            return [len(part) for part in function(range(10), shares)]
        except ValueError as error:
            return str(error)

    assert split(random_split) == split(theirs)


@pytest.mark.parametrize("workers", [0, 2])
def test_what_loaders_do_unless_told_otherwise(workers: int) -> None:
    theirs = pytest.importorskip("torch").utils.data.DataLoader
    names = [
        "batch_size", "num_workers", "prefetch_factor", "pin_memory", "pin_memory_device", "timeout",
        "worker_init_fn", "multiprocessing_context", "drop_last", "persistent_workers", "in_order", "generator",
    ]  # fmt: skip
    given, told = (kind(range(4), num_workers=workers) for kind in (DataLoader, theirs))
    assert {n: getattr(given, n) for n in names} == {n: getattr(told, n) for n in names}


def test_a_sampler_draws_as_many_at_a_time_as_pytorch_s() -> None:
    pt = pytest.importorskip("torch")

    def drawn(lib: Any, replacement: bool) -> tuple[list[int], float]:
        generator = lib.Generator().manual_seed(5)
        sampler = lib.utils.data.RandomSampler(
            range(100), replacement=replacement, num_samples=90, generator=generator
        )
        indices = list(islice(iter(sampler), 33))
        return indices, lib.rand(1, generator=generator).item()

    for replacement in (False, True):
        assert drawn(torch, replacement) == drawn(pt, replacement)


@pytest.mark.parametrize("count", [90, 100, 130, 200])
def test_a_sampler_of_a_given_source_goes_on_as_pytorch_s(count: int) -> None:
    pt = pytest.importorskip("torch")

    def drawn(lib: Any) -> list[list[int]]:
        sampler = lib.utils.data.RandomSampler(
            range(100), num_samples=count, generator=lib.Generator().manual_seed(5)
        )
        return [list(sampler) for epoch in range(3)]

    assert drawn(torch) == drawn(pt)


class Shuffled:
    """A batch sampler that has all its batches at once."""

    def __init__(self, lib: Any) -> None:
        self.lib = lib

    def __iter__(self) -> Any:
        return iter(self.lib.randperm(6).view(3, 2).tolist())

    def __len__(self) -> int:
        return 3


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_workers": 1, "multiprocessing_context": "fork"},
        {"num_workers": 1, "multiprocessing_context": "fork", "persistent_workers": True},
    ],
)
def test_epochs_draw_random_numbers_in_pytorch_s_order(options: dict[str, Any]) -> None:
    pt = pytest.importorskip("torch")

    def epochs(lib: Any) -> list[tuple[list[Any], int]]:
        lib.manual_seed(5)
        loaders = [
            lib.utils.data.DataLoader(range(6), batch_sampler=Shuffled(lib), **options),
            lib.utils.data.DataLoader(range(6), batch_size=2, shuffle=True, **options),
        ]
        return [
            ([batch.tolist() for batch in loader], lib.randint(1000, (1,)).item())
            for loader in loaders
            for epoch in range(3)
        ]

    assert epochs(torch) == epochs(pt)


def test_samplers() -> None:
    assert list(SequentialSampler(range(4))) == [0, 1, 2, 3]
    assert sorted(RandomSampler(range(9))) == list(range(9))
    assert len(list(RandomSampler(range(3), replacement=True, num_samples=70))) == 70
    assert len(list(RandomSampler(range(3), num_samples=8))) == 8
    assert sorted(SubsetRandomSampler([5, 7, 9])) == [5, 7, 9]
    drawn = Counter(WeightedRandomSampler([0.0, 1.0, 3.0], 4000))
    assert drawn[0] == 0
    assert 0.65 < drawn[2] / 4000 < 0.85
    assert sorted(WeightedRandomSampler([1.0, 1.0, 2.0], 3, replacement=False)) == [0, 1, 2]
    assert list(BatchSampler(range(5), 2, False)) == [[0, 1], [2, 3], [4]]
    assert len(BatchSampler(range(5), 2, True)) == 2
    with pytest.raises(ValueError, match="num_samples should be a positive integer"):
        RandomSampler([])
    with pytest.raises(ValueError, match="drop_last should be a boolean"):
        BatchSampler(range(5), 2, 1)


@pytest.mark.parametrize("drop", [False, True])
def test_parts_of_several_processes(drop: bool) -> None:
    parts = [DistributedSampler(range(11), 4, rank, drop_last=drop) for rank in range(4)]
    found = [list(p) for p in parts]
    assert {len(p) for p in found} == {2 if drop else 3}
    seen = [i for p in found for i in p]
    assert len(set(seen)) == (8 if drop else 11)
    parts[0].set_epoch(1)
    assert list(parts[0]) != found[0]
    with pytest.raises(ValueError, match="Invalid rank 4"):
        DistributedSampler(range(3), 4, 4)


Pair = namedtuple("Pair", "a b")


def test_collation() -> None:
    batch = default_collate([Pair(1, {"x": 2.0, "y": "s"}), Pair(3, {"x": 4.0, "y": "t"})])
    assert isinstance(batch, Pair)
    assert batch.a.tolist() == [1, 3]
    assert batch.b["x"].dtype is torch.float64
    assert batch.b["y"] == ["s", "t"]
    assert default_collate([np.ones(2), np.zeros(2)]).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert default_collate([np.float32(1), np.float32(2)]).dtype is torch.float32
    assert default_collate([True, False]).dtype is torch.bool
    with pytest.raises(TypeError, match="batch must contain tensors"):
        default_collate([object()])
    with pytest.raises(RuntimeError, match="of equal size"):
        default_collate([[1], [1, 2]])
    found = default_convert({"a": np.arange(2), "b": ("s", np.float64(1.5))})
    assert found["a"].tolist() == [0, 1]
    assert found["b"][1].item() == 1.5
