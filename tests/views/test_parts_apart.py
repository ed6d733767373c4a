"""Parts by `unsafe_chunk` and its kind: they show the memory, and are tensors of their own, as in PyTorch."""

from contextlib import nullcontext

import pytest

import mindtorch_core as torch

oracle = pytest.importorskip("torch")

SPLITS = {
    "unsafe_chunk": lambda lib, x: lib.unsafe_chunk(x, 2),
    "unsafe_split": lambda lib, x: lib.unsafe_split(x, 3),
    "unsafe_split_with_sizes": lambda lib, x: lib.unsafe_split_with_sizes(x, [2, 4]),
}


def of_a_leaf(lib, split):
    """What is written into a part of a leaf, which a view of it may not be."""
    x = lib.arange(6.0, requires_grad=True)
    first, second = split(lib, x)
    first.mul_(2)
    (first * first + second.sum()).sum().backward()
    return x.tolist(), x.grad.tolist(), type(first.grad_fn).__name__


def of_a_result(lib, split):
    """What is written into a part is no history of the whole, nor of the other part."""
    x = lib.arange(6.0, requires_grad=True)
    whole = x * 1
    first, second = split(lib, whole)
    second.mul_(3)
    found = [lib.autograd.grad(t.sum(), x, retain_graph=True)[0].tolist() for t in (first, second)]
    return [*found, lib.autograd.grad(whole.sum(), x)[0].tolist(), whole.tolist()]


def by_a_view(lib, split):
    """What is written through a view of a part."""
    x = lib.arange(6.0, requires_grad=True)
    first = split(lib, x)[0]
    first.view(-1, 1).mul_(2)
    first.sum().backward()
    return x.tolist(), x.grad.tolist()


def facts(lib, split):
    """Whose views parts are, and where they lie."""
    x = lib.arange(6.0)
    parts = split(lib, x)
    x.add_(1)
    lie = [(part._is_view(), part._base is None, part.storage_offset()) for part in parts]
    return lie, [part.tolist() for part in parts], parts[0].data_ptr() == x.data_ptr()


@pytest.mark.parametrize("block", [nullcontext, torch.pipeline], ids=["eager", "pipeline"])
@pytest.mark.parametrize("program", [of_a_leaf, of_a_result, by_a_view, facts])
@pytest.mark.parametrize("split", SPLITS)
def test_as_in_pytorch(split, program, block):
    with block():
        found = program(torch, SPLITS[split])
    assert found == program(oracle, SPLITS[split])
