"""Data pipes against PyTorch's: what they give, in which order, and what a loader makes of them."""

import copy  # noqa: F401  (used by programs)
import importlib
import pickle  # noqa: F401

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def square(x):
    return x * x


def odd(x):
    return x % 2 == 1


def add(a, b):
    return a + b


PROGRAMS = [
    "list(wrap(range(10)).map(square).filter(odd).batch(2))",
    "[len(wrap(range(10)).batch(3)),len(wrap(range(10)).batch(3,drop_last=True)),len(wrap([1]).map(square))]",
    "list(wrap([(1,2),(3,4)]).map(square,input_col=0))",
    "list(wrap([(1,2),(3,4)]).map(add,input_col=[0,1]))",
    "list(wrap([(1,2,3)]).map(add,input_col=[0,2],output_col=1))",
    "list(wrap([[1,2]]).map(square,input_col=1,output_col=-1))",
    "list(wrap([{'a':2}]).map(square,input_col='a',output_col='b'))",
    "list(wrap([(1,2),(2,3)]).filter(odd,input_col=1))",
    "list(wrap([1,2]).zip(wrap('abc')))", "len(wrap([1,2]).zip(wrap('abc')))", "list(wrap([1,2]).concat(wrap('ab')))",
    "list(wrap(range(5)).batch(2).batch(2).unbatch())", "list(wrap(range(5)).batch(2).batch(2).unbatch(-1))",
    "list(wrap(range(3)).unbatch())", "[b.tolist() for b in wrap(range(5)).batch(2).collate()]",
    "list(wrap(range(20)).shuffle(buffer_size=5))", "list(wrap(range(9)).shuffle().set_seed(3))",
    "list(wrap(range(9)).shuffle().set_shuffle(False))",
    "list(wrap([[1,2],[3]]).shuffle(unbatch_level=1))", "list(wrap(range(7)).sharding_filter())",
    "len(wrap(range(5)).filter(odd))", "wrap(range(5)).no_such_method", "repr(wrap([1]).batch(1))",
    "wrap([1]).map(square,output_col=1)", "data.functional_datapipe('map')(pipes.iter.Mapper)",
    "[list(pickle.loads(pickle.dumps(wrap([2]).map(square)))),list(copy.deepcopy(wrap([3]).map(square)))]",
    "[b.tolist() for b in load(wrap(range(7)).shuffle(),batch_size=3)]",
    "[b.tolist() for b in load(wrap(range(7)).map(square).shuffle(),batch_size=3,shuffle=True)]",
    "[b.tolist() for b in load(wrap(range(7)).shuffle(),batch_size=3,shuffle=False)]",
    "[[b.tolist() for b in each] for each in [load(wrap(range(7)).shuffle(),batch_size=3)]*2]",
    "load(wrap(range(7)),sampler=[1])",
    "[keyed([1,2,3]).map(square)[2],keyed([1,2,3]).zip(keyed('abc'))[1],keyed([1]).concat(keyed([2,3]))[2]]",
    "[list(keyed([1,2,3]).batch(2)[i]) for i in range(len(keyed([1,2,3]).batch(2)))]", "keyed([1]).batch(1)[1]",
    *(f"[[x.append(9) for x in {pipe}] and [x for x in {pipe}] for source in [[[1],[2]]] for pipe in [{made}]]"
      for made, pipe in (
          ("wrap(source)", "pipe"), ("wrap(source,deepcopy=False)", "pipe"), ("wrap(iter(source))", "pipe"),
          ("wrap(iter(source),deepcopy=False)", "pipe"), ("wrap(x for x in source)", "pipe"),
      )),
    *(f"[[x.append(9) for x in source] and pipe[1] for source in [[[1],[2]]] for pipe in [keyed(source{options})]]"
      for options in ("", ",deepcopy=False", ",deepcopy=True")),
    "keyed(memoryview(b'ab'))[1]",
    "keyed([1]).concat(keyed([2]))[2]", "[b.tolist() for b in load(keyed([1,2,3]),batch_size=2,shuffle=True)]",
]  # fmt: skip


def answer(lib, program):
    data = importlib.import_module(f"{lib.__name__}.utils.data")
    pipes = importlib.import_module(f"{lib.__name__}.utils.data.datapipes")
    own = {
        "wrap": pipes.iter.IterableWrapper,
        "keyed": pipes.map.SequenceWrapper,
        "load": data.DataLoader,
    }
    lib.manual_seed(0)
    try:
        return eval(program, {**globals(), **own, "pipes": pipes, "data": data})
    except Exception as error:  # noqa: BLE001  (PyTorch raises it bare)
        return type(error).__name__


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_as_pytorch(program):
    assert answer(torch, program) == answer(pt, program)


@pytest.mark.filterwarnings("ignore")
def test_a_pipe_of_a_users():
    class Twice(torch.utils.data.IterDataPipe):
        passes = 0

        def __init__(self, source):
            self.source = source

        def reset(self):
            self.passes += 1

        def __iter__(self):
            for x in self.source:
                yield 2 * x

    wrapped = torch.utils.data.datapipes.iter.IterableWrapper([1, 2])
    torch.utils.data.functional_datapipe("twice_in_a_test")(Twice)
    try:
        made = wrapped.twice_in_a_test()
        assert (list(made), list(made), made.passes) == ([2, 4], [2, 4], 2)
    finally:
        del torch.utils.data.IterDataPipe.functions["twice_in_a_test"]


def test_workers_take_their_shares():
    pipe = torch.utils.data.datapipes.iter.IterableWrapper(range(7)).sharding_filter()
    batches = torch.utils.data.DataLoader(pipe, batch_size=2, num_workers=2)
    assert sorted(x for b in batches for x in b.tolist()) == list(range(7))
