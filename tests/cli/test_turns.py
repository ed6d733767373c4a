"""How calls, and imports, are timed: with a clock that the calls themselves move."""

import json
import os
import subprocess
import timeit
from types import SimpleNamespace

import pytest

from mindtorch_core.measuring import imports, op_calls, peers, turns


class Clock:
    """Processor time that a statement takes, and how often it was asked to run at a time."""

    def __init__(self, each):
        self.each, self.now, self.counts = each, 0.0, []

    def timeit(self, count):
        self.counts.append(count)
        self.now += count * self.each
        return count * self.each


@pytest.fixture
def clock(monkeypatch):
    """Makes a clock of which a statement takes so much."""

    def made(each):
        found = Clock(each)

        def timer(statement, setup, time_of, scope):
            assert (statement, setup, time_of()) == ("f()", "gc.enable()", found.now)
            assert scope == {"f": 1, "gc": turns.gc}
            return found

        monkeypatch.setattr(timeit, "Timer", timer)
        monkeypatch.setattr(turns, "time", SimpleNamespace(process_time=lambda: found.now))
        return found

    return made


@pytest.mark.parametrize(
    ("each", "tried", "count"),
    [
        (1.9e-8, [7500, 39473, 78946], 157894),  # counts from what a tenth of a microsecond allows
        (
            0.9e-6,
            [833, 1666],
            3333,
        ),  # 833 take a little less than a quarter of a turn: twice as many
        (1.1e-6, [681, 1362], 2727),
        (5e-4, [2], 6),
        (7.5e-4, [], 4),
        (2e-3, [], 1),
        (1.0, [], 1),
    ],
)
def test_a_statement_runs_as_often_as_fills_a_turn(each, tried, count, clock):
    watched = clock(each)
    timed = turns.statement_timer("f()", {"f": 1})
    assert watched.counts == [100, 1, *tried]
    assert timed() == pytest.approx(each)
    assert timed() == pytest.approx(each)
    assert watched.counts[-2:] == [count] * 2


def test_to_wait_for_the_device_is_part_of_a_turn_but_not_what_was_queued_before(clock):
    watched, waits = clock(1e-3), iter([50.0, 0.6, 70.0, 0.9])

    def settle():
        watched.now += next(waits)

    timed = turns.statement_timer("f()", {"f": 1}, settle)
    assert timed() == pytest.approx(1e-3 + 0.6 / 3)
    assert timed() == pytest.approx(1e-3 + 0.9 / 3)
    assert watched.counts[-2:] == [3, 3]


def test_the_device_is_waited_for_at_both_ends_of_a_turn():
    waited = []
    timed = turns.statement_timer("x + 1", {"x": 1}, lambda: waited.append(True))
    assert waited == []
    assert timed() > 0
    assert len(waited) == 2


def test_the_ratio_is_the_median_over_rounds_of_the_fastest_turns():
    ours, theirs = iter([3, 1, 9, 4, 2, 7]), iter([2, 5, 3, 3, 1, 6])
    found = turns.interleaved(
        {"mindtorch": lambda: next(ours), "torch": lambda: next(theirs)}, turns.Schedule(3, 2)
    )
    assert found.ratio == {"torch": 1.3333}  # of 1/2, 4/3 and 2/1
    assert found.ns == {"mindtorch": 2e9, "torch": 2e9}


def test_peers_take_turns_and_every_second_round_goes_back():
    asked = []

    def timer(name, seconds):
        times = iter(seconds)
        return lambda: asked.append(name) or next(times)

    found = turns.interleaved(
        {"mindtorch": timer("a", [1.23456789e-6] * 6), "numpy": timer("b", [3e-6] * 6)},
        turns.Schedule(3, 2),
    )
    assert "".join(asked) == "abab" + "baba" + "abab"
    assert found == turns.Measured({"mindtorch": 1234.6, "numpy": 3000.0}, {"numpy": 0.4115})


