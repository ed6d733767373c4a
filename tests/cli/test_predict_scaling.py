"""`mindtorch predict-scaling`: its arithmetic by hand-computed values, and what it refuses."""

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
from mindtorch_core.measuring.scaling.prediction import Predicted, predict, replay
from mindtorch_core.measuring.scaling.steps import (
    Event,
    Message,
    Step,
    compute_spread,
    lost_by_the_slowest,
    read_steps,
    typical,
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


# ---- steps and their replay ----------------------------------------------------------------------

# Computes for a second, sends, computes for two, and waits.
STEP = Step(
    3.5,
    (Message("all_reduce", 100),),
    (Event("queue", 0, 1.0), Event("wait", 0, 3.0, 0.5)),
)


def test_what_is_not_waiting_is_computing():
    assert STEP.compute == 3.0
    assert STEP.bytes == 100


@pytest.mark.parametrize(
    ("seconds", "overlap", "waits"),
    [(5.0, 0.0, 5.0), (5.0, 1.0, 3.0), (5.0, 0.5, 4.0), (1.0, 1.0, 0.0), (0.0, 0.0, 0.0)],
)
def test_messages_move_on_while_the_program_computes(seconds, overlap, waits):
    assert replay(STEP, lambda message: seconds, 1.0, overlap) == pytest.approx(waits)


def test_messages_move_one_after_the_other():
    step = Step(
        2.0,
        (Message("all_reduce", 1), Message("all_reduce", 1)),
        (
            Event("queue", 0, 0.0),
            Event("queue", 1, 0.0),
            Event("wait", 1, 1.0),
            Event("wait", 0, 1.0),
        ),
    )
    assert replay(step, lambda message: 2.0, 1.0, 1.0) == pytest.approx(3.0)


def test_a_prediction_adds_the_slowest_rank_and_the_waiting():
    found = predict(STEP, 2, lambda message: 1.0, spread=0.1, overlap=0.0)
    assert found.compute == pytest.approx(3.0 * slowest(2, 0.1))
    assert found.waiting == pytest.approx(1.0)
    assert found.seconds == pytest.approx(found.compute + found.waiting)
    assert found.efficiency == pytest.approx(3.0 / found.seconds)


def test_reports_are_read_without_the_steps_that_warm_up():
    rows = [
        {"seconds": float(i), "messages": [["all_reduce", 8]], "events": [["queue", 0, 0.1, 0.0]]}
        for i in (90, 50, 1, 2, 3)
    ]
    steps = read_steps({"steps": rows})
    assert [step.seconds for step in steps] == [1.0, 2.0, 3.0]
    assert typical(steps).seconds == 2.0
    assert compute_spread([steps]) == pytest.approx(1.4826 / 2)
    with pytest.raises(ValueError, match="4 optimizer steps: a prediction wants 5"):
        read_steps({"steps": rows[1:]})


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


def test_a_script_that_is_another_one_on_one_rank_is_told(tmp_path, capsys, monkeypatch):
    (tmp_path / "net.toml").write_text(GOOD, "utf-8")
    script = tmp_path / "train.py"
    script.write_text("", "utf-8")
    sent = [Message("all_reduce", 64)]
    monkeypatch.setattr(
        predict_scaling,
        "_steps",
        lambda _, count: [[Step(1.0, tuple(sent if count > 1 else []))] * 5] * count,
    )
    monkeypatch.setattr(predict_scaling, "_see_engine", lambda: None)
    options = ["--ranks", "8", "--network", str(tmp_path / "net.toml"), "--measure", "1,2"]
    assert main(["predict-scaling", *options, str(script)]) == 2
    assert "makes collective calls on 2 ranks and none on one" in capsys.readouterr().err


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


# ---- a machine whose cores are shared, in ticks ----------------------------------------------------


def shared_machine(ranks, cores, others, compute, message, steps=40):
    """What ranks note where other programs want the cores too: a tick a turn, for whoever has waited longest.

    A step computes and sends one message, which goes once all have come and takes no core.
    """
    begun, left, lost = [0] * ranks, [compute] * ranks, [0] * ranks
    came, ends = [None] * ranks, None
    line = [*range(ranks), *[-1] * others]
    rows, tick = [[] for _ in range(ranks)], 0
    while len(rows[0]) < steps:
        ready = [n for n, who in enumerate(line) if who < 0 or left[who]]
        running = ready[:cores]
        for n in ready[cores:]:
            if line[n] >= 0:
                lost[line[n]] += 1
        tick += 1
        for n in running:
            who = line[n]
            if who >= 0:
                left[who] -= 1
                came[who] = tick if not left[who] else None
        line = [who for n, who in enumerate(line) if n not in running] + [line[n] for n in running]
        if ends is None and None not in came:
            ends = tick + (message if ranks > 1 else 0)
        if ends is not None and tick >= ends:
            for rank in range(ranks):
                blocked, at = tick - came[rank], came[rank] - begun[rank]
                events = [["queue", 0, at, 0.0], ["wait", 0, at, blocked]]
                rows[rank].append({"seconds": tick - begun[rank], "lost": lost[rank], "events": events,
                                   "messages": [["all_reduce", 8]]})  # fmt: skip
            begun, left, lost = [tick] * ranks, [compute] * ranks, [0] * ranks
            came, ends = [None] * ranks, None
    return [read_steps({"steps": each}) for each in rows]


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize(("cores", "others"), [(8, 0), (2, 0), (2, 1), (2, 5), (4, 12)])
def test_what_other_programs_take_is_no_part_of_computing(ranks, cores, others):
    alone = typical(shared_machine(1, cores, others, 100, 30)[0])
    several = shared_machine(ranks, cores, others, 100, 30)
    assert alone.compute == 100
    assert {step.compute for steps in several for step in steps} == {100}
    lost = lost_by_the_slowest(several)
    foretold = predict(alone, ranks, lambda _: 30, spread=0.0, overlap=0.0, lost=lost).seconds
    measured = sorted(step.seconds for steps in several for step in steps)
    assert foretold == pytest.approx(measured[len(measured) // 2], rel=0.15)
    assert (lost > 0) == (ranks + others > cores)
    # A machine for each rank takes nothing from it.
    assert predict(alone, ranks, lambda _: 30, spread=0.0, overlap=0.0).seconds == 130


def test_messages_move_on_in_the_time_of_computing_alone():
    lost = Step(9.5, STEP.messages, (Event("queue", 0, 3.0), Event("wait", 0, 9.0, 0.5)), 6.0)
    assert lost.compute == 3.0
    assert lost.running == pytest.approx(1 / 3)
    assert replay(lost, lambda message: 5.0, 1.0, 1.0) == pytest.approx(3.0)


def test_what_is_lost_at_the_end_of_waiting_counts_for_the_last_rank():
    last, first = Step(12.0, lost=3.0, late=0.5), Step(5.0, late=9.0)
    assert lost_by_the_slowest([[first], [last]]) == 3.5
