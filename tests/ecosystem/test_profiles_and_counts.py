"""Schedules, files, names and totals of profiles; flops of backward passes; modules that are under way."""

import gzip
import json

import pytest
from two_libraries import part, pt, said, table

import mindtorch_core as mt
from mindtorch_core.profiler import profile, record_function, schedule, tensorboard_trace_handler
from mindtorch_core.testing.comparison import outcome
from mindtorch_core.utils.flop_counter import FlopCounterMode, flop_registry
from mindtorch_core.utils.module_tracker import ModuleTracker

F = mt.nn.functional

# ---- profiles -------------------------------------------------------------------------------------


def test_steps_are_not_negative():
    error = outcome(schedule(wait=1, warmup=1, active=1), -1)
    assert said(error) == said(outcome(pt.profiler.schedule(wait=1, warmup=1, active=1), -1))


@pytest.mark.parametrize("bad", ["wait", "warmup", "repeat", "skip_first"])
def test_schedules_that_are_refused(bad):
    options = {"wait": 1, "warmup": 1, "active": 1, bad: -1}
    error = outcome(schedule, **options)
    assert said(error) == said(outcome(pt.profiler.schedule, **options))
    schedule(**{**options, bad: 1})


def test_a_schedule_without_warming_up_warns():
    with pytest.warns(UserWarning, match="won't be using warmup"):
        schedule(wait=0, warmup=0, active=1)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("worker", [None, "me"])
def test_traces_are_written_into_a_folder(tmp_path, packed, worker):
    folder = tmp_path / "a" / "b"
    ready = tensorboard_trace_handler(str(folder), worker, packed)
    for _ in range(2):
        with profile(on_trace_ready=ready) as prof:
            prof.add_metadata("text", "5")
            prof.add_metadata_json("number", "5")
            prof.preset_metadata_json("list", "[1]")
            mt.ones(2).relu()
    files = sorted(folder.iterdir())
    assert len(files) == 2
    data = files[0].read_bytes()
    trace = json.loads(gzip.decompress(data) if packed else data)
    assert (trace["text"], trace["number"], trace["list"]) == ("5", 5, [1])
    assert all(each.name.endswith(".pt.trace.json" + ".gz" * packed) for each in files)
    assert all(each.name.startswith("me.") for each in files) is (worker == "me")
    with pytest.raises(json.JSONDecodeError):
        prof.add_metadata_json("bad", "{")


def test_a_profile_that_was_left_by_an_error_can_be_taken_again():
    with pytest.raises(ZeroDivisionError), profile():
        raise ZeroDivisionError
    with profile() as prof:
        mt.ones(2).relu()
    assert "aten::relu" in {event.name for event in prof.events()}


def test_names_of_blocks_and_functions():
    @record_function("named")
    def work(x, *, more=0):
        """Does something."""
        return x.relu() + more

    with profile() as prof:
        assert work(mt.ones(2), more=1).tolist() == [2, 2]
        assert work(mt.ones(2)).tolist() == [1, 1]
    assert (work.__name__, work.__doc__) == ("work", "Does something.")
    event = next(e for e in prof.key_averages() if e.key == "named")
    assert event.count == 2
    assert event.cpu_time_total >= event.self_cpu_time_total > 0


def test_a_block_that_a_generator_leaves_open():
    def steps():
        with record_function("open"):
            yield 1

    with profile() as prof:
        with record_function("outer"):
            left = steps()
            next(left)
        mt.ones(2).relu()
        left.close()
    names = {event.name for event in prof.events()}
    assert {"outer", "aten::relu"} <= names


def test_names_of_old_are_those_of_the_device():
    with profile(profile_memory=True) as prof:
        mt.ones(64).relu()
    for event in prof.events():
        assert event.cuda_time_total == event.device_time_total == 0
        assert event.self_cuda_time_total == event.self_device_time_total == 0
        assert event.cuda_memory_usage == event.device_memory_usage == 0
        assert event.self_cuda_memory_usage == event.self_device_memory_usage == 0
    assert max(event.cpu_memory_usage for event in prof.events()) >= 256


def test_a_profile_of_old(tmp_path):
    old = mt.autograd.profiler
    assert not old._profiler_enabled()
    with old.profile(record_shapes=True) as prof:
        assert old._profiler_enabled()
        mt.ones(2, 3).relu()
    assert not old._profiler_enabled()
    total = prof.total_average()
    assert total.count == sum(event.count for event in prof.function_events)
    assert total.self_cpu_time_total == pytest.approx(prof.self_cpu_time_total)
    for export, name in (
        (prof.export_chrome_trace, "a"),
        (prof.function_events.export_chrome_trace, "b"),
    ):
        export(str(tmp_path / name))
        spans = json.loads((tmp_path / name).read_text())["traceEvents"]
        assert "aten::relu" in {span["name"] for span in spans}
    with pytest.raises(RuntimeError, match="leave the block"):
        old._disable_profiler()