@pytest.mark.parametrize(("numpy", "more"), [("", {}), ("b", {"numpy": "b"})])
def test_a_case_has_a_statement_for_numpy_where_it_is_given(numpy, more):
    assert turns.same("x", "a", numpy).statements == {"mindtorch": "a", "torch": "a", **more}


def test_a_case_is_timed_in_each_peer_that_has_it(monkeypatch):
    done = []
    monkeypatch.setattr(
        turns,
        "gc",
        SimpleNamespace(
            collect=lambda: done.append("collect"), freeze=lambda: done.append("freeze")
        ),
    )
    monkeypatch.setattr(
        turns, "statement_timer", lambda *given: done.append(given) or (lambda: 2.0)
    )
    group = turns.Group("g", 1.0, (turns.same("x", "a"),), lambda peer: {"of": peer}, "settle")
    found = turns.measure_group(group, iter(["torch", "numpy", "mindtorch"]), turns.Schedule(1, 1))
    assert done == [
        ("a", {"of": "torch"}, None), ("a", {"of": "mindtorch"}, "settle"), "collect", "freeze",
    ]  # fmt: skip
    assert found == {"x": turns.Measured({"torch": 2e9, "mindtorch": 2e9}, {"torch": 1.0})}


def test_a_group_is_summed_up_by_geometric_means():
    measured = {
        "a": turns.Measured({}, {"torch": 1.0, "numpy": 3.0}), "b": turns.Measured({}, {"torch": 2.0}),
        "c": turns.Measured({}, {}),
    }  # fmt: skip
    assert turns.summarise(turns.Group("g", None, ()), measured) == {"torch": 1.4142, "numpy": 3.0}
    assert turns.summarise(turns.Group("g", 0.0, ()), {}) == {"target": 0.0}


# ---- imports, peers ------------------------------------------------------------------------------------


def test_imports_are_compared_with_the_core_and_with_all_plugins(monkeypatch):
    seconds = {"nothing": 1.0, "core": 3.0, turns.OURS: 5.0, "torch": 9.0}
    taken = {line: seconds[name] for name, line in imports._LINES.items() if name in seconds}
    monkeypatch.setattr(imports, "run_python", taken.__getitem__)
    found = imports.measure_imports([turns.OURS, "torch"], turns.Schedule(rounds=2))
    assert {name: (row.ns[turns.OURS], row.ratio) for name, row in found.items()} == {
        "core alone": (2e9, {"torch": 0.25}),
        "core and plugins": (4e9, {"torch": 0.5}),
    }


def test_each_import_is_run_once_unmeasured_and_then_twice_a_round(monkeypatch):
    asked = []
    of = {line: name for name, line in imports._LINES.items()}
    taken = {
        "nothing": [9, 3, 2, 4, 3],
        "core": [99, 8, 7, 6, 9],
        "mindtorch": [99, 12, 14, 13, 15],
    }

    def run_python(line):
        asked.append(of[line])
        return float(taken[of[line]].pop(0))

    monkeypatch.setattr(imports, "run_python", run_python)
    found = imports.measure_imports(["mindtorch"], turns.Schedule(rounds=2))
    names = ["nothing", "core", "mindtorch"]
    assert asked == [*names, *[n for n in names for _ in range(2)] * 2]
    assert found["core alone"].ns == {"mindtorch": 4e9}  # of 7 - 2 and 6 - 3
    assert found["core and plugins"].ns == {"mindtorch": 10e9}


def test_an_interpreter_is_started_without_what_would_change_it(tmp_path, monkeypatch):
    resource = pytest.importorskip("resource")
    for name in ("MINDTORCH_BACKENDS", "PYTHONDONTWRITEBYTECODE", "OF_THIS_TEST"):
        monkeypatch.setenv(name, "1")
    used = iter(
        [SimpleNamespace(ru_utime=5.0, ru_stime=1.0), SimpleNamespace(ru_utime=7.0, ru_stime=1.5)]
    )
    monkeypatch.setattr(resource, "getrusage", lambda who: next(used))
    path = tmp_path / "environment"
    code = f"import json, os; open({str(path)!r}, 'w').write(json.dumps(dict(os.environ)))"
    assert imports.run_python(code) == 2.5
    seen = json.loads(path.read_text())
    assert seen["OF_THIS_TEST"] == "1"
    assert not {"MINDTORCH_BACKENDS", "PYTHONDONTWRITEBYTECODE"} & set(seen)
    monkeypatch.setattr(
        resource, "getrusage", lambda who: SimpleNamespace(ru_utime=0.0, ru_stime=0.0)
    )
    with pytest.raises(subprocess.CalledProcessError):
        imports.run_python("raise SystemExit(3)")


