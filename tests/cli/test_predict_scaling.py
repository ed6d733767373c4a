"""`mindtorch predict-scaling`: its arithmetic by hand-computed values, and what it refuses."""

import json
import math
import xml.etree.ElementTree as ET

import pytest

from mindtorch_core.cli import main, predict_scaling
from mindtorch_core.measuring.scaling.formulas import (
    call_time,
    gather_time,
    reduce_time,
    slowest,
    tree_depth,
)
from mindtorch_core.measuring.scaling.networks import Level, Network, NetworkError, read_network
from mindtorch_core.measuring.scaling.plot import efficiency_plot
from mindtorch_core.measuring.scaling.prediction import Predicted
from mindtorch_core.measuring.scaling.steps import (
    Message,
    Step,
)
from mindtorch_core.measuring.scaling.time_tables import TimeTable

GOOD = """
name = "a network"
[[level]]
name = "inside"
ranks = 8
latency_us = 1
bandwidth_gbit = 80
[[level]]
name = "between"
latency_us = 10
bandwidth_gbit = 8
"""
OPS = ["all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "barrier"]


# ---- formulas ------------------------------------------------------------------------------------


def test_a_large_all_reduce_is_a_ring():
    # 2 (n - 1) hops, and 2 (n - 1) / n of the bytes: 14 * 1e-6 + 1.75 * 1e9 * 1e-9
    assert reduce_time(8, 1e9, 1e-6, 1e-9) == pytest.approx(14e-6 + 1.75)


def test_a_small_all_reduce_is_a_tree():
    assert reduce_time(1024, 4, 1e-6, 1e-9) == pytest.approx(2 * 10 * (1e-6 + 4e-9))


def test_gathering_sends_all_but_the_own_part():
    assert gather_time(4, 1e6, 1e-6, 1e-9) == pytest.approx(2e-6 + 0.75e-3)
    assert gather_time(3, 3e6, 1e-6, 1e-9) == pytest.approx(2e-6 + 2e-3)


@pytest.mark.parametrize("op", ["broadcast", "reduce"])
def test_a_large_message_is_cut_up_for_a_tree_and_gathered_by_a_ring(op):
    # 3 hops with 7/8 of the bytes in all, then 7 hops with as many again; a small one goes whole
    assert call_time(op, 8, 1e9, 1e-6, 1e-9) == pytest.approx(3e-6 + 7e-6 + 1.75)
    assert call_time(op, 8, 4, 1e-6, 1e-9) == pytest.approx(3 * (1e-6 + 4e-9))


def test_all_to_all_sends_a_part_to_each_other_rank():
    assert call_time("all_to_all", 4, 1e6, 1e-6, 1e-9) == pytest.approx(3e-6 + 0.75e-3)
    assert call_time("all_to_all", 1, 1e6, 1e-6, 1e-9) == 0


@pytest.mark.parametrize(("n", "depth"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (1024, 10)])
def test_the_depth_of_a_tree(n, depth):
    assert tree_depth(n) == depth


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("n", [1, 2, 3, 8, 1000])
def test_times_grow_with_bytes_and_fall_with_bandwidth(op, n):
    sizes = [0, 1, 1e3, 1e6, 1e9]
    times = [call_time(op, n, size, 1e-6, 1e-9) for size in sizes]
    assert times == sorted(times)
    faster = [call_time(op, n, size, 1e-6, 1e-10) for size in sizes]
    assert all(a <= b for a, b in zip(faster, times, strict=True))
    assert n > 1 or not any(times)


def test_the_slowest_of_many_is_slower():
    factors = [slowest(n, 0.1) for n in (1, 2, 4, 64, 1024)]
    assert factors == sorted(factors)
    assert factors[0] == 1.0
    assert factors[1] == pytest.approx(1 + 0.1 / math.sqrt(math.pi), abs=0.003)
    assert factors[3] == pytest.approx(1 + 0.1 * 2.3436, abs=0.003)  # tables of order statistics
    assert slowest(1024, 0.0) == 1.0


# ---- tables of times -----------------------------------------------------------------------------


def test_a_table_goes_through_its_points():
    points = {64: 1e-5, 4096: 3e-5, 1 << 20: 1e-3}
    table = TimeTable(points)
    assert {size: table(size) for size in points} == points


def test_between_points_the_logarithm_is_straight():
    table = TimeTable({100: 1.0, 10_000: 100.0})
    assert table(1000) == pytest.approx(10.0)
    assert table(100_000) == pytest.approx(1000.0)
    assert table(1) == 1.0


def test_a_table_never_falls():
    table = TimeTable({10: 2.0, 100: 1.0, 1000: 30.0})
    times = [table(size) for size in range(1, 3000, 7)]
    assert times == sorted(times)


@pytest.mark.parametrize("points", [{}, {0: 1.0}, {4: 0.0}, {4: -1.0}])
def test_a_table_without_sense_is_refused(points):
    with pytest.raises(ValueError, match="positive"):
        TimeTable(points)


# ---- networks ------------------------------------------------------------------------------------


def written(tmp_path, text):
    path = tmp_path / "net.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_description_is_read(tmp_path):
    found = read_network(written(tmp_path, GOOD))
    assert found.name == "a network"
    assert found.overlap is None
    inside, between = found.levels
    assert (inside.name, inside.ranks, inside.bandwidth) == ("inside", 8, 1e10)
    assert (between.ranks, between.bandwidth) == (None, 1e9)
    assert between.latency == pytest.approx(1e-5)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('name = "a network"', "", "'name' is missing"),
        ('name = "a network"', "name = 3", "'name' must be a text"),
        ('name = "between"', "", r"'level\[1\].name' is missing"),
        ("latency_us = 10\n", "", r"'level\[1\].latency_us' is missing"),
        ("latency_us = 10\n", "latency_us = -1\n", r"'level\[1\].latency_us' .*negative"),
        ("latency_us = 10\n", "latency_us = nan\n", r"'level\[1\].latency_us' must be finite"),
        ("latency_us = 10\n", "latency_us = true\n", r"'level\[1\].latency_us' must be a number"),
        ("bandwidth_gbit = 80", "bandwidth_gbit = 0", r"'level\[0\].bandwidth_gbit' .*more than 0"),
        ("bandwidth_gbit = 80", 'bandwidth_gbit = "80"', r"bandwidth_gbit' must be a number"),
        ("bandwidth_gbit = 80", "bandwith_gbit = 80", r"'level\[0\].bandwith_gbit' is not known"),
        ("ranks = 8", "", r"'level\[0\].ranks' is missing"),
        ("ranks = 8", "ranks = 1", r"'level\[0\].ranks' must be a multiple of 1 and more"),
        ("ranks = 8", "ranks = 8.5", r"'level\[0\].ranks' must be an integer"),
        ("latency_us = 10\n", "latency_us = 10\nranks = 64\n", "the last level joins all ranks"),
        ('name = "a network"', 'name = "a"\nspeed = 1', "'speed' is not known"),
        ('name = "a network"', 'name = "a"\noverlap = 2', "'overlap' .*between 0 and 1"),
        ('name = "a network"', "name = ", "net.toml"),
    ],
)
def test_an_error_names_file_and_key(tmp_path, old, new, told):
    assert old in GOOD
    with pytest.raises(NetworkError, match=told) as caught:
        read_network(written(tmp_path, GOOD.replace(old, new)))
    assert "net.toml" in str(caught.value)


