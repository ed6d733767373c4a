"""Functions that PyTorch has beside methods: in-place ones, and questions to a tensor."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch", reason="PyTorch is the oracle")

INPLACE = [
    n
    for n in dir(pt)
    if n.endswith("_") and n[0] != "_" and callable(getattr(torch.Tensor, n, None))
]
QUESTIONS = [
    "is_floating_point",
    "is_complex",
    "is_signed",
    "is_nonzero",
    "get_device",
]


@pytest.mark.parametrize("name", INPLACE)
def test_in_place_methods_are_functions_where_pytorch_has_them(name):
    assert callable(getattr(torch, name))


def test_no_other_method_is_one():
    extra = [n for n in dir(torch.Tensor) if n.endswith("_") and n[0] != "_" and hasattr(torch, n)]
    assert [n for n in extra if not hasattr(pt, n)] == []


def test_they_write_into_their_argument():
    x = torch.tensor([1.0, 4.0])
    assert torch.sqrt_(x) is x
    assert torch.clamp_(x, max=1.5) is x
    assert x.tolist() == [1.0, 1.5]
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        torch.exp_(torch.ones(2, requires_grad=True))


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "uint8", "bool", "complex64"])
def test_questions(name, dtype):
    answers = []
    for lib in (torch, pt):
        x = lib.ones(1, dtype=getattr(lib, dtype))
        answers.append(getattr(lib, name)(x))
        with pytest.raises(TypeError, match=rf"{name}.*must be Tensor, not int"):
            getattr(lib, name)(3)
    assert answers[0] == answers[1]


def test_same_size_and_refusals():
    assert torch.is_same_size(torch.ones(2, 3), torch.zeros(2, 3))
    assert not torch.is_same_size(torch.ones(2, 3), torch.zeros(3, 2))
    for size in (0, 2):
        with pytest.raises(RuntimeError, match="Boolean value of Tensor with"):
            torch.is_nonzero(torch.ones(size))


def test_gumbel_softmax_draws_as_often_as_the_probabilities_say():
    torch.manual_seed(0)
    logits = torch.tensor([[2.0, 0.0, 1.0]] * 4000, requires_grad=True)
    soft = torch.nn.functional.gumbel_softmax(logits, tau=0.5)
    assert torch.allclose(soft.sum(1), torch.ones(4000))
    hard = torch.nn.functional.gumbel_softmax(logits, hard=True)
    assert sorted(set(hard.round(decimals=4).unique().abs().tolist())) == [0.0, 1.0]
    frequencies = hard.detach().mean(0)
    assert torch.allclose(frequencies, logits[0].detach().softmax(0), atol=0.03)
    hard[:, 0].sum().backward()
    assert logits.grad.abs().sum() > 0
