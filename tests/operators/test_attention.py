"""Dropout in attention: which weights it drops, how it scales the others, what gradients say of it.

Values that are a unit matrix give the weights back, so they can be compared with those that a plain
softmax makes.
"""

import math
import warnings

import pytest

import mindtorch_core as torch

attention = torch.nn.functional.scaled_dot_product_attention
P = 0.3


def operands(rows=40, columns=50, heads=4, seed=1):
    g = torch.Generator().manual_seed(seed)
    q, k = (torch.randn(heads, n, 8, generator=g, dtype=torch.float64) for n in (rows, columns))
    return q, k, torch.eye(columns, dtype=torch.float64).expand(heads, columns, columns)


def plain_weights(q, k, allowed=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -math.inf)
    return scores.softmax(-1)


def seeded(*given, seed=3, **options):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return attention(*given, **options)


def masks(rows, columns):
    """Masks by name, as the options that ask for them; and which weights they allow."""
    lower = torch.ones(rows, columns, dtype=torch.bool).tril()
    some = torch.arange(rows * columns).reshape(rows, columns) % 3 != 1
    return {
        "none": ({}, torch.ones_like(some)),
        "bool": ({"attn_mask": some}, some),
        "float": ({"attn_mask": torch.where(some, 0.0, -math.inf).double()}, some),
        "causal": ({"is_causal": True}, lower),
    }


@pytest.mark.parametrize("name", ["none", "bool", "float", "causal"])
def test_weights_are_dropped_alike_and_the_others_scaled(name):
    q, k, unit = operands()
    options, allowed = masks(40, 50)[name]
    weights = plain_weights(q, k, allowed)
    found = seeded(q, k, unit, dropout_p=P, **options)
    kept = found != 0
    assert torch.equal(kept & ~allowed, torch.zeros_like(kept))
    torch.testing.assert_close(found, torch.where(kept, weights / (1 - P), 0.0).double())
    # Each that is allowed falls with probability P, whatever its head, row and column.
    for dims in ((0, 1, 2), (1, 2), (0, 2), (0, 1)):
        count = allowed.expand(4, 40, 50).sum(dims).double()
        share = (kept.sum(dims).double() / count.clamp(min=1))[count > 0]
        spread = (P * (1 - P) / count[count > 0]).sqrt()
        assert ((share - (1 - P)).abs() / spread).max().item() < 4.5
    heads = kept.double().flatten(1) - kept.double().flatten(1).mean(1, True)
    among = (
        heads @ heads.T / heads.square().sum(1).sqrt().outer(heads.square().sum(1).sqrt())
    ).fill_diagonal_(0)
    if name == "none":  # heads are dropped independently
        assert among.abs().max().item() < 4.5 / math.sqrt(2000)


def test_dropout_keeps_the_mean():
    q, k, unit = operands(rows=4, columns=5)
    total = sum(seeded(q, k, unit, dropout_p=P, seed=seed) for seed in range(400)) / 400
    expected = plain_weights(q, k)
    spread = expected * math.sqrt(P / (1 - P) / 400)
    assert ((total - expected).abs() / spread).max().item() < 4.5


def test_each_call_draws_anew_and_a_seed_repeats_it():
    given = operands()
    assert torch.equal(seeded(*given, dropout_p=P), seeded(*given, dropout_p=P))
    assert not torch.equal(seeded(*given, dropout_p=P), seeded(*given, dropout_p=P, seed=4))
    with torch.pipeline():
        deferred = seeded(*given, dropout_p=P)
    assert torch.equal(deferred, seeded(*given, dropout_p=P))


def test_all_or_nothing_is_dropped():
    q, k, unit = operands()
    assert seeded(q, k, unit, dropout_p=1.0).abs().sum().item() == 0
    torch.testing.assert_close(seeded(q, k, unit, dropout_p=0.0), plain_weights(q, k))
    with pytest.raises(
        RuntimeError, match=r"dropout probability has to be between 0 and 1, but got 1.5"
    ):
        attention(q, k, unit, dropout_p=1.5)


@pytest.mark.parametrize("name", ["none", "bool", "causal"])
def test_gradients_go_where_the_weights_were_kept(name):
    options, _ = masks(3, 4)[name]
    q, k, _ = operands(rows=3, columns=4, heads=2)
    v = torch.randn(2, 4, 5, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    unit = torch.eye(4, dtype=torch.float64).expand(2, 4, 4)
    kept = seeded(q, k, unit, dropout_p=P, **options)
    assert 0 < (kept == 0).sum().item() < kept.numel()
    leaves = [t.clone().requires_grad_() for t in (q, k, v)]
    made = seeded(*leaves, dropout_p=P, **options)
    torch.testing.assert_close(made.detach(), kept @ v)
    g = torch.linspace(-1, 2, made.numel(), dtype=torch.float64).reshape(made.shape)
    made.backward(g)
    torch.testing.assert_close(leaves[2].grad, kept.transpose(-2, -1) @ g)
    assert torch.autograd.gradcheck(
        lambda *given: seeded(*given, dropout_p=P, **options), leaves, check_batched_grad=False
    )


@pytest.mark.parametrize("masked", [False, True])
def test_a_given_choice_of_weights_agrees_with_pytorch(masked):
    pt = pytest.importorskip("torch")
    q, k, _ = operands(rows=3, columns=4, heads=2)
    v = torch.linspace(-1, 1, 40, dtype=torch.float64).reshape(2, 4, 5)
    chosen = [[[(h + i * j) % 3 != 1 for j in range(4)] for i in range(3)] for h in range(2)]
    scores = [[-math.inf if (i + j) % 4 == 0 else i - j for j in range(4)] for i in range(3)]

    def run(lib):
        leaves = [lib.tensor(t.tolist(), dtype=lib.float64, requires_grad=True) for t in (q, k, v)]
        made = lib._scaled_dot_product_attention_math(
            *leaves, lib.tensor(scores).double() if masked else None, P, False, lib.tensor(chosen)
        )
        (made[0].sin().sum() + made[1].cos().sum()).backward()
        return [t.tolist() for t in (*made, *(leaf.grad for leaf in leaves))]

    with warnings.catch_warnings(action="ignore"):  # PyTorch says once that this is for tests
        expected = run(pt)
    for found, want in zip(run(torch), expected, strict=True):
        torch.testing.assert_close(torch.tensor(found), torch.tensor(want))


def test_multihead_attention_may_drop_everything():
    for lib in (torch, pytest.importorskip("torch")):
        x = lib.ones(2, 1, 4)
        made, weights = lib.nn.functional.multi_head_attention_forward(
            x, x, x, 4, 2, lib.ones(12, 4), lib.ones(12), None, None, False, 1.0, lib.ones(4, 4), lib.zeros(4)
        )  # fmt: skip
        assert made.count_nonzero() == 0
        assert weights.count_nonzero() == 0
