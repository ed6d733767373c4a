"""Kernels of one overload of an op whose overloads are one here, as in PyTorch: the others keep theirs."""

from operator import attrgetter

import pytest

import mindtorch_core as torch
from scenarios import as_in_pytorch


@pytest.mark.parametrize(
    ("op", "given", "other", "rest"),
    [
        ("masked_fill.Scalar", lambda t: (t.ones(2), t.tensor([True, False]), 3.0),
         "masked_fill.Tensor", lambda t: (t.ones(2), t.tensor([True, False]), t.tensor(3.0))),
        ("prod.dim_int", lambda t: (t.ones(2, 3), 1), "prod.default", lambda t: (t.ones(2, 3),)),
    ],
    ids=["masked_fill", "prod"],
)  # fmt: skip
@as_in_pytorch
def test_it_is_called_for_its_overload(t, op, given, other, rest):
    calls = [(attrgetter(op)(t.ops.aten), given(t)), (attrgetter(other)(t.ops.aten), rest(t))]
    plain = [each(*values).tolist() for each, values in calls]
    with t.library._scoped_library("aten", "IMPL") as lib:
        lib.impl(op, lambda *args, **kwargs: t.full((2,), 7.0), "CPU")
        found = [each(*values).tolist() for each, values in calls]
    return plain, found, [each(*values).tolist() for each, values in calls]


def test_there_is_no_warning_of_another_kernel():
    with torch.library._scoped_library("aten", "IMPL") as lib:
        lib.impl("masked_fill.Scalar", lambda *args: torch.ones(1), "PrivateUse1")
        entry = torch.ops.aten.masked_fill.Scalar
        assert entry.has_kernel_for_dispatch_key("PrivateUse1")
        assert not torch.ops.aten.masked_fill.Tensor.has_kernel_for_dispatch_key("PrivateUse1")
