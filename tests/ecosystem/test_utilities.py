"""What stands under ``torch.utils`` around tensors, and modules of types and names."""

import importlib
import io
import pickle
import re
import subprocess
import sys

import pytest

import mindtorch_core as torch
from mindtorch_core.ecosystem import errors, extensions
from mindtorch_core.utils import benchmark, collect_env


def ticking(step):
    """A clock that goes on by so many seconds with every look."""
    now = 0.0

    def clock():
        nonlocal now
        now += step
        return now

    return clock


def test_a_timer():
    timer = benchmark.Timer(
        "\n    y = x + 1\n", setup="x = torch.ones(3)", timer=ticking(0.5), label="add",
        sub_label="3", description="plus", num_threads=2,
    )  # fmt: skip
    made = timer.timeit(number=5)
    assert made.times == [0.1]
    assert made.median == made.mean == 0.1
    assert (made.number_per_run, made.num_threads, made.title) == (5, 2, "add: 3")
    assert "add: 3\nplus\nsetup: x = torch.ones(3)" in repr(made)
    assert "100 ms" in repr(made)
    several = timer.blocked_autorange(min_run_time=2)
    assert len(several.times) == 4
    assert several.iqr == 0
    assert not several.has_warnings
    for measure in (timer.adaptive_autorange,):
        assert measure(min_run_time=1, max_run_time=3).times


def test_a_timer_refuses():
    with pytest.raises(NotImplementedError, match=r"C\+\+"):
        benchmark.Timer("f();", language="c++")
    with pytest.raises(NotImplementedError, match="valgrind"):
        benchmark.Timer("1").collect_callgrind()
    with pytest.raises(NotImplementedError, match="blocked_autorange"):
        benchmark.Timer("1").repeat()


def measured(times, **names):
    return benchmark.Measurement(1, times, benchmark.TaskSpec("f()", "pass", **names))


def test_a_table_of_measurements():
    found = [
        measured([1e-6], label="mm", sub_label="small", description="here"),
        measured([3e-6], label="mm", sub_label="small", description="there"),
        measured([20e-6, 30e-6], label="mm", sub_label="large", description="here"),
    ]
    shown = str(benchmark.Compare(found))
    assert re.search(r"\[-+ mm -+\]", shown)
    assert re.search(r"small +\| +1\.0 +\| +3\.0", shown)
    assert re.search(r"large +\| +25\.0 +\|", shown)
    assert "microseconds (us)" in shown
    compare = benchmark.Compare(found)
    compare.colorize()
    compare.trim_significant_figures()
    assert "\033[92m" in str(compare)
    with pytest.raises(ValueError, match="Measurement"):
        compare.extend_results([1])


