"""Generators: seeds, positions, forks, pickles, threads, devices; the same numbers on every run."""

import copy
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import mindtorch_core as torch

EVERYTHING = """
import mindtorch_core as torch
torch.manual_seed(11)
t = lambda *size: torch.empty(*(size or (7,)))
def everything():
    return [
        torch.rand(3), torch.randn(3, dtype=torch.float64), torch.randint(9, (4,)),
        torch.randint(-5, 5, (2, 2)), torch.randperm(6), torch.rand_like(t()), torch.randn_like(t()),
        torch.randint_like(t(), 9), torch.normal(0.0, torch.ones(3)), torch.normal(torch.ones(3)),
        torch.normal(1, 2, (3,)), t().uniform_(1, 2), t().normal_(), t().log_normal_(),
        t().exponential_(2), t().cauchy_(), t().geometric_(0.3), t().random_(), t().random_(5),
        t().bernoulli_(), torch.bernoulli(torch.full((5,), 0.5)), torch.poisson(torch.ones(4) * 9),
        torch.binomial(torch.ones(4) * 9, torch.full((4,), 0.5)), torch.multinomial(torch.ones(6), 3),
        torch.multinomial(torch.ones(2, 6), 9, True), torch.dropout(torch.ones(9), 0.5, True),
        torch.nn.functional.alpha_dropout(torch.ones(9), 0.5, True),
        torch.nn.functional.dropout2d(torch.ones(2, 3, 1, 1)),
        torch.native_dropout(torch.ones(9), 0.5, True)[1],
        torch.nn.functional.rrelu(-torch.ones(5), training=True),
    ]
"""


def everything(prologue="", epilogue=""):
    scope = {}
    exec(EVERYTHING + prologue + epilogue, scope)
    return scope


def eager():
    with torch.random.fork_rng():
        return [x.tolist() for x in everything()["everything"]()]


def test_fresh_processes_draw_the_same_numbers():
    script = EVERYTHING + "print([x.tolist() for x in everything()])"
    seen = {
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300
        ).stdout
        for _ in range(2)
    }
    assert seen == {f"{eager()}\n"}


def test_a_pipeline_draws_the_same_numbers():
    with torch.random.fork_rng():
        scope = everything()
        with torch.pipeline():
            made = scope["everything"]()
        assert [x.tolist() for x in made] == eager()


def test_two_calls_differ():
    with torch.random.fork_rng():
        draw = everything()["everything"]
        first, second = draw(), draw()
    assert sum(a.tolist() == b.tolist() for a, b in zip(first, second, strict=True)) < 3


DRAWS = [
    lambda g: torch.rand(3, generator=g),
    lambda g: torch.empty(5, dtype=torch.int32).random_(generator=g),
    lambda g: torch.empty(3, dtype=torch.float64).exponential_(generator=g),
    lambda g: torch.poisson(torch.full((3,), 50.0), g),
    lambda g: torch.randn_like(torch.empty(3), generator=g),
    lambda g: torch.randint_like(torch.empty(3), 50, generator=g),
    lambda g: torch.normal(0.0, torch.ones(3), generator=g),
]


@pytest.mark.parametrize("draw", DRAWS)
def test_a_position_replays_what_followed_it(draw):
    g = torch.Generator().manual_seed(3)
    torch.rand(1, generator=g)
    torch.empty(1, dtype=torch.int32).random_(0, 9, generator=g)  # half a word of the stream
    position = g.get_state()
    first = draw(g).tolist()
    assert draw(g).tolist() != first
    assert g.set_state(position) is g
    assert draw(g).tolist() == first
    assert g.initial_seed() == 3


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g)),
               torch.Generator.clone_state],
)  # fmt: skip
def test_copies_go_on_from_the_same_position_on_their_own(copied):
    g = torch.Generator().manual_seed(9)
    torch.rand(5, generator=g)
    other = copied(g)
    assert other is not g
    assert (other.initial_seed(), other.device) == (9, torch.device("cpu"))
    wanted = torch.rand(3, generator=g).tolist()
    assert torch.rand(3, generator=other).tolist() == wanted


def test_seeds():
    g = torch.Generator()
    assert g.manual_seed(-1).initial_seed() == 2**64 - 1
    fresh = g.seed()
    assert g.initial_seed() == fresh
    wanted = torch.rand(2, generator=g).tolist()
    assert torch.rand(2, generator=g.manual_seed(fresh)).tolist() == wanted
    with torch.random.fork_rng():
        assert torch.manual_seed(4) is torch.default_generator
        assert torch.initial_seed() == 4
        assert torch.seed() == torch.initial_seed()
        assert torch.seed() != torch.seed()


def test_the_default_generators_position():
    with torch.random.fork_rng():
        position = torch.get_rng_state()
        first = torch.rand(3).tolist()
        torch.set_rng_state(position)
        assert torch.rand(3).tolist() == first


@pytest.mark.parametrize("deferred", [False, True])
def test_a_fork_leaves_no_trace(deferred):
    g = torch.default_generator
    with torch.random.fork_rng():
        torch.manual_seed(1)
        wanted = torch.rand(3).tolist()

        def program():
            torch.manual_seed(1)
            with torch.random.fork_rng():
                inside = torch.rand(2)
                torch.manual_seed(99)
            return inside, torch.rand(3)

        if deferred:
            with torch.pipeline():
                inside, after = program()
        else:
            inside, after = program()
        assert after.tolist() == wanted
        assert inside.tolist() == wanted[:2]
        with torch.random.fork_rng(enabled=False):
            before = g.get_state().tolist()
            torch.rand(1)
        assert g.get_state().tolist() != before