@pytest.mark.parametrize("text", ['name = "a"', 'name = "a"\nlevel = []', 'name = "a"\nlevel = 3'])
def test_a_description_without_levels_is_refused(tmp_path, text):
    with pytest.raises(NetworkError, match="'level' must be one or more tables"):
        read_network(written(tmp_path, text))


def test_a_network_of_two_levels_reduces_parts_between_nodes(tmp_path):
    found = read_network(written(tmp_path, GOOD))
    size = 8e9
    inside = 3e-6 + 2 * gather_time(8, size, 1e-6, 1e-10)
    between = 1e-5 + reduce_time(2, size / 8, 1e-5, 1e-9)
    assert found.time("all_reduce", size, 16) == pytest.approx(inside + between)
    assert found.time("all_reduce", size, 8) == pytest.approx(
        3e-6 + reduce_time(8, size, 1e-6, 1e-10)
    )
    assert found.time("all_reduce", size, 1) == 0.0


@pytest.mark.parametrize("op", OPS)
def test_a_faster_network_is_no_slower(op):
    def net(speed):
        return Network("n", (Level("in", 1e-6, speed * 1e10, 8), Level("out", 1e-5, speed * 1e9)))

    for ranks in (2, 8, 9, 1024):
        assert net(2).time(op, 1e7, ranks) <= net(1).time(op, 1e7, ranks)
        assert net(1).time(op, 1e6, ranks) <= net(1).time(op, 1e7, ranks)


