"""`Tensor.dim_order` where strides do not say in which order dimensions lie, beside PyTorch's."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

SHAPES = [((2, 3), None), ((1, 3), None), ((2, 2), (1, 1)), ((2, 3, 4), (12, 1, 3)),
          ((2, 3, 5, 7), (105, 1, 21, 3)), ((2, 1, 5, 7), None), ((1, 1, 1, 1), None), ((2, 1, 5, 7), (35, 1, 7, 1)),
          ((), None), ((3,), None), ((2, 3), (0, 1)), ((2, 3, 2), (1, 2, 1)),
          ((2, 1), (1, 1)), ((1, 2), (1, 1)), ((1, 1), (1, 1)), ((2, 1), (1, 2)), ((2, 0), (1, 1)), ((3,), (0,)),
          ((2, 1, 2), (2, 1, 1)), ((3, 1, 1), (1, 1, 1)), ((1, 3, 2), (1, 2, 1)), ((2, 1, 3), (3, 3, 1)),
          ((1, 4, 1, 4), (4, 1, 4, 1)), ((2, 3), (0, 0)), ((2, 3, 1, 1), (3, 1, 3, 3)), ((2, 3, 1, 1), (3, 1, 7, 9)),
          ((1, 3, 5, 7), (1, 1, 21, 3)), ((2, 3, 5, 7, 2), (210, 1, 42, 6, 3)), ((1, 1, 3), (9, 1, 1))]  # fmt: skip
CHECKS = [
    (),
    False,
    True,
    ["contiguous_format"],
    ["channels_last"],
    ["contiguous_format", "channels_last"],
    ["preserve_format"],
    [],
    3,
    [3],
]


@pytest.mark.parametrize("check", CHECKS, ids=str)
@pytest.mark.parametrize(("shape", "strides"), SHAPES, ids=str)
def test_orders_that_are_not_unique(shape, strides, check):
    found = []
    for lib in (torch, pt):
        t = lib.empty(shape) if strides is None else lib.empty_strided(shape, strides)
        given = check
        if isinstance(check, list):
            given = [getattr(lib, each) if isinstance(each, str) else each for each in check]
        try:
            told = t.dim_order() if check == () else t.dim_order(ambiguity_check=given)
        except (RuntimeError, TypeError) as error:
            told = type(error)
        found.append(told)
    assert found[0] == found[1]
