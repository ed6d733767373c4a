"""Large blocks that come again: a chain that one kernel computes is replayed, what tiles serve better is planned."""

import pytest

import mindtorch_core as torch
from mindtorch_core.deferred.replay.sites import forget_sites
from mindtorch_cpu.native.kernels import KERNELS

pytestmark = pytest.mark.usefixtures("by_kernels")

ROWS, WIDTH = 512, 512
ROW = torch.arange(512.0)


def adam(x, y):
    mean = x * 0.9 + y * 0.1
    square = x * x * 0.01 + y * y
    return x - 0.001 * mean / (square.sqrt() + 1e-8)


CHAINS = {
    "numbers": lambda x, y: (x * 2 + 1).tanh(),
    "several operands": adam,
    "a row": lambda x, y: x * ROW + 1,
    "a column": lambda x, y: (x - y[:, :1].contiguous()) * 0.5,
    "in place": lambda x, y: (x + 1).mul_(y).add_(1),
}
BROKEN = {
    "a reduction": lambda x, y: (x * 2).sum(-1, keepdim=True) + x * y,
    "another shape": lambda x, y: (x * 2 + 1) / (x * 2 + 1).amax(-1, keepdim=True),
}


def repeated(function):
    """What the fifth run of a block gives, the same outside, and what the block did."""
    forget_sites()  # of other programs at this line: it has only a few
    x, y = torch.randn(ROWS, WIDTH), torch.randn(ROWS, WIDTH)
    for _ in range(5):
        with torch.pipeline() as pipe:
            found = function(x, y)
    return found, function(x, y), pipe.stats()


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_that_one_kernel_computes_is_replayed(name):
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    found, expected, stats = repeated(CHAINS[name])
    assert stats["replayed"] == stats["recorded"] > 1
    assert stats["fused_groups"] == 0
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("name", BROKEN)
def test_what_goes_on_from_a_reduction_in_tiles_is_planned(name):
    found, expected, stats = repeated(BROKEN[name])
    assert stats["fused_groups"] >= 1
    assert found.tolist() == expected.tolist()


def test_without_a_compiler_a_chain_is_planned(monkeypatch):
    monkeypatch.setattr(KERNELS, "mode", "off")
    found, expected, stats = repeated(lambda x, y: (x * 2 - y).tanh())
    assert stats["fused_groups"] == 1
    assert stats["replayed"] == 0
    assert found.tolist() == expected.tolist()
