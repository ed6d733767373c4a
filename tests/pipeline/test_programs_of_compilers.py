"""Programs: what a backend that compiles is given, and what becomes of what it makes."""

# ruff: noqa: F811 (a fixture; a block fails at its end)

import gc
import sys

import pytest
from compilers import compiler, names, ones  # noqa: F401 (a fixture)

import mindtorch_core as torch
from mindtorch_core.backend import PROGRAMS, Ref

# ---- what a program says ------------------------------------------------------------------------


def test_a_block_is_a_program(compiler):
    x = ones(2, 3)
    with torch.pipeline() as pipe:
        y = x * 2.5
        z = (y + x).relu()
        del y
    (program,) = compiler.programs
    assert names(program) == ["mul", "add", "relu"]
    assert program.numbers == (float,)
    assert z.tolist() == [[3.5] * 3] * 2
    assert program.inputs == (0,)
    (out,) = program.outputs
    assert program.values[out].shape == (2, 3)
    assert program.values[out].strides == (3, 1)
    assert program.values[out].dtype is torch.float32
    assert program.instructions[1].args == (Ref(1), Ref(0))
    assert "%2 = aten::add(%1, %0)  [2, 3] float32" in str(program)
    assert program.instructions[0].location.startswith(__file__)
    assert pipe.stats()["fused_ops"] == 3


def test_numbers_are_no_part_of_the_structure(compiler):
    x = ones(2)
    for number in (0.5, 2.0, -1.25):
        with torch.pipeline() as pipe:
            y = x * number + number
        assert y.tolist() == [2 * number] * 2
    assert len(compiler.programs) == 1
    assert [numbers for _, numbers in compiler.calls] == [[n, n] for n in (0.5, 2.0, -1.25)]
    assert pipe.stats()["plan_cache_hits"] == 1
    with torch.pipeline():
        y = x * 3 + 3  # another type of number
    assert y.tolist() == [6.0, 6.0]
    assert len(compiler.programs) == 2


@pytest.mark.parametrize(
    "other", [lambda: ones(3), lambda: ones(2, dtype=torch.float64), lambda: ones(4)[::2]]
)
def test_shapes_dtypes_and_strides_are(compiler, other):
    def block(x):
        with torch.pipeline():
            y = (x * 2) + x
        return y.tolist()

    x = other()
    assert block(ones(2)) == [3.0, 3.0]
    assert block(x) == [3.0] * x.shape[0]
    assert len(compiler.programs) == 2


def test_who_can_see_what_is(compiler):
    def block(keep):
        with torch.pipeline():
            y = ones(2) * 2
            z = y + 1
            if not keep:
                del y
        return z.tolist()

    assert block(True) == block(False) == block(True) == [3.0, 3.0]
    kept, alone = compiler.programs
    assert [len(kept.outputs), len(alone.outputs)] == [2, 1]


def test_which_operands_are_the_same_is(compiler):
    a, b = ones(2), ones(2) * 3

    def block(x, y):
        with torch.pipeline():
            z = x + y
        return z.tolist()

    assert [block(a, b), block(a, a), block(b, b)] == [[4.0] * 2, [2.0] * 2, [6.0] * 2]
    assert [len(p.inputs) for p in compiler.programs] == [2, 1]


def test_views_and_writes_are_marked(compiler):
    x = ones(2, 3)
    with torch.pipeline():
        y = x * 2
        row = y[1]
        row.add_(5)
        del y
    assert row.tolist() == [7.0] * 3
    (program,) = compiler.programs
    select = program.instructions[names(program).index("select")]
    assert select.op.view
    assert not select.op.writes
    assert program.instructions[-1].op.writes
    made, view = (
        program.values[program.outputs[0]],
        program.values[program.instructions[-1].outs[0]],
    )
    assert made.memory == view.memory
    assert (view.strides, view.offset) == ((1,), 3)
    assert program.written == {made.memory}


def test_a_write_to_what_was_there_is_the_executables(compiler):
    x = ones(3)
    with torch.pipeline():
        x.mul_(2).add_(1)
    assert x.tolist() == [3.0] * 3
    (program,) = compiler.programs
    assert program.outputs == ()
    assert program.written == {program.values[0].memory}


def test_dying_inputs_are_donated(compiler, toy, monkeypatch):
    def block():
        x = ones(2) * 1
        kept = ones(2)
        view_of = ones(2)
        view = view_of[:1]
        with torch.pipeline():
            y = (x + kept) * view_of
            del x, view_of
        return y.tolist(), view.tolist(), kept.tolist()

    assert block() == ([2.0, 2.0], [1.0], [1.0, 1.0])
    assert compiler.programs[-1].donated == frozenset()
    monkeypatch.setattr(toy.ToyRuntime, "donates", True)
    assert block() == ([2.0, 2.0], [1.0], [1.0, 1.0])
    assert compiler.programs[-1].donated == {0}


# ---- what is kept -------------------------------------------------------------------------------


def test_programs_are_kept_within_bounds(compiler, monkeypatch):
    monkeypatch.setattr(PROGRAMS, "bound", 2)
    before = PROGRAMS.stats()
    for n in (1, 2, 3, 1, 1):
        with torch.pipeline():
            y = ones(n) * 2
        assert y.tolist() == [2.0] * n
    now = PROGRAMS.stats()
    assert now["misses"] - before["misses"] == 4
    assert now["hits"] - before["hits"] >= 1
    assert now["kept"] == 2
    assert now["evictions"] >= 2
    assert now["seconds"] > before["seconds"]


def test_programs_hold_no_tensor(compiler):
    with torch.pipeline():
        y = ones(2) * 2
    del y
    compiler.calls.clear()
    gc.collect()
    alive = [o for o in gc.get_objects() if type(o) is torch.Tensor and o.device.type == "toy"]
    assert alive == []


def test_a_big_program_costs_linear_time(compiler):
    def calls(ops):
        count = 0

        def profile(frame, event, arg):
            nonlocal count
            count += 1

        x = ones(2)
        with torch.pipeline(max_ops=10**6) as pipe:
            made = x
            for i in range(ops):
                made = made + i
            sys.setprofile(profile)
            try:
                pipe.flush()
            finally:
                sys.setprofile(None)
        assert made.tolist() == [1 + ops * (ops - 1) / 2] * 2
        return count

    calls(100)  # from the second time on the trace is learnt as well
    few, many = calls(200), calls(800)
    assert many < 4.5 * few
