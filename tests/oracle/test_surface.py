"""Names: what PyTorch has as function, method and in-place method for the ops here, we have too."""

import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_core.operators.define import FUNCTIONS

pt = pytest.importorskip("torch")

WANTED = (
    "tensor zeros ones full empty arange rand randn randint randperm zeros_like ones_like full_like "
    "empty_like rand_like randn_like randint_like linspace eye add sub mul div pow maximum minimum neg abs "
    "exp log sqrt sin cos tanh sigmoid relu eq ne lt le gt ge where sum mean amax amin max min argmax "
    "argmin var std matmul mm bmm addmm view reshape transpose permute expand squeeze unsqueeze select "
    "as_strided t flatten narrow index_select cat stack split chunk gather embedding softmax "
    "log_softmax clone contiguous to copy_ fill_ zero_ detach numel item tolist numpy size stride dim "
    "is_contiguous requires_grad_ backward data_ptr type float double half int long bool cpu"
)

FUNCTIONAL = (
    "softmax log_softmax cross_entropy nll_loss gelu embedding dropout mse_loss linear relu"
)

# In-place forms that PyTorch lists and that are not worth a row here.
LEFT_OUT = {
    "squeeze_", "unsqueeze_", "t_", "transpose_", "as_strided_", "swapaxes_", "swapdims_", "addmm_",
    "fill__", "zero__", "index",
}  # fmt: skip


@pytest.mark.parametrize("name", WANTED.split())
def test_wanted_names(name):
    assert not hasattr(pt, name) or hasattr(torch, name) or name.endswith("_")
    if hasattr(pt.Tensor, name):
        assert hasattr(torch.Tensor, name)
    if hasattr(pt.Tensor, f"{name}_") and f"{name}_" not in LEFT_OUT:
        assert hasattr(torch.Tensor, f"{name}_")


def test_every_function_is_where_pytorch_has_it():
    missing = []
    for namespace, place, theirs in (("torch", torch, pt), ("Tensor", torch.Tensor, pt.Tensor)):
        other = {"torch": "Tensor", "Tensor": "torch"}[namespace]
        for name in FUNCTIONS[other]:
            private = name.startswith("_") or (name.endswith("_") and namespace == "torch")
            if not private and hasattr(theirs, name) and not hasattr(place, name):
                missing.append(f"{namespace}.{name}")
    for name in [*FUNCTIONS["torch"], *FUNCTIONS["Tensor"]]:
        inplace = f"{name}_"
        if hasattr(pt.Tensor, inplace) and not hasattr(torch.Tensor, inplace):
            missing.append(f"Tensor.{inplace}")
    assert sorted(set(missing) - {f"Tensor.{n}" for n in LEFT_OUT}) == []


def test_functional_names():
    for name in FUNCTIONAL.split():
        assert callable(getattr(F, name))
        assert hasattr(pt.nn.functional, name)


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
