"""What random ops accept, refuse and return, against PyTorch; dropout and its relatives."""

import math

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

# Expressions in `t`, the library; `x` is three ones, `i` three integers. What is drawn does not count.
CALLS = """
x.exponential_(0)
x.exponential_(-1)
i.exponential_(1)
x.to(t.complex64).exponential_()
x.geometric_(0)
x.geometric_(1)
i.geometric_(0.5)
i.bool().geometric_(0.5)
x.cauchy_(0, -1)
x.cauchy_(0, 0)
i.cauchy_()
x.log_normal_(0, -1)
x.log_normal_(0, 0)
i.log_normal_()
x.normal_(0, -1)
x.normal_(0, float("nan"))
i.normal_()
x.to(t.complex64).normal_()
x.uniform_(1, 0)
x.uniform_(0, float("inf"))
x.half().uniform_(0, 1e6)
i.uniform_()
x.to(t.complex64).uniform_()
x.uniform_(to=3)
x.bernoulli_(1.5)
x.bernoulli_(-0.1)
i.bernoulli_(0.5)
x.bernoulli_(t.tensor([0.5, 0.5, 1.2]))
x.bernoulli_(t.tensor([0.5]))
x.bernoulli_(t.full((3, 3), 0.5))
x.bernoulli_(i)
t.bernoulli(x * 2)
t.bernoulli(i)
t.bernoulli(i, 0.5)
t.bernoulli(x, 1.5)
x.random_(5, 5)
x.random_(0)
x.random_(-1)
x.random_(4)
x.random_(to=3)
x.random_(0, 1.5)
i.random_(0, 2**63 - 1)
i.to(t.int8).random_(0, 200)
i.to(t.int8).random_(-200, 10)
i.to(t.uint8).random_(-1, 10)
x.half().random_(0, 100000)
i.bool().random_(0, 3)
i.bool().random_()
x.to(t.complex64).random_()
t.randint(5, 5, (2,))
t.randint(0, (2,))
t.randint(2**40, (2,), dtype=t.int32)
t.randint(3, (2,), dtype=t.complex64)
t.randint(1, (2,), dtype=t.float32)
t.randint_like(x, 5)
t.randint_like(x, 5, 5)
t.randint_like(x, t.tensor(5))
t.randint_like(x, 2, 5, dtype=t.int32)
t.rand(2, dtype=t.int64)
t.randn(2, dtype=t.int64)
t.randn(2, dtype=t.complex64)
t.rand(-1)
t.randperm(-1)
t.randperm(5, dtype=t.float16)
t.randperm(5000, dtype=t.float16)
t.randperm(500, dtype=t.uint8)
t.randperm(3, dtype=t.complex64)
t.randperm(3, dtype=t.bool)
t.normal(0, -1, (2,))
t.normal(x, -1)
t.normal(x, -x)
t.normal(x, t.ones(3, 1))
t.normal(x, t.ones(4))
t.normal(x, x.double())
t.normal(x.double(), x)
t.normal(i, 1.0)
t.normal(0.0, i)
t.normal(2, 3)
t.normal(2, 3, size=(1, 4))
t.normal(std=x, mean=1.0)
t.normal(0.0, t.tensor([1.0, -1]))
t.normal(x.to(t.complex64), 1.0)
t.normal(x, x.to(t.complex64))
t.normal(0, 1, (2,), dtype=t.int64)
t.multinomial(x, 2)
t.multinomial(x, 4)
t.multinomial(x, 0)
t.multinomial(x, 4, True)
t.multinomial(-x, 2)
t.multinomial(x * float("nan"), 2)
t.multinomial(x * float("inf"), 2)
t.multinomial(x * 0, 2)
t.multinomial(x * 0, 2, True)
t.multinomial(i, 2)
t.multinomial(t.ones(2, 2, 2), 1)
t.multinomial(t.ones(()), 1)
t.multinomial(t.ones(0), 1)
t.multinomial(t.ones(0, 2), 1)
t.multinomial(t.tensor([[1.0, 1], [0, 0]]), 1, True)
t.multinomial(x.half(), 2)
t.poisson(-x)
t.poisson(i)
t.poisson(x.half())
t.poisson(x * float("nan"))
t.poisson(x * float("inf"))
t.binomial(x, x)
t.binomial(-x, x)
t.binomial(x, x.double())
t.binomial(t.ones(2), x)
t.binomial(i, x)
t.binomial(x, i)
t.binomial(x.half(), x.half())
t.rand_like(x, dtype=t.float64)
t.randn_like(t.ones(2, 3, 2, 2), memory_format=t.channels_last)
t.rand_like(t.ones(2, 3).t())
t.rand(2, out=t.empty(2, dtype=t.float64))
t.rand(2, out=t.empty(2, dtype=t.int64))
t.rand(2, out=t.empty(2), dtype=t.float64)
t.randn(2, out=t.empty(2))
t.randint(3, (2,), out=t.empty(2, dtype=t.int32))
t.randperm(3, out=t.empty(3, dtype=t.int32))
t.normal(0.0, x, out=t.empty(3))
t.normal(0, 1, (2,), out=t.empty(2))
t.bernoulli(x, out=t.empty(3))
t.multinomial(x, 2, out=t.empty(2, dtype=t.int64))
t.rand(2, requires_grad=True)
t.ones(1).expand(3).uniform_()
t.ones(1).expand(3).random_()
t.ones(1).expand(3).exponential_()
t.ones(1).expand(3).bernoulli_()
t.nn.functional.dropout(x, 1.5)
t.nn.functional.dropout(i, 0.5)
t.nn.functional.dropout(i, 0.5, False)
t.nn.functional.dropout(x, 1.0)
t.dropout(x, 1.5, True)
t.nn.functional.alpha_dropout(x, 2.0, True)
t.nn.functional.alpha_dropout(x, 1.0, True)
t.nn.functional.feature_alpha_dropout(x, 0.5, True)
t.nn.functional.feature_alpha_dropout(t.ones(2, 3, 2), 0.5, True)
t.nn.functional.dropout1d(x, 0.5)
t.nn.functional.dropout1d(t.ones(2, 3), 0.5)
t.nn.functional.dropout1d(t.ones(2, 3), 2.5)
t.nn.functional.dropout2d(t.ones(2, 3, 2, 2), 0.5)
t.nn.functional.dropout3d(t.ones(2, 3, 2, 2), 0.5)
t.native_dropout(x, 0.5, True)[1]
t.native_dropout(x, 0.5, False)[1]
t.native_dropout(x, 2.0, True)
t.native_dropout(i, 0.5, True)
t.ops.aten.native_dropout_backward(x, t.tensor([True, False, True]), 2.0)
t.nn.functional.rrelu(-x)
t.nn.functional.rrelu(-x, training=True)
t.nn.functional.rrelu(-x, 0.5, 0.2, training=True)
t.nn.functional.rrelu(-i, 0.2, 0.5, training=True)
t.nn.functional.rrelu(-i, 0.2, 0.5)
""".strip().splitlines()