@pytest.mark.parametrize("name", ["ethernet_100", "infiniband_200", "npu_hccs_roce"])
def test_the_described_networks_can_be_read(name, pytestconfig):
    found = read_network(pytestconfig.rootpath / "docs" / "networks" / f"{name}.toml")
    assert found.time("all_reduce", 1e8, 1024) > found.time("all_reduce", 1e8, 8) > 0


# ---- the plot ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script", ["train.py", "</text><script>x</script>&\"'.py", "a\x00\x1b\ud800b.py"]
)
def test_a_plot_is_well_formed(script):
    points = [Predicted(n, 1.0, 1.0, 0.0, 1 / n) for n in (1, 2, 3)]
    text = efficiency_plot(script, "a <network> & more", points)
    root = ET.fromstring(text.encode("utf-8"))
    assert {each.tag.partition("}")[2] for each in root.iter()} == {
        "svg", "title", "rect", "text", "path", "polyline", "circle",
    }  # fmt: skip
    shown = root[0].text
    assert shown.startswith("Predicted, not measured: ")
    assert "a <network> & more" in shown
    assert "\x1b" not in text


def test_a_plot_of_one_point_is_well_formed():
    ET.fromstring(efficiency_plot("a.py", "n", [Predicted(1, 1.0, 1.0, 0.0, 1.0)]))


# ---- what the command refuses --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--ranks", "0"], "--ranks must be at least 1, got 0"),
        (["--measure", "2,4"], "--measure wants 1 and numbers up to 16, got '2,4'"),
        (["--measure", "1,100"], "--measure wants 1 and numbers up to 16"),
        (["--measure", "0,1"], "--measure wants 1 and numbers"),
        (["--measure", "one"], "--measure wants numbers such as 1,2,4, got 'one'"),
        (["--plot", "a.png"], "--plot draws an .svg"),
        (["--plot", "no/folder/a.svg"], "there is no folder"),
        (["--network", "none.toml"], "cannot read 'none.toml'"),
    ],
)
def test_what_makes_no_sense_is_one_line(more, told, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, GOOD)
    (tmp_path / "train.py").write_text("pass\n", "utf-8")
    given = ["predict-scaling", "--ranks", "8", "--network", "net.toml", *more, "train.py"]
    assert main(given) == 2
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1


@pytest.fixture
def foretold(tmp_path, capsys, monkeypatch):
    """``foretold(steps)``: the table of predictions, and which numbers of ranks were run.

    ``steps(count, of)`` gives a copy's step: one of ``count`` ranks, or alone of ``of`` ranks; None if it fails.
    """
    (tmp_path / "net.toml").write_text(GOOD, "utf-8")
    script = tmp_path / "train.py"
    script.write_text("", "utf-8")

    def run(steps):
        seen = []

        def stand_in(_, count, *, of=0):
            seen.append(of or count)
            step = steps(count, of)
            if step is None:
                raise predict_scaling._Failed(1)
            return [[step] * 5] * count

        monkeypatch.setattr(predict_scaling, "_steps", stand_in)
        monkeypatch.setattr(predict_scaling, "_see_engine", lambda: None)
        options = ["--ranks", "16", "--network", str(tmp_path / "net.toml"), "--measure", "1"]
        assert main(["predict-scaling", "--json", *options, str(script)]) == 0
        return json.loads(capsys.readouterr().out)["predictions"], seen[1:]

    return run


