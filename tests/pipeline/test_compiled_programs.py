"""Random programs give the same whether groups run in tiles, as compiled kernels, or now so and now so."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import assert_alike, programs, run

import mindtorch_core as torch
from mindtorch_core.values.devices import row_of
from mindtorch_cpu.fusion.limits import LIMITS
from mindtorch_cpu.native.kernels import KERNELS

pytestmark = pytest.mark.filterwarnings("ignore")


class Switching:
    """A mode that is another one each time somebody looks."""

    def __init__(self, modes):
        self.modes = itertools.cycle(modes)

    def __eq__(self, other):
        return next(self.modes) == other

    def __hash__(self):
        return 0


@pytest.fixture(autouse=True, scope="module")
def compiled(tmp_path_factory):
    """Plan and compile whatever the size."""
    torch.zeros(1)
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINDTORCH_KERNEL_CACHE", str(tmp_path_factory.mktemp("kernels")))
        patch.setattr(row_of("cpu").runtime, "planned_from", 1)
        patch.setattr(LIMITS, "min_elements", 4)
        patch.setattr(KERNELS, "mode", "now")
        yield


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(programs, st.lists(st.sampled_from(["now", "off"]), min_size=1, max_size=7))
def test_programs_give_the_same_in_every_mode(program, modes):
    eager = run(program, torch)
    for mode in ("now", Switching(modes)):
        KERNELS.mode = mode
        found = run(program, torch, torch.pipeline())
        assert_alike(program, found, eager, f"compiled, {mode}")
    assert KERNELS.broken is None
