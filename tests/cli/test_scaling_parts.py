"""What a prediction of scaling is made of: what a machine measures, what a rank notes, what is drawn."""

import itertools
import json
import math
import os
import re
import sys
from types import SimpleNamespace

import pytest

import mindtorch_core as torch
from mindtorch_core.communication import engines
from mindtorch_core.communication.engine import Finished, Ticket
from mindtorch_core.communication.fake import FAKE
from mindtorch_core.measuring.scaling import host, lost_time, noting
from mindtorch_core.measuring.scaling.formulas import call_time, slowest
from mindtorch_core.measuring.scaling.host import Host, read_host
from mindtorch_core.measuring.scaling.lost_time import LostTime
from mindtorch_core.measuring.scaling.plot import efficiency_plot
from mindtorch_core.measuring.scaling.prediction import Predicted, replay
from mindtorch_core.measuring.scaling.steps import Event, Message, Step, lost_by_the_slowest

# ---- formulas, steps -----------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["broadcast", "reduce"])
def test_cutting_a_message_up_costs_as_many_hops_again(op):
    # three hops of the tree that cuts, seven of the ring, twice seven eighths of the bytes
    cut = 3e-6 + 7e-6 + 2 * 7 / 8 * 1e9 * 1e-9
    assert call_time(op, 8, 1e9, 1e-6, 1e-9) == pytest.approx(cut, rel=1e-9)
    hops = call_time(op, 8, 1e9, 1.0, 1e-9)  # where a hop costs a second
    assert hops == pytest.approx(min(3 * (1.0 + 1.0), 3 + 7 + 1.75))
    assert call_time(op, 8, 1e9, 0.1, 1e-9) == pytest.approx(min(3 * 1.1, 1.0 + 1.75))


@pytest.mark.parametrize(("n", "hops"), [(2, 1), (3, 2), (4, 2), (6, 5), (7, 6), (8, 3), (12, 11)])
def test_a_power_of_two_gathers_by_a_tree(n, hops):
    assert call_time("all_gather", n, 0, 1.0, 0.0) == hops


def test_one_rank_is_as_fast_as_itself_and_times_that_stray_without_end_say_nothing():
    assert slowest(1, 0.5) == 1.0
    assert slowest(4, math.inf) == slowest(4, math.nan) == 1.0
    assert slowest(2, 0.5) > 1.0


@pytest.mark.parametrize(
    ("compute", "sent", "same"),
    [
        (1.0, 8, True),
        (1.1, 8, True),
        (1.1001, 8, False),
        (0.9, 8, True),
        (0.89, 8, False),
        (1.0, 9, False),
    ],
)
def test_steps_resemble_each_other_up_to_a_share_of_the_second(compute, sent, same):
    other = Step(1.0, (Message("all_reduce", 8),))
    limit = 0.10000000000000009  # what lies between 1.0 and 1.1
    assert Step(compute, (Message("all_reduce", sent),)).resembles(other, limit) is same


def test_ranks_that_took_fewer_steps_are_compared_as_far_as_they_came():
    first = [Step(5.0, lost=1.0), Step(5.0, lost=2.0), Step(5.0, lost=9.0)]
    assert lost_by_the_slowest([first, [Step(1.0), Step(1.0)]]) == 1.5


def test_time_that_was_waited_is_no_time_of_computing():
    """The second message moves on in what is computed between, not in what the first was waited for."""
    messages = (Message("all_reduce", 1), Message("all_reduce", 2))
    events = (Event("queue", 0, 0.0), Event("queue", 1, 0.0), Event("wait", 0, 1.0, 4.0),
              Event("wait", 1, 7.0, 1.0))  # fmt: skip
    # 1 s of computing, 2 of the first message are left; then 2 s of computing, 3 of the second are left
    assert replay(Step(8.0, messages, events), lambda m: {1: 3.0, 2: 5.0}[m.bytes], 1.0, 1.0) == 5.0
    assert replay(Step(8.0, messages, events), lambda m: {1: 3.0, 2: 5.0}[m.bytes], 2.0, 0.5) == 5.0
    assert replay(Step(8.0, messages, events), lambda m: {1: 3.0, 2: 5.0}[m.bytes], 1.0, 0.0) == 8.0


