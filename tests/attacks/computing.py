"""How the CPU computes what is recorded: sizes from which it plans, tiles, compiled kernels, threads."""

import contextlib

import pytest

import mindtorch_core as torch
from mindtorch_core.values.devices import row_of
from mindtorch_cpu.fusion.limits import LIMITS
from mindtorch_cpu.native.kernels import KERNELS

WAYS = ["as ever", "some planned", "tiles", "compiled", "compiled in tiles"]
_SMALLEST = {"some planned": 10}
_TILE = {"some planned": 10, "compiled": 1 << 17}


@contextlib.contextmanager
def computing(way):
    """Groups of a few elements are computed in one of the ways; with two threads where there are tiles."""
    threads, mode = torch.get_num_threads(), KERNELS.mode
    with pytest.MonkeyPatch.context() as patch:
        if way != "as ever":
            smallest = _SMALLEST.get(way, 2)
            patch.setattr(row_of("cpu").runtime, "planned_from", smallest)
            patch.setattr(LIMITS, "min_elements", smallest)
            patch.setattr(LIMITS, "tile_elements", _TILE.get(way, 7))
            torch.set_num_threads(1 if way == "compiled" else 2)
        KERNELS.mode = "off" if way == "tiles" else "now" if way.startswith("compiled") else mode
        try:
            yield
        finally:
            KERNELS.mode = mode
            torch.set_num_threads(threads)


def skip_unless_there(way):
    """Skip a test where nothing can be compiled."""
    if way.startswith("compiled"):
        with computing(way):
            if not KERNELS.enabled:
                pytest.skip(KERNELS.reason)


@pytest.fixture(scope="session")
def kernel_folder(tmp_path_factory):
    """No test writes to the user's folder of kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINDTORCH_KERNEL_CACHE", str(tmp_path_factory.mktemp("kernels")))
        yield