def test_modules_that_are_installed_are_told_from_others():
    assert peers.installed(["json", "nonesuch_of_this_test", "os"]) == ["json", "os"]


def test_threads_are_limited_by_every_variable(monkeypatch):
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "7")
    for given, text in (((), "1"), ((3,), "3")):
        peers.limit_threads(*given)
        assert {os.environ[n] for n in peers._THREADS} == {text}
    assert len(peers._THREADS) == 3


def test_pytorch_runs_in_one_thread(monkeypatch):
    threads = []
    theirs = SimpleNamespace(__version__="2.13.0", set_num_threads=threads.append)
    monkeypatch.setattr(peers, "installed", lambda names: list(names))
    monkeypatch.setattr(peers, "library", lambda peer: theirs)
    assert peers.pytorch() is theirs
    assert threads == [1]


# ---- ops -----------------------------------------------------------------------------------------------


def test_a_call_is_refused_by_who_raises_whatever_that_is():
    calls = []

    def f(*args, **kwargs):
        calls.append((args, kwargs))
        if kwargs.get("a") == 0:
            raise KeyError("a")

    names = {"f": f, "a0": 1, "a1": 2, "alpha": 3, "b0": 4}
    assert op_calls._takes(lambda peer: names, "torch")
    assert calls == [((1, 2), {"alpha": 3, "b0": 4})]
    assert not op_calls._takes(lambda peer: {"f": f, "a": 0}, "torch")
    assert not op_calls._takes(lambda peer: {"a0": 1}, "torch")


@pytest.mark.parametrize(
    ("recipes", "taken"),
    [([((), (0,))], 1), ([((), (2, 0, 3))], 1), ([((1.0,), (2,)), ((), (0,))], 1), ([((), (3,))], 1),
     ([(None, (0, 1))], 1), ([((1.0,), (1,))], 0), ([(None, ())], 0), ([], 0)],
)  # fmt: skip
def test_samples_without_elements_are_passed_over(recipes, taken, monkeypatch):
    def sample(number, recipes):
        made = [SimpleNamespace(values=v, shape=s) for v, s in recipes]
        return SimpleNamespace(
            number=number, recipes=lambda: made, args=[0] * number, kwargs={"k": 1}
        )

    samples = [sample(0, recipes), sample(1, [((1.0,), (1,))])]
    monkeypatch.setattr(op_calls, "_found", lambda name: ("p", samples))
    monkeypatch.setattr(op_calls, "_takes", lambda make, peer: True)
    (case,) = op_calls.op_group("x", "cpu", ["mindtorch"]).cases
    assert case.statements == {"mindtorch": ["f(k=k)", "f(a0, k=k)"][taken]}


@pytest.mark.parametrize(
    ("long", "shown"),
    [(79, "p" + "x" * 79), (80, "p" + "x" * 78 + "…"), (200, "p" + "x" * 78 + "…")],
)
def test_a_long_call_is_shown_by_its_beginning(long, shown, monkeypatch):
    class Sample:
        args, kwargs = (), {}

        def recipes(self):
            return ()

        def __str__(self):
            return "x" * long

    monkeypatch.setattr(op_calls, "_found", lambda name: ("p", [Sample()]))
    monkeypatch.setattr(op_calls, "_takes", lambda make, peer: True)
    (case,) = op_calls.op_group("x", "cpu", ["mindtorch"]).cases
    assert (case.name, len(case.name)) == (shown, 80)
