"""Tensors with a mask against PyTorch: what is computed, what is printed, gradients, errors."""

import copy
import pickle
import warnings

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")
PROGRAMS = [
    "a", "a.sum()", "a.sum(1)", "a.mean(0)", "a.prod()", "a.amax(1)", "a.amin(0)", "a.argmax(1)", "a.argmin()", "a.std(1)",
    "a.var(1)", "a.all()", "a * 2", "2 * a", "a + b", "a * b", "a / b", "a - b", "a + 1", "a + d", "a.sin()", "-a", "a.abs()",
    "a.exp()", "a.sqrt()", "torch.exp(a)", "torch.add(a, b)", "torch.sum(a, 1)", "torch.mean(a)", "a.to_tensor(0)",
    "a.get_data()", "a.get_mask()", "a.to_dense()", "a[0]", "a[0, 0]", "a[:, 1]", "a[0, 1]", "a.reshape(3, 2)", "a.view(6)",
    "a.t()", "a.transpose(0, 1)", "a.shape", "a.dtype", "a.device", "a.layout", "a.requires_grad", "a.numel()",
    "a == b", "a > 1", "torch.where(m, a, b)", "torch.where(m, a, c)", "a.clone()", "a.detach()", "a.contiguous()",
    "a.double()", "a.to(torch.float64)", "masks.is_masked_tensor(a)", "masks.is_masked_tensor(d)", "a.softmax(1)",
    "torch.softmax(a, 1)", "a.expand(2, 2, 3)", "a.unsqueeze(0)", "torch.stack([a, a])", "torch.cat([a, a])",
    "a.sum(1, keepdim=True)", "a.amax()", "a[0, 0].item()", "len(a)", "a.size()", "a.dim()", "a.pow(2)", "a**2",
    "torch.logaddexp(a, b)", "torch.maximum(a, b)", "a.clamp(1, 3)", "a.add_(1)", "torch.ones_like(a)", "a.eq(1)",
    "torch.isnan(a)", "a.split(1)", "a.chunk(2)", "a.flatten()", "masks.masked_tensor(torch.tensor([1, 2]), m[0, :2])",
    "masks.masked_tensor(d.bool(), m)", "masks.MaskedTensor(d, m)", "isinstance(a, torch.Tensor)", "a.var()", "a + c",
    "masks.masked_tensor(torch.tensor(1.0), torch.tensor(True))", "masks.masked_tensor(d, m.long())", "a.tolist()",
    "masks.masked_tensor(d, m[0])", "a @ a.t()", "a.masked_fill(m, 0)", "a.numpy()", "torch.masked.mean(d, mask=m)",
    *(f"torch.masked.{f}(d, {dim}, mask=m)" for dim in (None, (), (1, 0), [-1], 1)
      for f in ("median", "cumsum", "cumprod", "softmax", "log_softmax", "softmin")),
    "torch.masked.median(d, None, keepdim=True)", "torch.masked.median(d.long(), (0, 1))",
    "torch.masked.normalize(d, 2.0, None, mask=m)",
]  # fmt: skip
GRADIENTS = [
    "(a * a).sum()", "a.prod()", "a.amax(1).sum()", "a.mean()", "a.exp().sum()", "a.std()", "(a.sin() * 2).mean(1).sum()",
    "torch.where(m, a, b).sum()", "a.sqrt().sum()", "a.reshape(6).amin()",
]  # fmt: skip


def names(lib, requires_grad=False):
    d = lib.arange(6.0).reshape(2, 3)
    m = lib.tensor([[True, False, True], [False, True, True]])
    made = lib.masked.masked_tensor
    return {
        "torch": lib, "d": d, "m": m, "masks": lib.masked, "b": made(d + 1, m), "c": made(d, ~m),
        "a": made(d, m, requires_grad),
    }  # fmt: skip


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr"])
@pytest.mark.filterwarnings("ignore:Sparse CSR")
def test_masks_may_be_sparse(layout):
    for name in (
        "sum",
        "amax",
        "mean",
        "var",
        "median",
        "argmin",
        "cumsum",
        "softmax",
        "log_softmax",
    ):
        found = []
        for lib in (torch, pt):
            d = lib.arange(6.0).reshape(2, 3)
            mask = lib.tensor([[True, False, True], [False, True, True]])
            mask = mask.to_sparse(layout=getattr(lib, layout))
            found.append(getattr(lib.masked, name)(d, dim=1, mask=mask).tolist())
        for ours, theirs in zip(*found, strict=True):
            assert ours == pytest.approx(theirs), name


@pytest.mark.parametrize("masks", [(False, False), (True, False), (True, True)])
def test_logaddexp_of_whole_numbers_is_refused(masks):
    for lib in (torch, pt):
        x, m = lib.tensor([1, 2]), lib.tensor([True, False])
        a, b = (m if there else None for there in masks)
        with pytest.raises(NotImplementedError, match="logaddexp"):
            lib.masked.logaddexp(x, x, input_mask=a, other_mask=b)


def outcome(lib, program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, that they are new
        try:
            return repr(eval(program, names(lib)))
        except (RuntimeError, TypeError, ValueError) as error:
            return type(error)


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_pytorch(program):
    assert outcome(torch, program) == outcome(pt, program)


@pytest.mark.parametrize("program", [f"{p}.backward()" for p in GRADIENTS]
                         + ["a.exp().backward(b)", "a.exp().backward(gradient=d)"])  # fmt: skip
def test_gradients(program):
    shown = []
    for lib in (torch, pt):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = names(lib, requires_grad=True)
            eval(program, given)
            shown.append(repr(given["a"].grad))
    assert shown[0] == shown[1]


def test_gradients_reach_the_tensor_that_is_masked():
    x = torch.tensor([-1.0, 4.0, 9.0], requires_grad=True)
    mask = torch.tensor([False, True, True])
    torch.masked.as_masked_tensor(x, mask).sqrt().sum().backward()
    assert x.grad.tolist() == pytest.approx([0, 0.25, 1 / 6])


def test_norm_any_and_what_else_pytorch_lacks():
    a = names(torch)["a"]
    assert a.norm().item() == pytest.approx(45**0.5)
    assert torch.norm(a, 1, 1).to_tensor(0).tolist() == [2, 9]
    assert a.any(1).get_data().tolist() == [True, True]
    hidden = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    mask = names(torch)["m"]
    assert not torch.masked.masked_tensor(hidden, mask).any().item()  # a one that is hidden
    assert not torch.masked.masked_tensor(hidden, mask).any(1).get_data().any()
    shown = torch.masked.masked_tensor(1 - hidden, mask)
    assert shown.all().item()
    assert shown.all(1, keepdim=True).get_data().tolist() == [[True], [True]]
    assert (1 - a).to_tensor(7).tolist() == [[1, 7, -1], [7, -3, -4]]
    assert [t.to_tensor(0).tolist() for t in a.unbind()] == [[0, 0, 2], [0, 4, 5]]


def test_it_is_kept():
    a = names(torch, requires_grad=True)["a"]
    for back in (copy.deepcopy(a), pickle.loads(pickle.dumps(a.detach()))):
        assert repr(back) == repr(a)
    assert copy.deepcopy(a).requires_grad


def test_what_is_not_served_says_what_to_do():
    a = names(torch)["a"]
    with pytest.raises(TypeError, match="mindtorch does not serve"):
        a @ a
    with pytest.raises(TypeError, match="to_tensor"):
        torch.nn.functional.conv1d(a, a)