def test_a_fork_ends_when_its_body_raises():
    before = torch.get_rng_state().tolist()
    with pytest.raises(ZeroDivisionError), torch.random.fork_rng():
        torch.rand(1 // 0)
    assert torch.get_rng_state().tolist() == before


def test_each_thread_may_have_a_generator_of_its_own():
    def draw(seed):
        g = torch.Generator().manual_seed(seed)
        return [torch.rand(100, generator=g).tolist() for _ in range(20)]

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(draw, range(8)))
    assert together == [draw(seed) for seed in range(8)]


def test_threads_that_share_a_generator_draw_each_number_once():
    g = torch.Generator().manual_seed(0)
    with ThreadPoolExecutor(4) as pool:
        made = pool.map(
            lambda _: torch.rand(50, dtype=torch.float64, generator=g).tolist(), range(40)
        )
        together = sorted(v for row in made for v in row)
    alone = torch.rand(2000, dtype=torch.float64, generator=g.manual_seed(0)).tolist()
    assert together == sorted(alone)


# ---- devices ------------------------------------------------------------------------------------


def test_each_device_has_a_generator(dice):
    with torch.random.fork_rng():
        torch.manual_seed(6)
        here, there = torch.rand(3).tolist(), torch.rand(3, device=dice).tolist()
        other = torch.rand(3, device=f"{dice}:1").tolist()
        assert there == other != here  # one seed for all
        torch.manual_seed(6)
        assert torch.rand(3, device=dice).tolist() == there
        assert torch.rand(3).tolist() == here
        g = torch.Generator(dice).manual_seed(6)
        assert g.device == torch.device(dice, 0)
        assert torch.rand(3, generator=g, device=dice).tolist() == there
        position = g.get_state()
        assert (position.dtype, position.device.type) == (torch.uint8, "cpu")
        first = torch.randn(3, generator=g, device=dice).tolist()
        assert torch.randn(3, generator=g.set_state(position), device=dice).tolist() == first
        assert pickle.loads(pickle.dumps(g)).device == g.device


def test_functions_of_a_device(dice):
    with torch.random.fork_rng():
        torch.toy.manual_seed_all(5)
        assert torch.toy.initial_seed() == torch.Generator("toy").manual_seed(5).initial_seed() == 5
        position = torch.toy.get_rng_state(1)
        first = torch.rand(3, device="toy:1").tolist()
        assert first == torch.rand(3, device="toy:0").tolist()
        torch.toy.set_rng_state(position, "toy:1")
        assert torch.rand(3, device="toy:1").tolist() == first


@pytest.mark.parametrize("ask", ["seed", "seed_all"])
def test_a_device_seeds_itself_anew(ask, dice):
    def seeds():
        torch.toy.manual_seed_all(5)
        getattr(torch.toy, ask)()
        found = []
        for index in range(2):
            with torch.toy.device(index):
                found.append(torch.toy.initial_seed())
        return found

    with torch.random.fork_rng():
        (first, _), (again, last) = seeds(), seeds()
        assert len({first, again, 5}) == 3
        assert last == (5 if ask == "seed" else again)
        drawn = torch.rand(8, device="toy").tolist()
        torch.toy.manual_seed(again)
        assert torch.rand(8, device="toy").tolist() == drawn


def test_a_fork_keeps_the_generators_of_all_devices(dice):
    torch.rand(1, device=dice)
    with torch.random.fork_rng():
        wanted = torch.rand(3, device=dice).tolist()
    for devices in (None, [dice], [torch.device(dice, 0)]):
        with torch.random.fork_rng(devices):
            torch.rand(5, device=dice)
    with torch.random.fork_rng([0], device_type=dice):
        torch.rand(5, device=dice)
    assert torch.rand(3, device=dice).tolist() == wanted


def test_a_device_first_used_in_a_fork_starts_anew_after_it(dice):
    with torch.random.fork_rng():
        torch.manual_seed(6)
        with torch.random.fork_rng():
            torch.manual_seed(7)
            inside = torch.rand(3, device=f"{dice}:1").tolist()
        after = torch.rand(3, device=f"{dice}:1").tolist()
        torch.manual_seed(6)
        assert torch.rand(3, device=f"{dice}:1").tolist() == after != inside


def test_a_generator_of_another_device_is_refused(dice):
    g = torch.Generator()
    with pytest.raises(
        RuntimeError, match="Expected a 'toy:0' device type for generator but found"
    ):
        torch.rand(2, device=dice, generator=g)


def test_bytes_of_something_else_are_no_state():
    g = torch.Generator().manual_seed(3)
    torch.rand(5, generator=g)
    state = g.get_state()
    for wrong in (
        torch.zeros_like(state),
        torch.full_like(state, 255),
        state.flip(0),
        state.roll(1),
    ):
        with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
            g.set_state(wrong)
        assert g.get_state().tolist() == state.tolist()  # it is where it was
    meta = torch.Generator("meta")
    with pytest.raises(RuntimeError, match="8 bytes"):
        meta.set_state(state)


def test_wrong_states_and_seeds():
    g = torch.Generator()
    with pytest.raises(TypeError, match=r"expected a torch.ByteTensor, but got list"):
        g.set_state([1])
    with pytest.raises(TypeError, match=r"RNG state must be a torch.ByteTensor"):
        g.set_state(torch.ones(45))
    with pytest.raises(
        RuntimeError, match="of size 5056 but found the input RNG state size to be 3"
    ):
        g.set_state(torch.zeros(3, dtype=torch.uint8))
    with pytest.raises(RuntimeError, match="manual_seed expected a long, but got float"):
        g.manual_seed(1.5)
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        g.manual_seed(2**64)
    with pytest.raises(TypeError, match=r"'generator' must be torch.Generator, not int"):
        torch.rand(2, generator=3)
