"""What a masked tensor says of itself, gradients that are assigned, norms, ops that are not served."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors")
DATA = [[1.0, 2.0], [3.0, 4.0]]
MASK = [[True, False], [True, True]]


def made(lib, **options):
    return lib.masked.masked_tensor(lib.tensor(DATA), lib.tensor(MASK), **options)


def test_a_leaf_and_what_is_computed_of_it():
    for lib in (torch, pt):
        a = made(lib)
        assert (a.is_leaf, a.grad_fn, a.requires_grad, a.grad) == (True, None, False, None)
        a.requires_grad = True
        b = a * 2
        assert (a.requires_grad, b.requires_grad, b.is_leaf) == (True, True, False)
        assert b.grad_fn is not None


def test_dimensions_exchanged():
    a = made(torch)
    for turned in (a.T, a.mT):
        assert turned.get_data().tolist() == [[1, 3], [2, 4]]
        assert turned.get_mask().tolist() == [[True, True], [False, True]]


@pytest.mark.filterwarnings("ignore:It is not recommended to create a MaskedTensor")
def test_gradients_are_assigned():
    for lib in (torch, pt):
        a = made(lib, requires_grad=True)
        (a * a).sum().backward()
        g = a.grad
        a.grad = None
        assert a.grad is None
        a.grad = g
        assert a.grad.to_tensor(0).tolist() == [[2, 0], [6, 8]]
    mine = made(torch, requires_grad=True)
    mine.grad = torch.ones(2, 2)  # a plain one, of which the mask hides a part
    assert mine.grad.to_tensor(0).tolist() == [[1, 0], [1, 1]]
    with pytest.raises(
        TypeError, match="assigned grad expected to be a Tensor or None but got grad of"
    ):
        mine.grad = 3


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda a: a.norm(), 26**0.5),
        (lambda a: a.norm(1), 8.0),
        (lambda a: a.norm("fro", 0), [10**0.5, 4.0]),
        (lambda a: a.norm(dim=1), [1.0, 5.0]),
        (lambda a: a.norm(1, 1), [1.0, 7.0]),
        (lambda a: torch.norm(a, 1, 1, True), [[1.0], [7.0]]),
        (lambda a: torch.norm(a, dim=1, keepdim=True), [[1.0], [5.0]]),
    ],
)
def test_norms_count_what_the_mask_shows(call, expected):
    """PyTorch fails at these."""
    found = call(made(torch)).to_tensor(0)
    assert found.shape == torch.tensor(expected).shape
    assert torch.allclose(found, torch.tensor(expected))


def test_an_op_that_is_not_served():
    with pytest.raises(TypeError, match="fft_fft"):
        torch.fft.fft(made(torch))
    with pytest.raises(TypeError, match="masked"):
        torch.ops.aten.bincount.default(made(torch))
    from mindtorch_core._C import DisableTorchFunctionSubclass

    with DisableTorchFunctionSubclass(), pytest.raises(TypeError, match=r"aten\.add\.Tensor"):
        made(torch) + made(torch)
