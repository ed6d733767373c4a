"""Random programs give the same eagerly, in a pipeline, in one that flushes after every op, and in
PyTorch. Fusion is made to happen on tensors of a few elements, cut into tiles of very few.
"""

from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from programs import Program, assert_alike, programs, run

import mindtorch_core as torch
from mindtorch_core.deferred.programs.describing import Description
from mindtorch_core.values.devices import row_of
from mindtorch_cpu.fusion.limits import LIMITS

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True, scope="module")
def small_groups():
    """Plan and fuse whatever the size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_of("cpu").runtime, "planned_from", 1)
        patch.setattr(LIMITS, "min_elements", 4)
        patch.setattr(LIMITS, "tile_elements", LIMITS.tile_elements)
        yield


def check(program, tile):
    LIMITS.tile_elements = tile
    eager = run(program, torch)
    assert_alike(program, run(program, torch, torch.pipeline()), eager, "in a pipeline")
    one = run(program, torch, torch.pipeline(max_ops=1))
    assert_alike(program, one, eager, "in a pipeline that flushes after every op")
    return eager


@settings(
    max_examples=250, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(programs, st.sampled_from([1, 3, 7, 1000]))
@example(Program(True, 0, 0, (("unary", 0, 0, 0), ("inplace", 9, 15, 0))), 3)
def test_programs_in_a_pipeline_agree_with_eager_ones(program, tile):
    check(program, tile)


# Programs that once failed: `sub` with alpha on bool operands; `relu_` of a bool; a backward pass that
# raises because a saved value was updated.
BOOL_ALPHA = (
    *[("unary", 0, 0, 0)] * 2,
    *[("unary", 11, 1, 0), ("forget", 0, 0, 0), ("inplace", 1, 0, 16)],
)
BOOL_RELU = (("binary", 4, 0, 0), ("unary", 0, 0, 0), ("inplace", 12, 32, 0))
UPDATED = (
    *[("unary", 0, 0, 0), ("binary", 3, 0, 2), ("unary", 0, 0, 0), ("unary", 0, 0, 0)],
    *[("backward", 0, 21, 0), ("update", 0, 0, 0), ("backward", 0, 16, 0)],
)


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(programs)
@example(Program(True, 0, 0, BOOL_ALPHA))
@example(Program(True, 0, 0, BOOL_RELU))
@example(Program(False, 0, 3, UPDATED))
def test_programs_agree_with_pytorch(program):
    pt = pytest.importorskip("torch")
    assert_alike(program, check(program, 3), run(program, pt), "PyTorch")


def test_operands_whose_memory_an_op_has_still_to_make():
    """A block with such an operand is not described: it could not be told from one whose memory is there."""
    made = torch.ones(4)
    with torch.pipeline():
        asked = {
            "made": made,
            "a view of what is made": made[1:],
            "nothing": torch.ones(0).sin(),
            "pending": made.sin(),
            "a view of what is pending": made.cos()[1:],
        }
        found = {n: Description.needs_more(SimpleNamespace(inputs=[t])) for n, t in asked.items()}
        assert Description.needs_more(SimpleNamespace(inputs=[made, asked["pending"]]))
    assert [n for n, needs in found.items() if needs] == ["pending", "a view of what is pending"]
    assert not Description.needs_more(SimpleNamespace(inputs=[*asked.values()]))
