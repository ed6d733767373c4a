"""Settings of PyTorch's compilers have its names, values and `patch`; counts of `torch.compile` are real."""

import importlib

import pytest

import mindtorch_core as torch
from mindtorch_core.ecosystem import compiler_settings

oracle = pytest.importorskip("torch")

MODULES = {
    "_dynamo.config": compiler_settings.DYNAMO,
    "_inductor.config": compiler_settings.INDUCTOR,
    "_functorch.config": compiler_settings.FUNCTORCH,
    "compiler.config": compiler_settings.COMPILER,
}
OF_THE_MACHINE = {"compile_threads"}


@pytest.mark.filterwarnings("ignore:.*is deprecated")
@pytest.mark.parametrize("name", MODULES)
def test_values_are_those_of_pytorch(name):
    theirs = importlib.import_module(f"torch.{name}")
    ours = importlib.import_module(f"mindtorch_core.{name}")
    for key, value in MODULES[name].items():
        if key in OF_THE_MACHINE or key == "patch":
            continue
        if value.__class__.__module__ == "types":  # a section
            for inner, wanted in vars(value).items():
                assert getattr(getattr(theirs, key), inner) == wanted, f"{key}.{inner}"
        else:
            assert getattr(theirs, key) == value == getattr(ours, key), key


@pytest.mark.parametrize("package", ["torch", "mindtorch_core"])
def test_patch(package):
    config = importlib.import_module(f"{package}._inductor.config")
    before = config.max_autotune, config.triton.cudagraphs
    with config.patch("max_autotune", not before[0]):
        assert config.max_autotune is not before[0]
        with config.patch({"triton.cudagraphs": True, "max_autotune": before[0]}):
            assert config.triton.cudagraphs is True

    @config.patch(max_autotune=True)
    def inside():
        return config.max_autotune

    assert inside() is True
    assert (config.max_autotune, config.triton.cudagraphs) == before
    for wrong, text in (
        (("max_autotune",), "first argument must be a dict when passing a single positional arg"),
        ((1, 2), "first argument must be a string when passing 2 positional args"),
    ):
        with pytest.raises(AssertionError, match=text):
            config.patch(*wrong)
    with pytest.raises(AssertionError, match="cannot pass both"):
        config.patch({"max_autotune": True}, debug=True)
    with pytest.raises(AttributeError, match="no_such_setting"), config.patch(no_such_setting=1):
        pass
    with pytest.raises(ZeroDivisionError), config.patch(max_autotune=True):
        1 / 0
    assert config.max_autotune is before[0]


def test_settings_can_be_set():
    config = torch._dynamo.config
    config.cache_size_limit = 64
    try:
        assert torch._dynamo.config.cache_size_limit == 64
        with torch._dynamo.patch_dynamo_config(cache_size_limit=3):
            assert config.cache_size_limit == 3
        assert config.cache_size_limit == 64
    finally:
        config.cache_size_limit = 8


def counted(run):
    counters = torch._dynamo.utils.counters
    counters.clear()
    run()
    found = {name: dict(inner) for name, inner in counters.items()}
    counters.clear()
    return found


def test_counters_count_graphs_and_breaks():
    @torch.compile
    def whole(x):
        return (x * 2 + 1).relu()

    @torch.compile
    def broken(x):
        y = x * 2
        if y.sum() > 0:
            y = y + 1
        return y

    def run(fn):
        for n in (2, 2, 3, 2):
            fn(torch.ones(n))

    assert counted(lambda: run(whole)) == {
        "frames": {"total": 2, "ok": 2},
        "stats": {"calls_captured": 6, "unique_graphs": 2},
    }
    found = counted(lambda: run(broken))
    assert found["frames"] == {"total": 2, "ok": 2}
    assert found["stats"]["unique_graphs"] == 4
    ((line, times),) = found["graph_break"].items()
    assert line.startswith("bool() at ")
    assert __file__ in line
    assert times == 2
    torch._dynamo.reset()
    assert counted(lambda: run(whole))["frames"] == {"total": 2, "ok": 2}


def test_what_raises_is_a_frame_that_is_not_ok():
    @torch.compile
    def fn(x):
        raise ValueError("no")

    def run():
        with pytest.raises(ValueError, match="no"):
            fn(torch.ones(2))

    assert counted(run) == {"frames": {"total": 1}}


def test_inner_names_of_dynamo():
    dynamo = torch._dynamo

    def fn(x):
        return x + 1

    assert dynamo.eval_frame.innermost_fn(torch.compile(fn)) is fn
    assert dynamo.nonstrict_trace(fn) is dynamo.forbid_in_graph(fn) is fn
    assert not dynamo.is_inductor_supported()
    with dynamo.error_on_graph_break(True), torch._inductor.utils.fresh_inductor_cache():
        dynamo.skip_frame()
    assert dynamo.backends.registry.list_backends() == dynamo.list_backends()
    with pytest.raises(AttributeError):
        torch._dynamo.config.no_such_setting
