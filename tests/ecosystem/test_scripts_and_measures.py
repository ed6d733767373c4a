"""`torch.jit` without a compiler, measurements, files of the network: what programs get."""

import hashlib
import sys
import typing

import pytest
from two_libraries import agree, part, pt, said, table

import mindtorch_core as mt
from mindtorch_core.testing.comparison import outcome

# ---- scripts --------------------------------------------------------------------------------------

SAME = [
    "unused", "export", "interface", "script_if_tracing", "_script_if_tracing", "_overload_method", "_overload",
    "script_method", "ignore",
]  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_marks_of_scripts_leave_a_function_as_it_is(name):
    def function(x):
        return x + 1

    assert getattr(part(mt, "jit"), name)(function) is function


@pytest.mark.parametrize("drop", [True, False])
def test_ignored_functions_run_as_python(drop):
    @mt.jit.ignore(drop=drop)
    def function(x):
        return x + 1

    assert function(1) == 2


def test_values_with_types():
    jit = part(mt, "jit")
    assert jit.annotate(list[int], [1]) == [1]
    assert jit.Attribute(5, int) == 5
    assert jit.wait(jit.fork(lambda a, b=0: a + b, 1, b=2)) == 3
    with pytest.raises(RuntimeError, match="Future can't be None"):
        jit.wait(None)


TYPES = [
    ([1], typing.List[int]), ((1,), typing.List[int]), ({"a": 1}, typing.Dict[str, int]), (3, int), (3, str),  # noqa: UP006
    ([1], list[int]), (None, int),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
@pytest.mark.parametrize(("value", "kind"), TYPES, ids=str)
def test_types_of_values(value, kind):
    agree(lambda lib: lib.jit.isinstance(value, kind))


def test_frozen_modules_are_in_eval_mode():
    jit, model = part(mt, "jit"), mt.nn.Linear(2, 2)
    with pytest.raises(RuntimeError, match="currently only implemented for modules in eval mode"):
        jit.freeze(model)
    assert jit.optimize_for_inference(model) is model
    assert not model.training
    assert jit.freeze(model) is model
    assert jit.optimize_for_inference(3) == 3


def test_fusions_there_are_none_of():
    jit = part(mt, "jit")
    assert not jit.onednn_fusion_enabled()
    jit.enable_onednn_fusion(False)
    with pytest.raises(NotImplementedError, match=r"torch\.jit\.enable_onednn_fusion is not part"):
        jit.enable_onednn_fusion(True)
    with jit.optimized_execution(False), jit.strict_fusion():
        assert (mt.ones(2) + 1).tolist() == [2, 2]


# ---- measurements ---------------------------------------------------------------------------------


def _clock(*readings):
    """A clock whose readings stand in a list; the last goes on by a second."""
    left = list(readings)
    now = [0.0]

    def read():
        now[0] = left.pop(0) if left else now[0] + 1
        return now[0]

    return read


def _measurement(lib, times, number=1, **spec):
    common = part(lib, "utils.benchmark.utils.common")
    task = common.TaskSpec(stmt="x + 1", setup="pass", **spec)
    return common.Measurement(number, times, task)


@pytest.mark.parametrize("x", [1, 1234.5, -0.00123456, 9.99e-7, 99.96])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_digits(x, n):
    ours, theirs = (part(lib, "utils.benchmark.utils.common").trim_sigfig(x, n) for lib in (mt, pt))
    assert ours == pytest.approx(theirs, rel=1e-6)


def test_nothing_has_no_digits():
    assert part(mt, "utils.benchmark.utils.common").trim_sigfig(0, 3) == 0.0


UNITS = [0.0, 1e-12, 9.9e-7, 1e-6, 0.0123, 1.0, 5000.0]


@pytest.mark.parametrize("t", UNITS)
def test_units(t):
    common = part(mt, "utils.benchmark.utils.common")
    unit, size = common.select_unit(t)
    assert common.unit_to_english(unit).endswith("second")
    if t >= 1e-9:
        theirs = part(pt, "utils.benchmark.utils.common")
        assert (unit, size) == theirs.select_unit(t)
        assert common.unit_to_english(unit) == theirs.unit_to_english(unit)


def _facts(lib):
    made = _measurement(
        lib, [1.0, 2.0, 4.0, 9.0], 2, label="L", sub_label="s", description="d", num_threads=3
    )
    return (
        made.times, made.median, made.mean, made.iqr, made.title, made.as_row_name, made.label, made.description,
        made.num_threads, made.meets_confidence(0.1), made.meets_confidence(5.0), made.has_warnings,
        made.significant_figures, said(outcome(lambda: made.nothing))[0],
    )  # fmt: skip


MEASURES = {
    "facts": _facts,
    "titles": lambda lib: [
        _measurement(lib, [1.0]).title, _measurement(lib, [1.0], label="a").title,
        _measurement(lib, [1.0], label="a", sub_label="b").title, _measurement(lib, [1.0]).as_row_name,
    ],
}  # fmt: skip


@table(MEASURES)
def test_measurements(program):
    agree(program)


def test_a_measurement_of_nothing():
    made = _measurement(mt, [])
    with pytest.raises(ValueError, match="nothing was run"):
        _ = made.median
    assert repr(made).endswith("no measurements")


def test_a_measurement_in_plain_values():
    made = _measurement(mt, [1.0], 4, label="L")
    assert made.to_dict() == {
        "number_per_run": 4, "raw_times": [1.0], "metadata": None,
        "task_spec": {
            "stmt": "x + 1", "setup": "pass", "global_setup": "", "label": "L", "sub_label": None,
            "description": None, "env": None, "num_threads": 1,
        },
    }  # fmt: skip


def test_a_clock_that_is_slow_gives_few_runs():
    """Each reading is a second later: one run is longer than all that is asked for."""
    Timer, told = part(mt, "utils.benchmark").Timer, []
    timer = Timer("pass", timer=_clock())
    found = timer.blocked_autorange(lambda *each: told.append(each), min_run_time=2.5)
    assert (found.number_per_run, found.raw_times) == (10, [1.0, 1.0, 1.0]) or found.raw_times == [
        1.0
    ] * 3
    assert told == [(found.number_per_run, 1.0)] * 3
    told.clear()
    found = timer.adaptive_autorange(
        0.1, min_run_time=2, max_run_time=9, callback=lambda *e: told.append(e)
    )
    assert len(found.raw_times) == len(told) == 4
    assert found.number_per_run == told[0][0]


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: part(lib, "utils.benchmark").Timer(3),
        lambda lib: part(lib, "utils.benchmark").Timer("pass", global_setup="int i;"),
        lambda lib: part(lib, "utils.benchmark").Timer("pass").repeat(3),
        lambda lib: part(lib, "utils.benchmark").Timer("pass").autorange(),
    ],
    ids=["no text", "of C++", "repeat", "autorange"],
)
def test_timers_that_are_refused(call):
    agree(call)


