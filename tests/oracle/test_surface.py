"""Names: every function of PyTorch's is here under its name, or is left out for a reason."""

import functools
import inspect

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.left_out import LEFT_OUT
from mindtorch_core.nn import functional as F

pt = pytest.importorskip("torch")

PLACES = (
    "Tensor", "amp", "autograd", "autograd.functional", "autograd.graph", "fft", "library",
    "linalg", "masked", "nn.functional", "random", "signal.windows", "special", "testing",
    "utils.checkpoint", "utils.dlpack",
)  # fmt: skip


def at(root, path):
    return functools.reduce(getattr, path.split("."), root) if path else root


def is_of_pytorch(value):
    """Whether a name of a module is a function that PyTorch defines, not one that it imports."""
    builtin = isinstance(value, type(pt.add))
    return callable(value) and (builtin or getattr(value, "__module__", "").startswith("torch"))


def missing(path):
    """Lower-case public names of PyTorch's that are not here."""
    theirs, ours = at(pt, path), at(torch, path)
    names = {n for n in dir(theirs) if n[0] != "_" and n == n.lower() and not hasattr(ours, n)}
    values = {n: getattr(theirs, n, None) for n in names}
    if path == "Tensor":
        return {n for n, value in values.items() if not inspect.ismodule(value)}
    return {n for n, value in values.items() if is_of_pytorch(value)}


@pytest.mark.parametrize("path", ["", *PLACES])
def test_every_name_is_here_or_left_out_for_a_reason(path):
    listed = {name for names in LEFT_OUT.values() for name in names.split()}
    assert missing(path) - listed == set()


def test_the_error_says_why_a_name_is_left_out():
    for why, names in LEFT_OUT.items():
        for name in set(names.split()) & missing(""):
            with pytest.raises(AttributeError) as caught:
                getattr(torch, name)
            assert f"lacks it: {why}." in str(caught.value)
            assert "Did you mean" not in str(caught.value)


def test_what_is_left_out_is_missing():
    absent = set().union(*(missing(path) for path in ("", *PLACES)))
    listed = [name for names in LEFT_OUT.values() for name in names.split()]
    assert sorted(set(listed) - absent) == []
    assert len(listed) == len(set(listed))


def test_methods_take_pytorchs_keywords():
    x = torch.ones(2, 3)
    assert x.sum(dim=0, keepdim=True).shape == (1, 3)
    assert x.max(dim=1, keepdim=True).values.shape == (2, 1)
    assert x.transpose(dim0=0, dim1=1).shape == (3, 2)
    assert x.unsqueeze(dim=0).shape == (1, 2, 3)
    assert torch.sum(input=x, dim=1).shape == (2,)
    assert torch.add(x, other=1, alpha=2)[0, 0].item() == 3
    assert torch.cat(tensors=(x, x), dim=1).shape == (2, 6)
    assert torch.stack(tensors=[x, x], dim=0).shape == (2, 2, 3)
    assert torch.where(condition=x > 0, input=x, other=x).shape == (2, 3)
    assert torch.clamp(x, min=0, max=2).shape == (2, 3)
    assert torch.gather(x, dim=1, index=torch.tensor([[0]])).shape == (1, 1)
    assert x.split(split_size=1, dim=0)[0].shape == (1, 3)
    assert x.narrow(dim=1, start=0, length=2).shape == (2, 2)
    assert x.flatten(start_dim=0, end_dim=1).shape == (6,)
    assert x.clone(memory_format=torch.contiguous_format).shape == (2, 3)
    assert torch.full(size=(2,), fill_value=1.0).shape == (2,)
    assert torch.randint(low=0, high=5, size=(2,)).shape == (2,)
    assert torch.addmm(x[:, :2], x, x.t(), beta=0, alpha=2).shape == (2, 2)
    assert F.cross_entropy(input=x, target=torch.tensor([0, 1]), label_smoothing=0.1).shape == ()
