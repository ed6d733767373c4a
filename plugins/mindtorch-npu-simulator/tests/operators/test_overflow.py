"""Integers wrap around where a result does not fit, in every kernel that adds or multiplies.

In C++ that is undefined unless it is spelt out: on a build for the sanitizer of undefined behaviour
(`SIM_SANITIZE=undefined`) these tests end the process where it is not.
"""

from collections.abc import Callable
from typing import Any

import pytest
from calling import Out, refused, run, torch
from simtoolkit import CODES

LEAST, MOST = -(2**63), 2**63 - 1
EDGES = torch.tensor([LEAST, MOST, -1, 3])
MATRIX = torch.tensor([[LEAST, -1, MOST, MOST], [MOST, MOST, 2, LEAST]])

# The arguments of operators before their output of int64, and what PyTorch gives.
SUMS_AND_PRODUCTS: dict[str, tuple[list[Any], Callable[[], Any]]] = {
    "Ger": ([EDGES, EDGES], lambda: torch.outer(EDGES, EDGES)),
    "Addr": (
        [torch.full((4, 4), MOST), EDGES, EDGES, 3, 5],
        lambda: torch.addr(torch.full((4, 4), MOST), EDGES, EDGES, beta=3, alpha=5),
    ),
    "IndexAdd": (
        [EDGES, 0, torch.tensor([0, 1]), torch.tensor([-1, 1]), 7],
        lambda: torch.index_add(EDGES, 0, torch.tensor([0, 1]), torch.tensor([-1, 1]), alpha=7),
    ),
    "Scatter": (
        [EDGES, 0, torch.tensor([0, 1]), torch.tensor([-1, 1]), 1],
        lambda: torch.scatter_add(EDGES, 0, torch.tensor([0, 1]), torch.tensor([-1, 1])),
    ),
    "ScatterReduce": (
        [EDGES, 0, torch.tensor([1, 1]), torch.tensor([3, 5]), 2, True],
        lambda: torch.scatter_reduce(EDGES, 0, torch.tensor([1, 1]), torch.tensor([3, 5]), "prod"),
    ),
}


@pytest.mark.parametrize("name", SUMS_AND_PRODUCTS)
def test_sums_and_products_of_int64_wrap_around(name: str) -> None:
    arguments, oracle = SUMS_AND_PRODUCTS[name]
    expected = oracle()
    assert run(name, *arguments, Out("i64", expected.shape)).equal(expected)


def test_a_product_of_a_matrix_and_a_vector_wraps_around() -> None:
    addend = torch.tensor([MOST, LEAST])
    result = run("Addmv", addend, MATRIX, EDGES, 3, 5, Out("i64", [2]), 0)
    assert result.equal(torch.addmv(addend, MATRIX, EDGES, alpha=3, beta=5))


def test_a_dot_product_of_int32_wraps_around() -> None:
    least = torch.full((5,), -(2**31), dtype=torch.int32)
    assert run("Dot", least, least, Out("i32", [])).equal(torch.dot(least, least))


def test_a_sequence_may_span_all_integers() -> None:
    result = run("Arange", LEAST, MOST, 2**62, Out("i64", [4]))
    assert result.tolist() == [LEAST, -(2**62), 0, 2**62]


def test_a_step_may_be_any_positive_integer() -> None:
    values = torch.arange(12).reshape(3, 4)
    assert run("Slice", values, 0, 1, MOST, MOST, Out("i64", [1, 4])).equal(values[1:2])


def test_a_roll_may_be_any_integer() -> None:
    values = torch.arange(6).reshape(2, 3)
    result = run("Roll", values, [MOST, LEAST, MOST], [1, 1, 1], Out("i64", [2, 3]))
    assert result.equal(torch.roll(values, (MOST * 2 + LEAST) % 3, 1))


IMAGE = torch.zeros(1, 1, 4, 4)

# Arguments that ask for sizes beyond all numbers, which must not become smaller ones by wrapping.
TOO_LARGE: dict[str, list[Any]] = {
    "ConstantPadNd": [IMAGE, [MOST, MOST], 0.0, Out("f32", [1, 1, 4, 2])],
    "ReplicationPad2d": [IMAGE, [MOST, MOST, 1, 1], Out("f32", [1, 1, 6, 2])],
    "Diag": [EDGES, LEAST, Out("i64", [4, 4])],
    "RepeatInterleaveInt": [EDGES, 2**62, 0, Out("i64", [0])],
    "Repeat": [EDGES, [2**62], Out("i64", [0])],
    "SplitWithSize": [EDGES, [2**63 - 1, 2**63 - 1, 6], 0, [Out("i64", [n]) for n in (0, 0, 4)]],
    "AdaptiveAvgPool2d": [IMAGE, [MOST, MOST], Out("f32", [1, 1, 4, 4])],
    "AvgPool2d": [IMAGE, [MOST] * 2, [1, 1], [2**62] * 2, False, True, 0, 0, Out("f32", [1, 1, 4, 4])],
}  # fmt: skip


@pytest.mark.parametrize("name", TOO_LARGE)
def test_sizes_beyond_all_numbers_are_refused(name: str) -> None:
    assert refused(name, *TOO_LARGE[name]) == CODES.INVALID