def test_a_table_is_printed(capsys):
    compare = part(mt, "utils.benchmark").Compare(
        [_measurement(mt, [1.0], label="L", description="d")]
    )
    compare.highlight_warnings()
    compare.print()
    assert capsys.readouterr().out == f"{compare}\n"


# ---- files of the network -------------------------------------------------------------------------


@pytest.fixture
def home(monkeypatch, tmp_path):
    hub = part(mt, "hub")
    monkeypatch.setattr(hub, "_folder", {})
    monkeypatch.delenv("TORCH_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_the_folder_of_downloads(home, monkeypatch):
    pt_hub = part(pt, "hub")
    monkeypatch.setattr(pt_hub, "_hub_dir", None)
    hub = part(mt, "hub")
    assert hub.get_dir() == pt_hub.get_dir() == str(home / "cache" / "torch" / "hub")
    monkeypatch.setenv("TORCH_HOME", str(home / "own"))
    assert hub.get_dir() == pt_hub.get_dir() == str(home / "own" / "hub")
    for each in (hub, pt_hub):
        each.set_dir("~/models")
    assert hub.get_dir() == pt_hub.get_dir()
    assert not hub.get_dir().startswith("~")


@pytest.mark.parametrize("progress", [True, False])
def test_a_download_is_checked_and_shown(home, capsys, progress):
    source, target = home / "source", home / "target"
    source.write_bytes(b"content")
    digest = hashlib.sha256(b"content").hexdigest()
    hub = part(mt, "hub")
    hub.download_url_to_file(source.as_uri(), str(target), digest[:8], progress=progress)
    assert target.read_bytes() == b"content"
    assert bool(capsys.readouterr().err) is progress
    target.unlink()
    with pytest.raises(RuntimeError, match=r'invalid hash value \(expected "0000"'):
        hub.download_url_to_file(source.as_uri(), str(target), "0000", progress=False)
    assert sorted(each.name for each in home.iterdir()) == ["source"]


def test_what_is_kept_is_not_loaded_again(home, capsys):
    hub, file = part(mt, "hub"), home / "weights.pth"
    mt.save({"a": mt.ones(2)}, file)
    first = hub.load_state_dict_from_url(file.as_uri(), progress=False)
    assert "Downloading" in capsys.readouterr().err
    file.unlink()
    again = hub.load_state_dict_from_url(file.as_uri(), progress=False)
    assert capsys.readouterr().err == ""
    assert first["a"].tolist() == again["a"].tolist() == [1, 1]


def test_models_of_a_folder(home):
    hub = part(mt, "hub")
    (home / "hubconf.py").write_text(
        "dependencies = ['sys']\ndef model(n=1):\n    'Makes one.'\n    return n\n_hidden = model\nword = 3\n"
    )
    path = list(sys.path)
    assert hub.list(str(home), source="local") == ["model"]
    assert hub.help(str(home), "model", source="local") == "Makes one."
    assert hub.load(str(home), "model", n=5, source="local", trust_repo=True) == 5
    for name in ("word", "nothing"):
        with pytest.raises(RuntimeError, match=f"Cannot find callable {name} in hubconf"):
            hub.load(str(home), name, source="local")
    with pytest.raises(
        ValueError, match=r'Unknown source: "elsewhere"\. Allowed values: "github" \| "local"'
    ):
        hub.load(str(home), "model", source="elsewhere")
    with pytest.raises(NotImplementedError, match="clone a/b yourself"):
        hub.load("a/b", "model")
    (home / "hubconf.py").write_text("dependencies = ['sys', 'a_package_that_is_not_there']\n")
    with pytest.raises(RuntimeError, match=r"Missing dependencies: a_package_that_is_not_there$"):
        hub.list(str(home), source="local")
    assert sys.path == path
