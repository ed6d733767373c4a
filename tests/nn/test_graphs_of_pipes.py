"""What graphs of data pipes are told at once, against PyTorch's."""

import importlib
import warnings

import pytest

pytest.importorskip("torch")
FROM = {"here": "mindtorch_core", "PyTorch": "torch"}


class Names:
    """What a library has for pipes."""

    def __init__(self, library):
        torch = self.torch = importlib.import_module(library)
        data = f"{library}.utils.data"
        self.settings = importlib.import_module(f"{data}.graph_settings")
        self.graph = importlib.import_module(f"{data}.graph")
        self.loader = importlib.import_module(data).DataLoader
        self.wrap = importlib.import_module(f"{data}.datapipes.iter").IterableWrapper
        self.groups = importlib.import_module(f"{data}.datapipes.iter.sharding").SHARDING_PRIORITIES
        torch.manual_seed(4)


def seeds(n):
    pipe = n.wrap(list(range(10))).shuffle(buffer_size=3).map(str)
    assert n.settings.apply_shuffle_settings(pipe, shuffle=True) is pipe
    n.settings.apply_random_seed(pipe, n.torch.Generator().manual_seed(5))
    return list(pipe)


def shares(n):
    pipe, groups = n.wrap(list(range(24))).sharding_filter(), n.groups
    n.settings.apply_sharding(pipe, 2, 1, groups.DISTRIBUTED)
    n.settings.apply_sharding(pipe, 3, 2, groups.MULTIPROCESSING)
    return list(pipe), len(pipe)


def no_such_share(n):
    n.settings.apply_sharding(n.wrap([1]).sharding_filter(), 2, 2)


def shares_of_two_kinds(n):
    pipe = n.wrap([1]).sharding_filter()
    n.settings.apply_sharding(pipe, 2, 1)
    n.settings.apply_sharding(pipe, 2, 1, n.groups.DISTRIBUTED)


def shares_of_shares(n):
    n.settings.apply_sharding(n.wrap([1]).sharding_filter().map(str).sharding_filter(), 2, 0)


def graph(n):
    source = n.wrap(list(range(6)))
    found = n.graph.traverse_dps(source.map(str).zip(source.shuffle()))
    return len(found), [type(each).__name__ for each in n.settings.get_all_graph_pipes(found)]


def no_pipe(n):
    n.graph.traverse_dps([1])


def a_pipe_that_shuffles_is_added(n):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        pipe = n.settings.apply_shuffle_settings(n.wrap([1, 2]).map(str), True)
        same = n.settings.apply_shuffle_settings(n.wrap([1, 2]), False)
        loader = n.loader(n.wrap(list(range(9))), shuffle=True)
    kinds = [type(each).__name__ for each in (pipe, same)]
    return kinds, sorted(map(int, loader)), [(each.category, str(each.message)) for each in told]


def names_of_old(n):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        pipe = n.wrap([1]).shuffle()
        n.graph.traverse(pipe)
        n.settings.apply_shuffle_seed(pipe, n.torch.Generator())
    return [each.category for each in told]


def passes_with_workers(n):
    loader = n.loader(n.wrap(list(range(9))).shuffle(), batch_size=4, num_workers=2)
    return [[batch.tolist() for batch in loader] for _ in range(2)]


CASES = [
    seeds, shares, no_such_share, shares_of_two_kinds, shares_of_shares, graph, no_pipe,
    a_pipe_that_shuffles_is_added, names_of_old, passes_with_workers,
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[each.__name__ for each in CASES])
def test_as_pytorch(case):
    found = {}
    for name, library in FROM.items():
        try:
            found[name] = case(Names(library))
        except (RuntimeError, ValueError) as error:
            text = str(error).replace("mindtorch_nn", "torch").partition(" already applied")[0]
            found[name] = type(error), text.partition("but <class")[0]
    assert found["here"] == found["PyTorch"]
    assert found["here"]
