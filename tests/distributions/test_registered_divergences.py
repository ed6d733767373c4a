"""Which of several registered divergences is used, and what is said where that is not clear, as in PyTorch."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import pytest

pytest.importorskip("torch")

import torch as pt

import mindtorch_core as torch

PAIRS = ["AA", "AB", "BA", "BB", "AC", "CA", "BC", "CB"]


def chosen(lib: Any, registered: tuple[str, ...]) -> list[Any]:
    """The names of what is used for each two of three classes, one made of the other, and warnings."""
    classes: dict[str, type] = {}
    for name, base in zip("ABC", (lib.distributions.Distribution, "A", "B"), strict=True):
        classes[name] = type(name, (classes.get(base, base),), {"__init__": lambda self: None})
    for pair in registered:
        lib.distributions.register_kl(*map(classes.get, pair))(lambda p, q, pair=pair: pair)
    told = []
    for p, q in itertools.product("ABC", repeat=2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = lib.distributions.kl_divergence(classes[p](), classes[q]())
            except NotImplementedError:
                found = "none"
        told.append((p, q, found, [(w.category, str(w.message)) for w in caught]))
    return told


@pytest.mark.parametrize("number", [1, 2, 3])
def test_which_divergence_is_used(number: int) -> None:
    for registered in itertools.combinations(PAIRS, number):
        assert chosen(torch, registered) == chosen(pt, registered), registered


@pytest.mark.parametrize("lib", [torch, pt], ids=["mindtorch", "pytorch"])
def test_the_table_that_libraries_read(lib: Any) -> None:
    class Own(lib.distributions.Distribution):
        pass

    rule = lib.distributions.register_kl(Own, Own)(lambda p, q: 0)
    assert lib.distributions.kl._KL_REGISTRY[Own, Own] is rule
