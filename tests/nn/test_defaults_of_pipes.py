"""What data pipes and helpers of loading take by default, beside PyTorch's."""

import importlib
import inspect

import pytest

oracle = pytest.importorskip("torch")
pytest.importorskip("mindtorch_nn")

MODULES = ["datapipes.iter", "datapipes.map", "sampler", "dataset", "distributed", "graph_settings"]


def functions(lib, module):
    """What a module shows that is called with parameters, by name."""
    there = importlib.import_module(f"{lib}.utils.data.{module}")
    return {
        name: getattr(there, name)
        for name in vars(there)
        if name[0] != "_" and callable(getattr(there, name))
    }


def defaults(function):
    """Names and defaults of parameters, where Python tells them and they are plain."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    plain = (bool, int, float, str, tuple, type(None))
    return [(p.name, p.default) for p in parameters if isinstance(p.default, plain)]


@pytest.mark.parametrize("module", MODULES)
def test_as_in_pytorch(module):
    ours, theirs = functions("mindtorch_core", module), functions("torch", module)
    shared = sorted(
        name
        for name in ours.keys() & theirs.keys()
        if theirs[name].__module__.startswith("torch.utils")
    )
    shared = [
        name for name in shared if name != "random_split"
    ]  # whose generator PyTorch names, and is ours by default
    assert shared
    assert {n: defaults(ours[n]) for n in shared} == {n: defaults(theirs[n]) for n in shared}


@pytest.mark.parametrize("options", [{}, {"deepcopy": False}], ids=str)
def test_passes_over_what_is_changed_meanwhile(options):
    def passes(lib):
        pipe = importlib.import_module(f"{lib}.utils.data.datapipes.iter").IterableWrapper(
            [[1], [2]], **options
        )
        for each in pipe:
            each.append(0)
        return [*pipe]

    assert passes("mindtorch_core") == passes("torch")


@pytest.mark.parametrize("group", [None, "DISTRIBUTED", "MULTIPROCESSING"])
def test_shares_of_one_group(group):
    def share(lib):
        pipes = importlib.import_module(f"{lib}.utils.data.datapipes.iter")
        sharding = importlib.import_module(
            f"{lib}.utils.data.datapipes.iter.sharding"
        ).SHARDING_PRIORITIES
        wanted = {} if group is None else {"sharding_group_filter": sharding[group]}
        pipe = pipes.ShardingFilter(pipes.IterableWrapper(range(13)), **wanted)
        pipe.apply_sharding(2, 1, sharding.DISTRIBUTED)
        pipe.apply_sharding(3, 2, sharding.MULTIPROCESSING)
        return [*pipe], len(pipe)

    assert share("mindtorch_core") == share("torch")


@pytest.mark.parametrize("options", [{}, {"conversion": list}, {"collate_fn": sum}, {"conversion": list, "collate_fn": sum}],
                         ids=str)  # fmt: skip
def test_what_collates(options):
    def batches(lib):
        pipe = importlib.import_module(f"{lib}.utils.data.datapipes.iter").IterableWrapper(
            [[1, 2], [3, 4]]
        )
        return [
            each.tolist() if hasattr(each, "tolist") else each for each in pipe.collate(**options)
        ]

    assert batches("mindtorch_core") == batches("torch")
