"""Tensors of PyTorch in the same program: refused by name, or taken over; never called in circles."""

import operator

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

OURS = torch.tensor([1.0, 2.0])


class Marked(pt.Tensor):
    pass


THEIRS = {
    "tensor": lambda: pt.tensor([1.0, 2.0]),
    "parameter": lambda: pt.nn.Parameter(pt.tensor([1.0, 2.0])),
    "subclass": lambda: pt.tensor([1.0, 2.0]).as_subclass(Marked),
}
CALLS = {
    "function": lambda a, b: torch.add(a, b),
    "method": lambda a, b: a.mul(b),
    "in place": lambda a, b: a.clone().mul_(b),
    "copy_": lambda a, b: a.clone().copy_(b),
    "augmented": lambda a, b: operator.iadd(a.clone(), b),
    "list": lambda a, b: torch.cat([a, b]),
    "stack": lambda a, b: torch.stack([b, a]),
    "where": lambda a, b: torch.where(a > 0, b, a),
    "matmul": lambda a, b: torch.matmul(a, b),
    "composite": lambda a, b: torch.nn.functional.linear(a, b),
    "packet": lambda a, b: torch.ops.aten.add.Tensor(a, b),
    "einsum": lambda a, b: torch.einsum("i,i->", a, b),
    "index": lambda a, b: a[b > 0],
    "out": lambda a, b: torch.add(a, a, out=b),
}
OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow,
             operator.matmul, operator.eq, operator.ne, operator.lt, operator.ge, operator.mod]  # fmt: skip


@pytest.mark.parametrize("kind", THEIRS)
@pytest.mark.parametrize("call", CALLS)
def test_our_functions_refuse_them(call, kind):
    with pytest.raises((TypeError, IndexError, RuntimeError), match=r"Tensor|Marked") as caught:
        CALLS[call](OURS, THEIRS[kind]())
    assert not isinstance(caught.value, RecursionError)


@pytest.mark.parametrize("call", ["function", "list", "copy_"])
def test_and_say_what_to_do(call):
    with pytest.raises(TypeError, match=r"PyTorch's Tensor \(from_dlpack\(\) takes its memory\)"):
        CALLS[call](OURS, THEIRS["tensor"]())


@pytest.mark.parametrize("kind", THEIRS)
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_so_do_operators_on_either_side(op, kind):
    theirs = THEIRS[kind]()
    with pytest.raises(TypeError):
        op(OURS, theirs)
    with pytest.raises(TypeError):
        op(theirs, OURS)


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: pt.add(b, a),
        lambda a, b: pt.cat([b, a]),
        lambda a, b: b.mul_(a),
        lambda a, b: pt.nn.functional.relu(a),
        lambda a, b: pt.nn.functional.gumbel_softmax(a),
        lambda a, b: pt.where(b > 0, a, b),
    ],
)
def test_their_functions_refuse_ours(call):
    with pytest.raises(TypeError):
        call(OURS, THEIRS["tensor"]())
    assert (OURS + OURS).tolist() == [2, 4]


def test_classes_of_ours_are_asked_as_ever():
    class Named(torch.Tensor):
        pass

    made = OURS.as_subclass(Named)
    assert type(made + made) is Named
    with pytest.raises(TypeError):
        pt.add(pt.ones(2), made)
    assert type(torch.add(made, 1)) is Named


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "int64", "uint8", "bool", "complex64", "bfloat16"]
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
@pytest.mark.parametrize("make", [torch.tensor, torch.as_tensor, torch.asarray, torch.from_dlpack])
def test_their_numbers_are_taken_over(make, shape, dtype):
    theirs = pt.ones(shape, dtype=getattr(pt, dtype))
    found = make(theirs)
    assert type(found) is torch.Tensor
    assert found.dtype is getattr(torch, dtype)
    assert tuple(found.shape) == shape
    assert found.tolist() == theirs.tolist()


def test_copies_are_copies():
    theirs = pt.zeros(2)
    found = torch.tensor(theirs)
    theirs += 1
    assert found.tolist() == [0, 0]
    assert torch.tensor(theirs, dtype=torch.int64).dtype is torch.int64


def test_they_take_ours():
    assert pt.from_dlpack(OURS).tolist() == [1, 2]
    assert pt.tensor(np.asarray(OURS)).tolist() == [1, 2]