# ---- the time that a thread loses ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "seconds"),
    [
        ("1 2500000000 7\n", 2.5),
        ("1 0 7\n", 0.0),
        ("77\n", 0.0),
        ("", 0.0),
        ("1 5000000000\n", 5.0),
    ],
)
def test_lost_time_is_the_second_number_of_the_row(row, seconds, tmp_path):
    (tmp_path / "schedstat").write_text(row)
    lost = LostTime()
    lost._file = os.open(tmp_path / "schedstat", os.O_RDONLY)
    try:
        assert lost() == lost() == seconds
    finally:
        os.close(lost._file)


def test_where_nobody_counts_it_nothing_is_lost(monkeypatch):
    monkeypatch.setattr(lost_time.os, "path", SimpleNamespace(exists=lambda path: False))
    lost = LostTime()
    assert lost._file < 0
    assert lost() == 0.0


def test_the_file_is_that_of_the_thread(monkeypatch):
    asked = []
    monkeypatch.setattr(
        lost_time.os, "path", SimpleNamespace(exists=lambda p: asked.append(p) or True)
    )
    monkeypatch.setattr(lost_time, "threading", SimpleNamespace(get_native_id=lambda: 4711))
    monkeypatch.setattr(lost_time.os, "open", lambda path, flags: asked.append(path) or 0)
    monkeypatch.setattr(
        lost_time.os, "pread", lambda file, count, at: b"3 1500000000 9" if file == 0 else b""
    )
    assert LostTime()() == 1.5  # also where the file has the first number of all
    assert asked == ["/proc/self/task/4711/schedstat"] * 2


# ---- what calls cost on this machine -------------------------------------------------------------------


def test_ops_that_were_not_measured_count_as_others():
    report = {"seconds": {op: {"64": n, "4096": n} for n, op in enumerate(("all_gather", "all_reduce", "broadcast"), 1)},
              "overlap": 0.25}  # fmt: skip
    found = read_host(json.loads(json.dumps(report)))
    assert isinstance(found, Host)
    assert found.overlap == 0.25
    assert {op: found.time(Message(op, 64)) for op in ("all_reduce", "barrier", "reduce", "broadcast", "all_to_all", "gather")} == {
        "all_reduce": 2, "barrier": 2, "reduce": 2, "broadcast": 3, "all_to_all": 1, "gather": 1,
    }  # fmt: skip


