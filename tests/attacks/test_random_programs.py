"""Random whole programs: PyTorch and mindtorch agree, and so do eager runs and pipelines.

Views, writes, ``out=``, swapped data, hooks, checkpoints, modes, several devices and pipelines within
pipelines meet in any order. What fails is made shorter and printed as a program. ATTACK_SECONDS says
how long each test goes on.
"""

import contextlib

import bare
import pytest
from attack import seeds, told
from computing import WAYS, computing, kernel_folder, skip_unless_there  # noqa: F401 (a fixture)
from drawn_programs import drawn
from whole_programs import difference, run, shrunk, source

import mindtorch_core as torch
from mindtorch_core.deferred.replay.sites import Site
from mindtorch_core.dispatch import current_pipeline
from mindtorch_core.dispatch.keys import MASKS
from mindtorch_cpu.native.kernels import KERNELS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def devices(tmp_path_factory):
    """Two besides the CPU: one of a third party, and NPUs where they are."""
    with bare.loaded(tmp_path_factory.mktemp("bare")):
        yield "bare", "npu" if torch.npu.is_available() else "cpu"


def attack(seed, devices, first, second, **options):
    """Compare two ways to run the program of a seed."""
    lines, exact = drawn(seed, torch, devices, **options)

    def differ(part):
        found = difference(part, first(part), second(part), exact)
        assert (MASKS.include, MASKS.keep, torch.is_grad_enabled()) == (0, -1, True), part
        assert current_pipeline() is None, part
        return found

    if unlike := differ(lines):
        where = unlike.partition("\n")[0]  # others may be known, and came with what was left out
        fewer = shrunk(lines, lambda part: (differ(part) or "").startswith(where))
        pytest.fail(told(seed, f"{source(fewer)}\n{differ(fewer)}"))


def test_eager_against_pytorch(devices):
    pt = pytest.importorskip("torch")

    def ours(lines):
        return run(lines, torch, devices=devices, lost=True)

    def theirs(lines):
        return run(lines, pt, lost=True)

    for seed in seeds(150):
        attack(seed, devices, ours, theirs, common=True)


@pytest.mark.parametrize("whole", [True, False], ids=["one pipeline", "its own pipelines"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("kernel_folder")
def test_pipelines_against_eager(devices, whole, way):
    def at_once(lines):
        return run(lines, torch, devices=devices)

    def deferred(lines):
        block = torch.pipeline if whole else contextlib.nullcontext
        with computing(way):
            return run(lines, torch, deferred=True, devices=devices, around=block)

    skip_unless_there(way)
    for seed in seeds(25):
        attack(seed, devices, deferred, at_once)
        assert KERNELS.broken is None


@pytest.mark.parametrize("through", [True, False], ids=["through backward", "as ever"])
def test_blocks_that_come_again(devices, through):
    """From the second time on a block's trace is known, from the fourth on it is replayed."""

    def at_once(lines):
        return run(lines, torch, devices=devices)

    def again(lines):
        site = Site(lines)

        def block():
            pipe = torch.pipeline(through_backward=through)
            pipe.place = site
            return pipe

        first, wanted = None, at_once(lines)
        for _ in range(5):
            found = run(lines, torch, deferred=True, devices=devices, around=block)
            if difference(lines, found, wanted, True) and first is None:
                first = found
        return first or found

    for seed in seeds(60):
        attack(seed, devices, again, at_once)
