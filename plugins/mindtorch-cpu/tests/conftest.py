"""Compiled kernels in tests: kept in a folder of the test run, and made at once where a test asks for them."""

import contextlib

import pytest

import mindtorch_core as torch
from mindtorch_core.values.devices import row_of
from mindtorch_cpu.fusion.limits import LIMITS
from mindtorch_cpu.native.kernels import KERNELS


@pytest.fixture(autouse=True, scope="session")
def kernel_folder(tmp_path_factory):
    """No test writes to the user's folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINDTORCH_KERNEL_CACHE", str(tmp_path_factory.mktemp("kernels")))
        yield


@contextlib.contextmanager
def mode(name):
    """Compile at the first launch (``now``), or not at all (``off``)."""
    before = KERNELS.mode
    KERNELS.mode = name
    try:
        yield
    finally:
        KERNELS.mode = before


@pytest.fixture
def by_kernels():
    """Kernels are made when they are first asked for, where there is a compiler."""
    torch.zeros(1)
    with mode("now"):
        yield
        assert KERNELS.broken is None


@pytest.fixture(params=["now", "off"])
def either_way(request):
    """By compiled kernels, where there is a compiler, and without."""
    torch.zeros(1)
    with mode(request.param):
        yield
        assert KERNELS.broken is None


@pytest.fixture
def with_and_without(by_kernels, monkeypatch):
    """Runs a function with compiled loops and without: what both give, as can be compared."""
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)

    def run(function):
        found = []
        for name in ("now", "off"):
            monkeypatch.setattr(KERNELS, "mode", name)
            made = function()
            every = made if isinstance(made, tuple) else (made,)
            found.append([(t.dtype, t.shape, t.stride(), repr(t.tolist())) for t in every])
        return found

    return run


@pytest.fixture
def both():
    """Runs a function of no arguments in a pipeline: with compiled kernels, and in tiles.

    Returns what both give, and how the groups of the first were computed.
    """
    torch.zeros(1)
    with mode("on"):
        if not KERNELS.enabled:
            pytest.skip(KERNELS.reason)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_of("cpu").runtime, "planned_from", 1)
        patch.setattr(LIMITS, "min_elements", 1)

        def run(function):
            found = []
            for name in ("now", "off"):
                with mode(name), torch.pipeline() as pipe:
                    made = function()
                found.append(made)
                if name == "now":
                    notes = pipe.stats()["group_notes"]
            assert KERNELS.broken is None
            return *found, notes

        yield run