def outcome(call, lib):
    """Shape, strides, dtype and whether it requires grad; or the exception's type."""
    try:
        made = eval(call, {"t": lib, "x": lib.ones(3), "i": lib.ones(3, dtype=lib.int64)})
    except Exception as error:  # noqa: BLE001 (whatever PyTorch raises)
        return type(error).__name__
    return tuple(made.shape), made.stride(), str(made.dtype), made.requires_grad


@pytest.mark.parametrize("call", CALLS)
def test_calls(call):
    assert outcome(call, torch) == outcome(call, pt)


TEXTS = """
x.exponential_(0)
i.exponential_(1)
x.geometric_(1)
x.cauchy_(0, 0)
x.log_normal_(0, 0)
i.log_normal_()
x.normal_(0, -1)
i.normal_()
x.uniform_(1, 0)
x.uniform_(0, float("inf"))
x.bernoulli_(1.5)
x.random_(5, 5)
i.to(t.int8).random_(0, 200)
i.to(t.uint8).random_(-1, 10)
t.randperm(5000, dtype=t.float16)
t.randperm(3, dtype=t.bool)
t.normal(x, -x)
t.multinomial(x, 4)
t.multinomial(-x, 2)
t.multinomial(x * 0, 2)
t.multinomial(i, 2)
t.poisson(-x)
t.binomial(i, x)
t.binomial(x, x.double())
t.nn.functional.dropout(x, 1.5)
t.nn.functional.feature_alpha_dropout(x, 0.5, True)
t.nn.functional.rrelu(-x, 0.5, 0.2, training=True)
""".strip().splitlines()


