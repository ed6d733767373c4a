"""Which overload a call means, again and again: the choice is remembered by types where they decide."""

import pytest

import mindtorch_core as torch
from scenarios import as_in_pytorch, refused


@as_in_pytorch
def test_functions_with_overloads(t):
    x, i = t.tensor([[3.0, 1.0], [2.0, 4.0]]), t.tensor(1)
    calls = [
        lambda: t.max(x),
        lambda: t.max(x, 1)[0],
        lambda: t.max(x, dim=0, keepdim=True)[1],
        lambda: t.max(x, x.t()),
        lambda: t.max(x, i),
        lambda: x.max(i),
        lambda: t.max(x, "a"),
        lambda: x.view(4),
        lambda: x.view(2, 2),
        lambda: x.view((4, 1)),
        lambda: x.view([1, 4]),
        lambda: x.view(t.int32).shape,
        lambda: x.view(["a"]),
        lambda: x.view(2.5),
        lambda: x.view(),
        lambda: x.split(1),
        lambda: x.split([1, 1], 1),
        lambda: x.split((2,)),
        lambda: x.split("a"),
        lambda: t.where(x > 2, x, 0.5),
        lambda: t.where(x > 2, x, i),
        lambda: t.where(x > 2)[0],
        lambda: x.squeeze(),
        lambda: x[None].squeeze(0),
        lambda: x[None].squeeze((0, 1)),
        lambda: x.std(),
        lambda: x.std(1),
        lambda: x.std(1, False),
        lambda: x.std(dim=0, correction=0),
        lambda: x.std(False),
        lambda: x.clamp(1.5),
        lambda: x.clamp(max=2),
        lambda: x.clamp(x.t(), x + 1),
    ]
    return [refused(call) for _ in range(3) for call in calls]


@as_in_pytorch
def test_a_tensor_is_meant_as_one_where_an_overload_takes_one(t):
    x, v = t.ones(2), t.tensor(3.0, requires_grad=True)
    filled = x.clone().fill_(v)
    filled.sum().backward()
    return filled.detach(), v.grad


@as_in_pytorch
def test_the_values_decide_each_time(t):
    x = t.tensor([[3.0, 1.0], [2.0, 4.0]])
    return [
        refused(lambda: x.view(size)) for size in ((4,), ("a",), (4,), (3,), [2.0, 2.0], (2, 2))
    ]


def test_no_overload_fits():
    x = torch.ones(2, 2)
    for _ in range(2):
        with pytest.raises(
            TypeError, match=r"max\(\) received an invalid combination of arguments"
        ):
            torch.max(x, "a")
        with pytest.raises(TypeError, match=r"got \(list\), but expected one of"):
            x.view(["a"])


def test_what_a_kernel_raises_is_no_matter_of_overloads():
    with torch.library._scoped_library("aten", "IMPL") as lib:
        with pytest.warns(UserWarning, match="Overriding"):
            lib.impl("maximum", lambda x, y: "text" + 1, "CPU")
        with pytest.raises(TypeError, match="can only concatenate str"):
            torch.max(torch.ones(1), torch.ones(1))