class Recorded:
    """What stands for ``torch.distributed``: what was called, with how many elements."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        def call(*given, **more):
            sizes = [g.numel() if isinstance(g, torch.Tensor) else g for g in given]
            self.calls.append((name, *sizes, *more.items()))
            return SimpleNamespace(wait=lambda: self.calls.append(("wait",)))

        return call


@pytest.mark.parametrize(
    ("size", "ranks", "part"), [(64, 4, 4), (4096, 3, 341), (64, 32, 1), (256, 1, 64)]
)
def test_calls_move_so_many_bytes_in_all(size, ranks, part):
    dist = Recorded()
    for call in host._calls(
        SimpleNamespace(distributed=dist, ones=torch.ones), size, ranks
    ).values():
        call()
    whole = part * ranks
    assert dist.calls == [
        ("all_reduce", whole), ("all_gather_single", whole, part), ("reduce_scatter_single", part, whole),
        ("broadcast", whole, 0),
    ]  # fmt: skip
    assert host._SIZES == (64, 256, 1024, 4096, 16384, 65536, 262144, 1 << 20, 4 << 20, 16 << 20)


def test_a_call_is_timed_after_all_have_met_without_what_was_lost(monkeypatch):
    clock, lost, done = [100.0], [5.0], []
    monkeypatch.setattr(host, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    monkeypatch.setattr(host, "_lost_time", lambda: lambda: lost[0])
    lasts = iter([50.0, 1.0, 7.0, 3.0, 2.0, 4.0, 6.0, 5.0])

    def call():
        done.append("call")
        clock[0] += next(lasts) + 0.5
        lost[0] += 0.5

    def barrier():
        done.append("barrier")
        clock[0] += 1000

    assert host._median(SimpleNamespace(barrier=barrier), call) == pytest.approx(4.0)
    assert done == ["call", *["barrier", "call"] * 7]  # the first is not timed


def test_a_piece_of_computing_is_products_and_small_ops():
    ops = []

    class Counted(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            ops.append((func.name().partition(".")[0], tuple(args[0].shape)))
            return func(*args, **(kwargs or {}))

    work = host._busy(torch)
    with Counted():
        work()
    once = [("aten::mm", (192, 192)), ("aten::relu", (192, 192)), ("aten::sum", (192, 192))]
    names = [each for each in ops if each[1] == (192, 192)]
    assert len(names) == 60
    assert [op.replace("matmul", "mm") for op, _ in names[:3]] == [op for op, _ in once]
    assert ops.count(("aten::add", (64,))) == 200


@pytest.mark.parametrize(
    ("alone", "busy", "together", "share"),
    [(4.0, 10.0, 14.0, 0.0), (4.0, 10.0, 10.0, 1.0), (4.0, 10.0, 12.0, 0.5), (10.0, 4.0, 12.0, 0.5),
     (4.0, 10.0, 15.0, 0.0), (4.0, 10.0, 9.0, 1.0)],
)  # fmt: skip
def test_the_share_in_which_a_message_moves_on(alone, busy, together, share, monkeypatch):
    dist, took = Recorded(), iter([alone, together])

    def median(of, call):
        assert of is dist
        call()
        return next(took)

    monkeypatch.setattr(host, "_median", median)
    theirs = SimpleNamespace(distributed=dist, ones=torch.ones)
    assert host._overlap(theirs, lambda: dist.calls.append(("work",)), busy) == share
    assert dist.calls == [
        ("all_reduce", 1 << 20), ("all_reduce", 1 << 20, ("async_op", True)), ("work",), ("wait",)
    ]  # fmt: skip


@pytest.mark.parametrize(("rank", "ranks"), [(0, 1), (0, 2), (1, 2)])
def test_rank_0_writes_what_was_measured(rank, ranks, tmp_path, monkeypatch):
    done = []
    dist = SimpleNamespace(
        init_process_group=lambda: done.append("begin"), destroy_process_group=lambda: done.append("end"),
        get_rank=lambda: rank, get_world_size=lambda: ranks,
    )  # fmt: skip
    theirs = SimpleNamespace(distributed=dist, ones=torch.ones)
    monkeypatch.setattr(host, "importlib", SimpleNamespace(import_module=lambda name: theirs))
    monkeypatch.setattr(host, "_SIZES", (64, 256))
    monkeypatch.setattr(
        host, "_calls", lambda t, size, n: {"all_reduce": size * n, "broadcast": size}
    )
    monkeypatch.setattr(host, "_median", lambda d, call: call if isinstance(call, int) else 2.5)
    monkeypatch.setattr(host, "_overlap", lambda t, work, busy: busy)
    host.main(tmp_path)
    assert done == ["begin", "end"]
    path = tmp_path / "host.json"
    assert path.exists() is (rank == 0)
    if rank == 0:
        assert json.loads(path.read_text()) == {
            "seconds": {"all_reduce": {"64": 64 * ranks, "256": 256 * ranks}, "broadcast": {"64": 64, "256": 256}},
            "overlap": 2.5 if ranks > 1 else 1.0,
        }  # fmt: skip


# ---- what a rank notes ---------------------------------------------------------------------------------


@pytest.fixture
def clocks(monkeypatch):
    """The time, and the time that was lost."""
    now = {"time": 0.0, "lost": 0.0}
    monkeypatch.setattr(noting.time, "perf_counter", lambda: now["time"])
    monkeypatch.setattr(noting, "LostTime", lambda: lambda: now["lost"])
    return now


class Waited(Ticket):
    """A ticket that takes a second, half of which is lost."""

    done = False

    def __init__(self, now):
        self.now = now

    def wait(self, deadline=None):
        self.now["time"] += 1.0
        self.now["lost"] += 0.25


def test_messages_of_a_step_are_numbered_and_what_is_lost_in_waiting_is_late(clocks):
    notes = noting.Notes()
    clocks["time"], clocks["lost"] = 3.0, 2.0
    first = notes.queued("all_reduce", 8, Waited(clocks))
    clocks["time"] = 4.0
    second = notes.queued("broadcast", 16, Waited(clocks))
    second.wait()
    second.wait()  # what has been told is not told again
    first.wait(7.0)
    assert not first.done
    clocks["time"], clocks["lost"] = 10.0, 4.0
    notes.end_step()
    left = notes.queued("all_reduce", 8, Waited(clocks))
    clocks["time"], clocks["lost"] = 12.0, 4.5
    notes.end_step()
    left.wait()  # of an earlier step: no event of this one, but what was lost there counts as late
    clocks["time"] = 14.0
    notes.end_step("what", "optimizers", "give")
    one, two, three = notes.steps
    # four quarters of a second were lost while waiting, of which the second wait's again is not told
    assert one == {
        "seconds": 10.0, "lost": 3.5, "late": 0.5, "messages": [("all_reduce", 8), ("broadcast", 16)],
        "events": [("queue", 0, 3.0, 0.0), ("queue", 1, 4.0, 0.0), ("wait", 1, 4.0, 1.0), ("wait", 0, 6.0, 1.0)],
    }  # fmt: skip
    assert two == {
        "seconds": 2.0, "lost": 0.5, "late": 0.0, "messages": [("all_reduce", 8)], "events": [("queue", 0, 0.0, 0.0)],
    }  # fmt: skip
    assert three == {"seconds": 2.0, "lost": 0.0, "late": 0.25, "messages": [], "events": []}


def test_a_fork_notes_nothing(clocks, monkeypatch):
    notes, ticket = noting.Notes(), Finished()
    monkeypatch.setattr(noting.os, "getpid", lambda: -1)
    assert notes.queued("all_reduce", 8, ticket) is ticket
    notes.end_step()
    assert notes.steps[0]["messages"] == []


def test_copies_wait_for_each_other_after_the_second_step_and_that_is_no_part_of_the_third(clocks):
    met = []

    def meet():
        met.append(len(notes.steps))
        clocks["time"] += 100.0
        clocks["lost"] += 10.0

    notes = noting.Notes(meet)
    for _ in range(4):
        clocks["time"] += 1.0
        notes.end_step()
    assert met == [2]
    assert [(step["seconds"], step["lost"]) for step in notes.steps] == [(1.0, 0.0)] * 4


@pytest.fixture
def as_rank_1_of_2(monkeypatch):
    for name, value in (("RANK", "1"), ("LOCAL_RANK", "1"), ("WORLD_SIZE", "2")):
        monkeypatch.setenv(name, value)
    for name in ("engine", "installed"):
        monkeypatch.setattr(engines, name, getattr(engines, name))


def test_who_imagines_ranks_is_the_first_of_them_and_waits_for_the_copies(
    tmp_path, monkeypatch, as_rank_1_of_2
):
    meet = noting._imagine(64, tmp_path)
    assert [os.environ[n] for n in ("RANK", "LOCAL_RANK", "WORLD_SIZE")] == ["0", "0", "64"]
    assert engines.engine("gloo") is FAKE
    assert engines.installed() == [FAKE.name]
    naps = []

    def sleep(seconds):
        naps.append(seconds)
        if len(naps) == 3:
            (tmp_path / "0.here").touch()

    monkeypatch.setattr(
        noting, "time", SimpleNamespace(monotonic=itertools.count().__next__, sleep=sleep)
    )
    meet()
    assert len(naps) == 3
    assert {path.name for path in tmp_path.iterdir()} == {"0.here", "1.here"}
    meet()
    assert len(naps) == 3
    (tmp_path / "0.here").unlink()
    monkeypatch.setattr(noting.time, "sleep", naps.append)
    meet()  # nobody comes: its patience ends, by a clock that goes a second with every look
    assert len(naps) == 3 + 29


@pytest.mark.parametrize("imagined", ["", "8"])
@pytest.mark.parametrize("fails", [False, True])
def test_a_script_runs_as_a_program_and_the_report_is_written_whatever_comes(
    imagined, fails, tmp_path, monkeypatch, as_rank_1_of_2
):
    hooks, listening = [], []
    optimizers = SimpleNamespace(register_optimizer_step_post_hook=hooks.append)
    monkeypatch.setattr(noting, "importlib", SimpleNamespace(import_module=lambda name: optimizers))
    monkeypatch.setattr(noting, "_listen", listening.append)
    monkeypatch.setattr(sys, "argv", ["x"])
    monkeypatch.setattr(sys, "path", ["first", *sys.path])
    monkeypatch.setenv(noting.IMAGINED, imagined)
    script = tmp_path / "train.py"
    script.write_text(
        "import os, sys\n"
        "assert __name__ == '__main__'\n"
        f"assert sys.argv[1:] == ['-x', '1'] and sys.path[0] == {str(tmp_path)!r}\n"
        f"assert os.environ['WORLD_SIZE'] == {imagined or '2'!r}\n"
        + "raise KeyError('fails')\n"
        * fails
    )
    if fails:
        with pytest.raises(KeyError, match="fails"):
            noting.main(tmp_path, str(script), ["-x", "1"])
    else:
        noting.main(tmp_path, str(script), ["-x", "1"])
    (notes,) = listening
    assert hooks == [notes.end_step]
    assert json.loads((tmp_path / "1.json").read_text()) == {"rank": 1, "steps": []}


# ---- what is drawn -------------------------------------------------------------------------------------


def test_a_plot_has_its_points_where_they_belong():
    points = [Predicted(n, 1.0, 1.0, 0.0, e) for n, e in ((1, 1.0), (2, 0.5), (8, -0.5), (16, 1.5))]
    text = efficiency_plot("a.py", "n", points)
    # 60 to 620 for 1 to 16 ranks, a step of 140 for twice as many; 310 to 56 for 0 to 100 per cent
    places = ["60.0,56.0", "200.0,183.0", "480.0,310.0", "620.0,56.0"]
    assert f'<polyline points="{" ".join(places)}"' in text
    assert [",".join(c) for c in re.findall(r'<circle cx="(\S+)" cy="(\S+)" r="3"', text)] == places
    assert re.findall(r"<title>(\S+ ranks: .*?)</title>", text) == [
        "1 ranks: 100.0 %", "2 ranks: 50.0 %", "8 ranks: -50.0 %", "16 ranks: 150.0 %",
    ]  # fmt: skip
    assert re.findall(r'<path d="M60 (\S+)H620"', text) == [
        "310.0",
        "259.2",
        "208.4",
        "157.6",
        "106.8",
        "56.0",
    ]
    assert re.findall(r'<text x="52" y="(\S+)" text-anchor="end">(\S+ %)</text>', text) == [
        ("314.0", "0 %"), ("263.2", "20 %"), ("212.4", "40 %"), ("161.6", "60 %"), ("110.8", "80 %"), ("60.0", "100 %"),
    ]  # fmt: skip
    assert re.findall(r'<text x="(\S+)" y="328" text-anchor="middle">(\d+)</text>', text) == [
        ("60.0", "1"), ("200.0", "2"), ("480.0", "8"), ("620.0", "16"),
    ]  # fmt: skip
    assert text.startswith('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 360" ')
    assert text.endswith('<text x="60" y="350">ranks</text>\n</svg>\n')


def test_one_rank_lies_at_the_left():
    assert '<polyline points="60.0,310.0"' in efficiency_plot(
        "a", "n", [Predicted(1, 1.0, 1.0, 0.0, 0.0)]
    )


@pytest.mark.parametrize(
    ("name", "shown"),
    [("a\x1bb", "a\ufffdb"), ("a\ud7ffb", "a\ufffdb"), (chr(0xD800), "\ufffd"), (chr(0xDFFF), "\ufffd"),
     ("é<&>\"", "é&lt;&amp;&gt;&quot;"), ("\U0001f600", "\U0001f600")],
)  # fmt: skip
def test_a_name_is_shown_as_text_whatever_stands_in_it(name, shown):
    text = efficiency_plot(name, "n", [Predicted(1, 1.0, 1.0, 0.0, 1.0)])
    assert text.count(f"Predicted, not measured: {shown} on n<") == 2
