"""A block that has come often, and then otherwise in one thing: what is left out, or held, is seen."""

import pytest

import mindtorch_core as torch
from mindtorch_core.deferred.replay.sites import Site

ROUNDS = 6  # of which the last are replayed


def block(site):
    pipe = torch.pipeline()
    pipe.place = site
    return pipe


@pytest.mark.parametrize("later", [{}, {"alpha": 3}, {"alpha": 2.5}], ids=str)
@pytest.mark.parametrize("name", ["add", "add_", "sub", "sub_"])
def test_options_that_are_left_out_or_others(name, later):
    x, y, site = torch.tensor([7.0, 7.0]), torch.ones(2), Site(object())

    def run(options):
        with block(site):
            made = getattr(x.clone(), name)(y, **options)
        return made.tolist()

    for _ in range(ROUNDS):
        wanted = 9.0 if name.startswith("add") else 5.0
        assert run({"alpha": 2}) == [wanted] * 2
    change = later.get("alpha", 1)
    assert run(later) == [7 + change if name.startswith("add") else 7 - change] * 2
    assert run({"alpha": 2}) == [9.0 if name.startswith("add") else 5.0] * 2


def test_a_word_that_is_left_out():
    x, y, site = torch.tensor([7.0, -7.0]), torch.tensor([2.0, 2.0]), Site(object())

    def run(options):
        with block(site):
            made = torch.div(x, y, **options)
        return made.tolist()

    for _ in range(ROUNDS):
        assert run({"rounding_mode": "floor"}) == [3, -4]
    assert run({}) == [3.5, -3.5]
    assert run({"rounding_mode": "trunc"}) == [3, -3]
    assert run({"rounding_mode": None}) == [3.5, -3.5]


HOLDERS = {
    "": lambda t: None,
    "storage": lambda t: t.untyped_storage(),
    "view": lambda t: t.view(2, 1).squeeze(1),
    "detached": lambda t: t.detach(),
    "tensor": lambda t: t,
}


@pytest.mark.parametrize("hold", [*HOLDERS][1:])
def test_memory_that_is_held_in_a_later_run_alone(hold):
    x, site = torch.tensor([1.0, 2.0]), Site(object())

    def run(hold):
        with block(site):
            made = x * 3
            held = HOLDERS[hold](made)
            result = made + 1
            del made
        return result, held

    for _ in range(ROUNDS):
        assert run("")[0].tolist() == [4, 7]
    result, held = run(hold)
    if hold == "storage":
        held = torch.empty(0).set_(held, 0, (2,))
    assert held.tolist() == [3, 6]
    assert result.tolist() == [4, 7]
    assert run("")[0].tolist() == [4, 7]
    assert held.tolist() == [3, 6]