def test_measurements_merge_and_know_their_spread():
    wide = measured([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (wide.median, wide.iqr) == (3.0, 2.0)
    assert wide.has_warnings
    assert "WARNING" in repr(wide)
    (merged,) = benchmark.Measurement.merge([measured([1.0]), measured([3.0])])
    assert merged.times == [1.0, 3.0]
    assert benchmark.select_unit(2e-3) == ("ms", 1e-3)
    assert benchmark.trim_sigfig(0.012345, 2) == 0.012
    assert pickle.loads(pickle.dumps(wide)).times == wide.times


@pytest.mark.parametrize("times", [[2.0], [1.0, 2.0, 3.0, 4.0, 5.0], [4.0, 4.0, 5.0, 5.0]], ids=str)
def test_the_spread_that_is_trusted_is_pytorchs(times):
    theirs = pytest.importorskip("torch.utils.benchmark")
    of_theirs = theirs.Measurement(1, times, theirs.TaskSpec("f()", "pass"))
    ratio = of_theirs.iqr / of_theirs.median
    for threshold in (0.0, ratio / 2, ratio, ratio * 2, 0.1):
        found = measured(times).meets_confidence(threshold)
        assert found is bool(of_theirs.meets_confidence(threshold)), threshold
    assert measured(times).has_warnings is bool(of_theirs.has_warnings)


def test_what_the_machine_is_is_printed(capsys, monkeypatch):
    monkeypatch.setattr(collect_env, "get_pretty_env_info", lambda: "what is known")
    collect_env.main()
    assert capsys.readouterr().out == "Collecting environment information...\nwhat is known\n"


def test_what_the_machine_is():
    text = collect_env.get_pretty_env_info()
    assert f"Python version: {sys.version.split()[0]}" in text
    assert re.search(r"^PyTorch version: 2\.\d+", text, re.MULTILINE)
    assert "mindtorch-core==" in text


def test_named_results_have_a_module():
    made = torch.ones(2, 3).max(0)
    assert type(made) is torch.return_types.max
    assert type(torch.ones(3).sort(stable=True)) is torch.return_types.sort
    for same in (
        pickle.loads(pickle.dumps(made)),
        type(made)(tuple(made), {}),
    ):  # as PyTorch's pickles
        assert torch.equal(same.indices, made.indices)
        assert torch.equal(same.values, made.values)
    assert made.__reduce__() == (type(made), (tuple(made), {}))
    with pytest.raises(AttributeError, match="nonesuch"):
        torch.return_types.nonesuch
    with pytest.raises(AttributeError, match="add"):
        torch.return_types.add


def test_modules_of_names():
    sizes = importlib.import_module("mindtorch_core.nn.common_types")
    assert sizes._size_2_t == int | tuple[int, int]
    functional = importlib.import_module("mindtorch_core.functional")
    assert functional.einsum is torch.einsum
    variable = importlib.import_module("mindtorch_core.autograd.variable").Variable
    x = variable(torch.ones(2), requires_grad=True)
    assert x.requires_grad
    assert isinstance(x, variable)
    assert not isinstance(1, variable)
    assert not torch.autograd._profiler_enabled()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_gradients_of_convolutions(n):
    grad = importlib.import_module("mindtorch_core.nn.grad")
    x = torch.randn(2, 3, *(6,) * n, requires_grad=True)
    weight = torch.randn(4, 3, *(3,) * n, requires_grad=True)
    out = getattr(torch.nn.functional, f"conv{n}d")(x, weight, stride=2, padding=1)
    g = torch.randn(*out.shape)
    out.backward(g)
    options = {"stride": 2, "padding": 1}
    of_x = getattr(grad, f"conv{n}d_input")(x.shape, weight.detach(), g, **options)
    of_weight = getattr(grad, f"conv{n}d_weight")(x.detach(), weight.shape, g, **options)
    assert torch.allclose(of_x, x.grad, atol=1e-5)
    assert torch.allclose(of_weight, weight.grad, atol=1e-4)


def test_functions_that_pickles_of_tensors_call():
    from mindtorch_core import _utils

    x = torch.arange(6.0)
    kept = torch.TypedStorage(wrap_storage=x.untyped_storage(), dtype=x.dtype, _internal=True)
    made = _utils._rebuild_tensor_v2(kept, 0, (2, 3), (3, 1), False, None)
    assert made.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(AttributeError, match="nonesuch"):
        _utils.nonesuch


def test_pickles_of_pytorch_are_read():
    pt = pytest.importorskip("torch")
    given = {
        "b": pt.tensor([1.5, -2], dtype=pt.bfloat16),
        "s": pt.tensor([0.0, 3]).to_sparse(),
        "w": pt.nn.Parameter(pt.ones(2, 3).t()),
    }

    class Unpickler(pickle.Unpickler):
        def find_class(self, module, name):
            home = re.sub("^torch", "mindtorch_core", module)
            return getattr(importlib.import_module(home), name)

    read = Unpickler(io.BytesIO(pickle.dumps(given))).load()
    assert (read["b"].tolist(), read["b"].dtype) == ([1.5, -2], torch.bfloat16)
    assert (read["s"].to_dense().tolist(), read["s"].layout) == ([0, 3], torch.sparse_coo)
    assert (type(read["w"]), read["w"].stride()) == (torch.nn.Parameter, (1, 3))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ModuleNotFoundError("No module named 'triton'", name="triton.language"), "pipeline"),
        (ModuleNotFoundError("No module named 'flash_attn'", name="flash_attn"), "sdpa"),
        (OSError("libtorch_cpu.so: cannot open shared object file"), "libtorch_cpu.so.*PyTorch"),
        (OSError("c10.dll is missing"), "c10.dll"),
    ],
    ids=["triton", "flash_attn", "libtorch", "c10"],
)
def test_notes_on_errors(error, said):
    assert re.search(said, errors.note_on(error))


def test_most_errors_have_no_note():
    for error in (ModuleNotFoundError("x", name="nonesuch"), OSError("no such file"), ValueError()):
        assert errors.note_on(error) == ""


def test_ops_and_libraries_that_are_not_there():
    with pytest.raises(AttributeError, match=r"no op of 'nonesuch' is registered.*extensions"):
        torch.ops.nonesuch.op
    with pytest.raises(OSError, match=r"'libfoo\.so': foo is compiled against PyTorch"):
        extensions.load_library("libfoo.so")


def test_a_module_is_run_by_its_path():
    done = subprocess.run(
        [sys.executable, "-m", "mindtorch_core", "run", "-m", "torch.utils.collect_env"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "mindtorch version" in done.stdout
