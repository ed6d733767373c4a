"""Random numbers in a pipeline are those of the same program without one."""

import pytest

import mindtorch_core as torch


def seed_between(generator):
    generator.manual_seed(5)
    first = torch.rand(3, generator=generator)
    generator.manual_seed(5)
    return [first, torch.rand(3, generator=generator)]


def go_back(generator):
    generator.manual_seed(5)
    torch.rand(2, generator=generator)
    position = generator.get_state()
    first = torch.rand(3, generator=generator)
    generator.set_state(position)
    return [first, torch.rand(3, generator=generator)]


def nobody_looks_at_the_first(generator):
    generator.manual_seed(5)
    torch.rand(3, generator=generator)
    return [torch.rand(3, generator=generator), torch.randn(2, generator=generator).relu()]


def a_fresh_seed_after(generator):
    generator.manual_seed(5)
    first = torch.rand(3, generator=generator)
    generator.seed()
    return [first]


PROGRAMS = [seed_between, go_back, nobody_looks_at_the_first, a_fresh_seed_after]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_generator_gives_the_eager_numbers(program):
    eager = [t.tolist() for t in program(torch.Generator())]
    with torch.pipeline():
        made = program(torch.Generator())
    assert [t.tolist() for t in made] == eager


def test_the_default_generator_too():
    with torch.random.fork_rng():
        torch.manual_seed(5)
        eager = torch.rand(3).tolist()
        with torch.pipeline() as pipe:
            torch.manual_seed(5)
            made = torch.rand(3)
            torch.manual_seed(6)
            assert made._pending is False
            assert pipe.stats()["flush_reasons"] == {"manual_seed()": 1}
    assert made.tolist() == eager
