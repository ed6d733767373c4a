"""Random numbers in programs: pipelines, failures, positions, checkpoints, threads; PyTorch is the oracle."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

import mindtorch_core as torch


@pytest.fixture(autouse=True)
def forked():
    with torch.random.fork_rng():
        torch.manual_seed(5)
        yield


def position():
    return bytes(torch.get_rng_state().tolist())


# ---- pipelines ----------------------------------------------------------------------------------

# What a program keeps is what its last line gives; other draws are dead.
PROGRAMS = """
t.rand(9); t.randn(3); [t.rand(2)]
t.randn(5) * 2 + t.rand(5); x = t.zeros(4); x.normal_(); [t.exp(t.randn(7)), x]
x = t.ones(30); y = t.nn.functional.dropout(x, 0.4); z = (x * 2).bernoulli_(0.5); [y + 1, t.rand(1)]
x = t.rand(n); y = (x * 2 + 1).relu(); t.rand(n); [y, t.randn(n), (t.rand(n) - x).exp()]
x = t.empty(n).uniform_(); x.uniform_(2, 3); x.add_(t.rand(n)); t.randperm(50); [x, t.randint(0, 9, (5,))]
x = t.randn(3); a = x[1:]; x.normal_(); b = a + t.rand(2); x.zero_(); [a, b, t.randn(4)]
t.multinomial(t.rand(5), 3); t.poisson(t.full((4,), 5.0)); [t.rand(2), t.empty(3).exponential_()]
"""


def program(text, lib, n):
    *lines, last = text.split("; ")
    scope = {"t": lib, "n": n}
    for line in lines:
        exec(line, scope)
    return eval(last, scope)


SIZED = [(text, 20) for text in PROGRAMS.strip().splitlines()]
SIZED += [(text, 1 << 20) for text, _ in SIZED if "n)" in text]


@pytest.mark.parametrize(("text", "n"), SIZED)
def test_draws_of_a_pipeline_are_in_program_order(text, n):
    wanted = [x.tolist() for x in program(text, torch, n)]
    after = position()
    torch.manual_seed(5)
    with torch.pipeline():
        made = program(text, torch, n)
    assert position() == after  # dead draws took their numbers
    assert [x.tolist() for x in made] == wanted


@pytest.mark.parametrize("text", PROGRAMS.strip().splitlines())
def test_a_program_draws_what_pytorch_draws(text):
    pt = pytest.importorskip("torch")
    with pt.random.fork_rng():
        pt.manual_seed(5)
        with torch.pipeline():
            made = program(text, torch, 40)
        for ours, theirs in zip(made, program(text, pt, 40), strict=True):
            assert ours.tolist() == pytest.approx(theirs.tolist(), rel=1e-6)
        assert position() == bytes(pt.get_rng_state().tolist())


def test_a_generator_in_a_pipeline():
    g, other = torch.Generator().manual_seed(1), torch.Generator().manual_seed(1)
    wanted = [torch.randn(3, generator=g).tolist(), torch.randn(3, generator=g).tolist()]
    with torch.pipeline():
        first = torch.randn(3, generator=other)
        saved = other.get_state()
        torch.randn(8, generator=other)
        other.set_state(saved)
        second = torch.randn(3, generator=other)
    assert [first.tolist(), second.tolist()] == wanted
    assert other.get_state().tolist() == g.get_state().tolist()


# ---- what takes nothing -------------------------------------------------------------------------

FAILURES = """
t.rand(3, dtype=t.int64)
t.rand(-1)
t.empty(3).uniform_(2, 1)
t.empty(3).normal_(0, -1)
t.empty(3, dtype=t.int8).random_(0, 300)
t.empty(3, dtype=t.complex64).bernoulli_()
t.bernoulli(t.tensor([0.5, 2]))
t.rand(3, out=t.empty(3, dtype=t.int32))
t.normal(t.zeros(2), -t.ones(2))
t.normal(t.zeros(2), t.ones(3))
t.multinomial(t.tensor([1.0, -1]), 1)
t.multinomial(t.zeros(3), 2, True)
t.multinomial(t.ones(3), 4)
t.poisson(t.tensor([1.0, -1]))
t.binomial(t.ones(2), t.ones(3))
t.empty(3).exponential_(-1)
t.empty(3).geometric_(2)
t.randperm(300, dtype=t.int8)
t.randint(3, 3, (2,))
t.ones(1).expand(3).uniform_()
t.nn.functional.dropout(t.ones(3), 2.0)
t.nn.functional.rrelu(-t.ones(3), 0.5, 0.2, True)
t._standard_gamma(t.ones(2, dtype=t.int64))
t.get_rng_state().__class__ and t.set_rng_state(t.zeros(5056, dtype=t.uint8))
t.set_rng_state(t.ones(7, dtype=t.uint8))
t.manual_seed(2**64)
t.rand(2, generator=t.Generator("meta"))
"""


@pytest.mark.parametrize("call", FAILURES.strip().splitlines())
def test_a_call_that_fails_leaves_the_generator_where_it_was(call):
    torch.randn(3)  # a number of a pair is left
    before = position()
    with pytest.raises((RuntimeError, ValueError, TypeError)):
        eval(call, {"t": torch})
    assert position() == before


NOTHING = """
t.rand(0)
t.randn(3, 0)
t.randperm(1)
t.empty(0).bernoulli_(0.5)
t.poisson(t.zeros(3))
t.rand(3, device="meta")
t.empty(30, device="meta").normal_()
t.randperm(9, device="meta")
t.nn.functional.dropout(t.ones(3, device="meta"))
t.nn.functional.dropout(t.ones(3), 0.0)
t.nn.functional.dropout(t.ones(3), 1.0)
t.nn.functional.dropout(t.ones(3), 0.5, False)
t.nn.functional.rrelu(t.ones(3), training=True)
"""


@pytest.mark.parametrize("call", NOTHING.strip().splitlines())
def test_calls_that_take_no_numbers(call):
    libs = [torch]
    if "meta" in call:
        libs.append(pytest.importorskip("torch"))
    for lib in libs:
        before = lib.get_rng_state().tolist()
        eval(call, {"t": lib})
        assert lib.get_rng_state().tolist() == before


# ---- positions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 7, -1, 2**40 + 3, 2**64 - 1])
@pytest.mark.parametrize("count", [0, 1, 2, 623, 624, 625, 1248])
@pytest.mark.parametrize("left", [0, 3])
def test_positions_are_pytorchs(seed, count, left):
    pt = pytest.importorskip("torch")
    ours, theirs = torch.Generator().manual_seed(seed), pt.Generator().manual_seed(seed)
    for lib, g in ((torch, ours), (pt, theirs)):
        lib.rand(count, generator=g)
        lib.randn(left, generator=g)
    state = ours.get_state().tolist()
    assert state == theirs.get_state().tolist()
    assert ours.initial_seed() == theirs.initial_seed()
    # Each goes on from the other's.
    here = torch.Generator().set_state(torch.tensor(theirs.get_state().tolist(), dtype=torch.uint8))
    there = pt.Generator().set_state(pt.tensor(state, dtype=pt.uint8))
    draw = [lib.randn(5, generator=g).tolist() for lib, g in ((torch, here), (pt, there))]
    assert draw[0] == draw[1] == torch.randn(5, generator=ours).tolist()
    assert here.get_state().tolist() == there.get_state().tolist()


COPIES = [
    copy.deepcopy,
    lambda g: pickle.loads(pickle.dumps(g)),
    torch.Generator.clone_state,
    lambda g: torch.Generator().set_state(g.get_state()),
]


@pytest.mark.parametrize("copied", COPIES)
def test_the_number_that_is_left_of_a_pair_goes_along(copied):
    g = torch.Generator().manual_seed(2)
    torch.randn(3, generator=g)
    other = copied(g)
    assert torch.randn(1, generator=other).tolist() == torch.randn(1, generator=g).tolist()
    g.manual_seed(2)
    first = torch.randn(1, generator=g)
    assert torch.randn(1, generator=g.manual_seed(2)).tolist() == first.tolist()


def changed(state, at, value):
    state = state.clone()
    state[at] = value
    return state


WRONG = {
    "zeros": lambda s: torch.zeros_like(s),
    "a stream of zeros": lambda s: torch.cat([s[:24], torch.zeros_like(s[24:])]),
    "not seeded": lambda s: changed(s, 12, 0),
    "counts that differ": lambda s: changed(s, 8, 9),
    "a place beyond the words": lambda s: changed(s, 17, 7),
    "words of 64 bits": lambda s: changed(s, 28, 1),
    "neither one nor no number left": lambda s: changed(s, 5040, 2),
    "too short": lambda s: s[:-8],
    "not contiguous": lambda s: torch.stack([s, s], 1)[:, 0],
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_what_is_no_position_is_refused_and_changes_nothing(wrong):
    g = torch.Generator().manual_seed(4)
    torch.randn(3, generator=g)
    state = g.get_state()
    with pytest.raises(RuntimeError):
        g.set_state(wrong(state))
    assert g.get_state().tolist() == state.tolist()


def test_seeds_of_generators():
    pt = pytest.importorskip("torch")
    assert torch.Generator().initial_seed() == pt.Generator().initial_seed()
    assert (
        torch.rand(3, generator=torch.Generator()).tolist()
        == pt.rand(3, generator=pt.Generator()).tolist()
    )
    for seed in (True, 1.5, "3"):
        for lib in (torch, pt):
            with pytest.raises(RuntimeError, match="manual_seed expected a long"):
                lib.Generator().manual_seed(seed)
    with pt.random.fork_rng():
        for seed in (True, 1.7, "5"):
            assert torch.manual_seed(seed).initial_seed() == pt.manual_seed(seed).initial_seed()


# ---- what programs do with generators -----------------------------------------------------------


def epochs(lib):
    """What a loader and its sampler draw: a base seed, a seed of the order, orders, chosen rows."""
    g = lib.Generator().manual_seed(3)
    taken = []
    for _ in range(3):
        taken.append(lib.empty((), dtype=lib.int64).random_(generator=g).item())
        own = lib.Generator().manual_seed(int(lib.empty((), dtype=lib.int64).random_().item()))
        taken.append(lib.randperm(23, generator=own).tolist())
        taken.append(lib.randperm(700, generator=g).tolist())
        taken.append(lib.randint(high=23, size=(32,), dtype=lib.int64, generator=g).tolist())
        taken.append(lib.multinomial(lib.arange(1.0, 9), 5, True, generator=g).tolist())
    return taken


def test_loaders_draw_what_they_draw_with_pytorch():
    pt = pytest.importorskip("torch")
    with pt.random.fork_rng():
        pt.manual_seed(5)
        assert epochs(torch) == epochs(pt)


def test_a_checkpoint_repeats_its_numbers():
    x = torch.ones(5, requires_grad=True)
    torch.randn(1)  # the function begins with the second number of a pair
    seen = []

    def function(x):
        noise = torch.randn(1) + torch.nn.functional.dropout(x, 0.5)
        seen.append(noise.tolist())
        return noise * x

    made = torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False)
    wanted, after = torch.randn(3).tolist(), position()
    made.sum().backward()
    assert seen[0] == seen[1]
    assert position() == after
    torch.manual_seed(5)
    torch.randn(1)
    function(x)
    assert torch.randn(3).tolist() == wanted


def test_a_fork_gives_back_the_number_that_is_left():
    torch.randn(1)
    with torch.random.fork_rng():
        inside = torch.randn(4).tolist()
    assert torch.randn(4).tolist() == inside


def test_threads_share_pairs():
    g = torch.Generator().manual_seed(0)
    wanted = sorted(torch.randn(1, dtype=torch.float64, generator=g).item() for _ in range(400))
    g.manual_seed(0)
    with ThreadPoolExecutor(4) as pool:
        drawn = pool.map(
            lambda _: torch.randn(1, dtype=torch.float64, generator=g).item(), range(400)
        )
        assert sorted(drawn) == wanted


def test_how_many_threads_compute_changes_nothing():
    count = torch.get_num_threads()
    made = []
    try:
        for threads in (1, 4):
            torch.set_num_threads(threads)
            torch.manual_seed(1)
            made.append(torch.randn(300_007).tolist())
    finally:
        torch.set_num_threads(count)
    assert made[0] == made[1]


# ---- modules ------------------------------------------------------------------------------------

MODULES = """
nn.Linear(7, 5)
nn.Conv2d(3, 8, 3)
nn.ConvTranspose2d(3, 8, 3)
nn.Embedding(9, 4, padding_idx=2)
nn.LSTM(3, 5, 2, bidirectional=True)
nn.GRUCell(3, 5)
nn.Bilinear(3, 4, 5)
nn.MultiheadAttention(8, 2, kdim=6, vdim=5, add_bias_kv=True)
nn.TransformerEncoderLayer(8, 2, 16)
nn.init.xavier_normal_(t.empty(6, 5).t())
nn.init.kaiming_uniform_(t.empty(2, 3, 4, 5).to(memory_format=t.channels_last))
nn.init.trunc_normal_(t.empty(9, 8).t(), 0.5, 2, -1, 1)
nn.init.sparse_(t.empty(9, 8), 0.3)
nn.init.normal_(t.empty(4, 5)[:, ::2])
nn.init.uniform_(t.empty(30, dtype=t.bfloat16), -1, 1)
"""


@pytest.mark.parametrize("text", MODULES.strip().splitlines())
def test_modules_begin_with_pytorchs_numbers(text):
    pt = pytest.importorskip("torch")
    made = []
    with pt.random.fork_rng():
        for lib in (torch, pt):
            lib.manual_seed(3)
            value = eval(text, {"nn": lib.nn, "t": lib})
            tensors = [value] if isinstance(value, lib.Tensor) else list(value.parameters())
            made.append(([x.tolist() for x in tensors], lib.get_rng_state().tolist()))
    assert made[0] == made[1]