def test_a_batch_that_stays_is_run_on_the_largest_number_alone(foretold):
    found, seen = foretold(lambda count, of: Step(1.05 if of else 1.0))
    assert seen == [16]
    assert [p["ranks"] for p in found] == [1, 2, 4, 8, 16]
    assert {p["compute"] for p in found} == {1.0}


def test_a_batch_that_is_cut_is_run_on_each_number(foretold):
    found, seen = foretold(lambda count, of: Step(0.1 + 1 / (of or 1)))
    assert sorted(seen) == [2, 4, 8, 16]
    assert [p["compute"] for p in found] == pytest.approx([0.1 + 1 / p["ranks"] for p in found])
    assert found[1]["speedup"] == pytest.approx(1.1 / 0.6)
    assert found[1]["efficiency"] == 1.0


def test_other_messages_are_seen_too(foretold):
    _, seen = foretold(lambda count, of: Step(1.0, (Message("all_gather", of),)))
    assert sorted(seen) == [2, 4, 8, 16]


def test_predictions_end_before_the_script_fails(foretold):
    found, seen = foretold(lambda count, of: Step(1.0 / (of or 1)) if of <= 4 else None)
    assert seen == [16, 2, 4, 8]
    assert [p["ranks"] for p in found] == [1, 2, 4]


def test_a_script_that_is_not_there(tmp_path, capsys):
    path = str(written(tmp_path, GOOD))
    assert main(["predict-scaling", "--ranks", "8", "--network", path, "none.py"]) == 2
    assert "there is no file 'none.py'" in capsys.readouterr().err


def test_without_an_engine_there_is_one_error(tmp_path, capsys, monkeypatch):
    from mindtorch_core.communication import engines

    def missing(name):
        raise RuntimeError(f"the communicator {name!r} is not installed.\n  fix: install it")

    monkeypatch.setattr(engines, "engine", missing)
    script = tmp_path / "train.py"
    script.write_text("pass\n", "utf-8")
    path = str(written(tmp_path, GOOD))
    assert main(["predict-scaling", "--ranks", "8", "--network", path, str(script)]) == 2
    said = capsys.readouterr().err
    assert "the communicator 'mpi' is not installed. fix: install it" in said
    assert said.count("\n") == 1


# ---- what is printed -----------------------------------------------------------------------------

MISSES = "misses the aim of 15 %"
CROWDED = "more ranks than the 2 cores"


@pytest.mark.parametrize(
    ("error", "crowded", "remark", "said"),
    [
        (0.15, False, "", ""),
        (-0.15, False, "", ""),
        (0.151, False, MISSES, "A check misses its aim: take these for a direction"),
        (
            -0.151,
            True,
            f"{MISSES}, {CROWDED}",
            "A check misses its aim: take these for a direction",
        ),
        (0.1, True, CROWDED, ""),
        (None, False, "", "Nothing was checked: --measure named one rank alone."),
    ],
)
def test_the_tables_say_how_far_to_trust_them(error, crowded, remark, said, capsys):
    check = {"ranks": 2, "measured_s": 0.01, "predicted_s": 0.0115, "lost_s": 0.002, "error": error,
             "more_ranks_than_cores": crowded}  # fmt: skip
    points = [Predicted(4, 0.02, 0.015, 0.005, 0.5)]
    step = Step(3.5, (Message("all_reduce", 100),), ())
    found = predict_scaling._Found(step, 0.05, 0.25, 2, [] if error is None else [check], points)
    found.show(Network("a network", ()))
    lines = capsys.readouterr().out.splitlines()
    steps = f"{1e3 * step.seconds:.3f} ms, {len(step.messages)} messages of {step.bytes} bytes"
    assert lines[0] == f"a step on one rank: {steps}; spread 5.0 %, overlap 25 %"
    if error is not None:
        row = ["2", "10.000", "11.500", "2.000", f"{100 * error:+.1f} %"]
        assert [" ".join(row), remark] in [
            [" ".join(line.split()[:6]), " ".join(line.split()[6:])] for line in lines
        ]
    assert "a network. These are predictions, not measurements." in lines
    assert ["4", "20.000", "15.000", "5.000", "1.00", "50.0", "%"] in [
        line.split() for line in lines
    ]
    assert (lines[-1].startswith(said)) if said else lines[-1].endswith("50.0 %")