def text(call, lib):
    with pytest.raises((RuntimeError, ValueError)) as info:
        eval(call, {"t": lib, "x": lib.ones(3), "i": lib.ones(3, dtype=lib.int64)})
    return str(info.value).splitlines()[0]


@pytest.mark.parametrize("call", TEXTS)
def test_texts_of_errors(call):
    assert text(call, torch) == text(call, pt)


GRADIENTS = """
t.normal(a, 1.0)
t.normal(a, a.abs() + 1)
t.bernoulli(a.sigmoid())
t.poisson(a * a)
(a * 1).uniform_() + a
(a * 1).exponential_() + a
(a * 1).bernoulli_(0.5) + a
(a * 1).random_(0, 9) + a
t.dropout(a, 0.0, True)
t.nn.functional.dropout(a, 1.0)
t.nn.functional.rrelu(a, 0.25, 0.25, True)
t.nn.functional.rrelu(a)
t.native_dropout(a, 0.0, True)[0]
""".strip().splitlines()


@pytest.mark.parametrize("call", GRADIENTS)
def test_gradients(call):
    def gradient(lib):
        a = lib.tensor([0.5, -1.0, 2.0], requires_grad=True)
        made = eval(call, {"t": lib, "a": a})
        made.sum().backward()
        return a.grad.tolist(), made.requires_grad

    assert gradient(torch) == gradient(pt)


# ---- dropout ------------------------------------------------------------------------------------

F = torch.nn.functional


def test_dropout_keeps_the_mean_and_gradients_pass_where_elements_did():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        a = torch.ones(20_000, requires_grad=True)
        made = F.dropout(a, 0.25)
        values = set(made.tolist())
        assert sorted(values) == pytest.approx([0, 4 / 3])
        assert made.mean().item() == pytest.approx(1, abs=0.02)
        made.sum().backward()
        assert a.grad.tolist() == made.tolist()


def test_alpha_dropout_keeps_mean_and_variance():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        a = torch.randn(200_000)
        for p in (0.1, 0.5, 0.9):
            made = F.alpha_dropout(a, p, True)
            assert made.mean().item() == pytest.approx(0, abs=0.03)
            assert made.var().item() == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize(
    ("name", "shape"),
    [("dropout1d", (5, 40, 3)), ("dropout1d", (40, 3)), ("dropout2d", (5, 40, 3, 2)),
     ("dropout3d", (5, 40, 3, 2, 2)), ("dropout3d", (40, 3, 2, 2))],
)  # fmt: skip
@pytest.mark.parametrize("inplace", [False, True])
def test_channels_are_dropped_as_a_whole(name, shape, inplace):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        a = torch.ones(shape)
        made = getattr(F, name)(a, 0.5, inplace=inplace)
        assert made.shape == torch.Size(shape)
        assert (made is a) == inplace
        channels = shape[: 1 if len(shape) in (2, 4) and name != "dropout2d" else 2]
        rows = made.reshape(math.prod(channels), -1).tolist()
        assert {len(set(row)) for row in rows} == {1}
        assert {row[0] for row in rows} == {0.0, 2.0}


@pytest.mark.parametrize(("name", "rank"), [("dropout2d", 2), ("dropout2d", 3), ("dropout3d", 3)])
def test_unusual_ranks_are_warned_of(name, rank):
    for lib in (torch, pt):
        with pytest.warns(UserWarning, match=f"{name}: "):
            getattr(lib.nn.functional, name)(lib.ones((2,) * rank))


def test_outside_training_the_input_itself_comes_back():
    a = torch.ones(2, 3, 2, 2)
    assert F.dropout(a, 0.5, False) is a
    assert F.dropout2d(a, 0.5, False) is a
    assert F.alpha_dropout(a) is a
    assert F.dropout(a, 0.0) is a


def test_rrelu_draws_slopes_for_what_is_not_positive():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        a = torch.cat([-torch.ones(1000), torch.ones(1000)]).requires_grad_()
        made = F.rrelu(a, 0.25, 0.5, True)
        low = [-v for v in made[:1000].tolist()]
        assert 0.25 <= min(low) < 0.26
        assert 0.49 < max(low) < 0.5
        assert made[1000:].tolist() == [1.0] * 1000
        made.sum().backward()
        assert a.grad[:1000].tolist() == low
        b = -torch.ones(4)
        assert torch.rrelu_(b, 0.5, 0.5, True) is b
        assert b.tolist() == [-0.5] * 4