# ---- flops ----------------------------------------------------------------------------------------


def _counted(lib, run):
    counter = part(lib, "utils.flop_counter").FlopCounterMode(display=False)
    with counter:
        run(lib)
    return counter.get_total_flops()


def _grad(*shape):
    return lambda lib: lib.ones(*shape, requires_grad=True)


def _convolved(x, w, **options):
    def run(lib):
        given = lib.ones(*x, requires_grad=True), lib.ones(*w, requires_grad=True)
        lib.nn.functional.conv2d(*given, **options).sum().backward()

    return run


def _transposed(lib):
    x, w = lib.ones(2, 3, 5, 6, requires_grad=True), lib.ones(3, 4, 2, 2, requires_grad=True)
    lib.nn.functional.conv_transpose2d(x, w, stride=2).sum().backward()


FLOPS = {
    "products": lambda lib: lib.ones(3, 4) @ lib.ones(4, 5),
    "products of batches": lambda lib: lib.bmm(lib.ones(2, 3, 4), lib.ones(2, 4, 5)),
    "added products": lambda lib: lib.addmm(lib.ones(5), lib.ones(3, 4), lib.ones(4, 5)),
    "added products of batches": lambda lib: lib.baddbmm(lib.ones(2, 3, 5), lib.ones(2, 3, 4), lib.ones(2, 4, 5)),
    "backward": lambda lib: (_grad(3, 4)(lib) @ _grad(4, 5)(lib)).sum().backward(),
    "convolutions": _convolved((2, 3, 6, 7), (4, 3, 2, 3)),
    "convolutions with steps": _convolved((2, 3, 6, 7), (4, 3, 2, 3), stride=2, padding=1),
    "convolutions, transposed": lambda lib: lib.nn.functional.conv_transpose2d(lib.ones(2, 3, 5, 6), lib.ones(3, 4, 2, 2)),
    "convolutions, transposed, backward": _transposed,
}  # fmt: skip


@table(FLOPS)
def test_flops(program):
    ours, theirs = _counted(mt, program), _counted(pt, program)
    assert ours == theirs > 0


def test_flops_of_attention_with_a_bias():
    q, k, v = mt.ones(2, 3, 4, 8), mt.ones(2, 3, 5, 8), mt.ones(2, 3, 5, 6)
    with FlopCounterMode(display=False) as counter:
        F.scaled_dot_product_attention(q, k, v)
    assert counter.get_total_flops() == 2 * 6 * 4 * 5 * (8 + 6)


def test_flops_of_gradients_that_are_asked_for():
    op = mt.ops.aten.convolution_backward
    x, w, g = mt.ones(1, 2, 5, 5), mt.ones(3, 2, 2, 2), mt.ones(1, 3, 4, 4)
    formula = flop_registry[op]
    one = 2 * 1 * 16 * 24
    for mask, count in (
        ([True, True, True], 2),
        ([True, False, True], 1),
        ([False, True, False], 1),
        ([False] * 3, 0),
    ):
        given = (g, x, w, [3], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, mask)
        assert formula(*given, out_val=None) == count * one


def test_a_table_of_flops_is_printed(capsys):
    pytest.importorskip("tabulate")
    with FlopCounterMode(display=True) as counter:
        mt.ones(3, 4) @ mt.ones(4, 5)
    assert capsys.readouterr().out == f"{counter.get_table()}\n"


# ---- modules --------------------------------------------------------------------------------------


def test_modules_under_way_whatever_they_take():
    told = []

    class Inner(mt.nn.Module):
        def forward(self, given, *, more=None):
            told.append(set(tracker.parents))
            return {"out": [given["x"] * 2, "text"], "none": None}

    class Outer(mt.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner({"x": x, "text": "a"})["out"][0]

    model, x = Outer(), mt.ones(2, requires_grad=True)
    x.register_hook(lambda g: told.append((tracker.is_bw, set(tracker.parents))))
    with ModuleTracker() as tracker:
        model(x).sum().backward()
        told.append(set(tracker.parents))
    assert told[0] == {"Global", "Outer", "Outer.inner"}
    assert told[1][0] is True
    assert told[2] == {"Global"}
    assert tracker.parents == {"Global"}
