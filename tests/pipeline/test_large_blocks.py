"""Blocks with large tensors: replayed like others where tiles would save little, in as little memory."""

import tracemalloc

import pytest

import mindtorch_core as torch

pytest.importorskip("mindtorch_cpu")


def steps(model, x):
    """A training step, and the same in a block, with the block's counts."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.gelu(model(x)).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    def in_block():
        with torch.pipeline(through_backward=True) as pipe:
            loss = step()
        return loss, pipe.stats()

    return step, in_block


def a_model():
    torch.manual_seed(3)
    layers = [torch.nn.Linear(32, 32) for _ in range(8)]
    return torch.nn.Sequential(*layers, torch.nn.LayerNorm(32)), torch.randn(4096, 32)


def test_a_training_step_with_large_tensors_is_replayed_to_the_same_bits():
    eager, _ = steps(*a_model())
    _, block = steps(*a_model())
    wanted = [eager() for _ in range(6)]
    found, stats = zip(*[block() for _ in range(6)], strict=True)
    assert all(map(torch.equal, found, wanted))
    assert stats[-1]["replayed"] == stats[-1]["recorded"] > 30


def test_a_chain_through_a_sum_of_large_tensors_runs_in_tiles():
    x = torch.randn(1024, 512)

    def shares():
        e = (x * 2 + 1).exp()
        return e / e.sum()

    for _ in range(4):
        with torch.pipeline() as pipe:
            y = shares()
    assert pipe.stats()["fused_ops"] == 4
    assert torch.equal(y, shares())


@pytest.mark.parametrize("size", [1 << 16, 1 << 18])
def test_what_a_block_uses_no_more_is_let_go(size):
    x, w = torch.randn(size // 64, 64), torch.eye(64)

    @torch.pipeline.capture
    def step():
        y = x
        for _ in range(20):
            y = (y @ w).view(-1, 64)
        return y.sum()

    step()
    tracemalloc.start()
    try:
        step()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5 * 4 * size
