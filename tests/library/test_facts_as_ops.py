"""What tensors answer about themselves, as ops."""

import pytest

import mindtorch_core as torch

CALLS = {
    "size": lambda a, x: [a.size(x), a.size(x, 1), a.size.int(x, -1), a.size.default(x)],
    "stride": lambda a, x: [a.stride(x), a.stride(x, 0), a.stride.int(x, -1)],
    "numbers": lambda a, x: [a.numel(x), a.dim(x), a.storage_offset(x[1])],
    "item": lambda a, x: [a.item(x[0, 1]), a.item.default(x[1, 2])],
    "is_same_size": lambda a, x: [a.is_same_size(x, x), a.is_same_size(x, x[0])],
    "alias": lambda a, x: [a.alias(x).tolist(), a.alias.default(x.t()).stride()],
}


def given(lib):
    return lib.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize("name", CALLS)
def test_as_in_pytorch(name):
    pt = pytest.importorskip("torch")
    assert CALLS[name](torch.ops.aten, given(torch)) == CALLS[name](pt.ops.aten, given(pt))


def test_an_alias_shares_memory_and_has_a_gradient():
    x = given(torch).requires_grad_()
    y = torch.ops.aten.alias(x)
    assert y is not x
    assert y.data_ptr() == x.data_ptr()
    (y * 2).sum().backward()
    assert x.grad.tolist() == [[2.0] * 3] * 2


def test_only_one_element_is_an_item():
    with pytest.raises(RuntimeError, match="cannot be converted to Scalar"):
        torch.ops.aten.item(given(torch))
