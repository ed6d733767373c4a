"""Calls whose scalars stand among the tensors, as PyTorch once had them and still takes them."""

import warnings

import pytest

import mindtorch_core as torch

pytorch = pytest.importorskip("torch")

V, M, B = (3,), (3, 3), (2, 3, 3)
SHAPES = {
    "add": (V, V),
    "sub": (V, V),
    "addcmul": (V, V, V),
    "addcdiv": (V, V, V),
    "addmm": (M, M, M),
    "addmv": (V, M, V),
    "addr": (M, V, V),
    "baddbmm": (B, B, B),
    "addbmm": (M, B, B),
}


def tensors(library, name):
    """The operands of an op, in one of the two libraries."""
    made = []
    for i, shape in enumerate(SHAPES[name]):
        count = 1
        for n in shape:
            count *= n
        values = [((7 * k + 3 * i) % 11) / 4 + 0.25 for k in range(count)]
        made.append(library.tensor(values).reshape(shape))
    return made


def forms(name):
    """Where the numbers stand in a call of the function, and in one of the method."""
    if name in ("add", "sub", "addcmul", "addcdiv"):
        return [({1: 0.5}, True), ({1: 0.5}, False)]
    return [({0: 0.5}, False), ({0: 0.5, 2: 2}, False), ({1: 0.5}, True), ({1: 0.5, 2: 2}, True)]


def called(library, name, numbers, method, *, inplace=False):
    args = tensors(library, name)
    for place, number in sorted(numbers.items()):
        args.insert(place, number)
    if not method:
        return getattr(library, name)(*args)
    first = args[0].clone()
    return getattr(first, name + "_" * inplace)(*args[1:])


CASES = [(name, *form) for name in SHAPES for form in forms(name)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "numbers", "method"), CASES)
def test_the_numbers_of_pytorch(name, numbers, method):
    ours = called(torch, name, numbers, method)
    theirs = called(pytorch, name, numbers, method)
    assert _near(ours, theirs)
    if method:
        assert _near(called(torch, name, numbers, True, inplace=True), theirs)


def _near(ours, theirs):
    return max(abs(a - b) for a, b in zip(
        ours.flatten().tolist(), theirs.flatten().tolist(), strict=True
    )) < 1e-5  # fmt: skip


def test_they_warn_and_name_the_form_of_today():
    x, y = tensors(torch, "add")
    with pytest.warns(UserWarning, match=r"add_\(Tensor, Number alpha, Tensor\).*alpha=\.\.\."):
        x.add_(2, y)


def test_gradients_and_out():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x, y, z = (each.requires_grad_() for each in tensors(torch, "addcmul"))
        x.addcmul(3, y, z).sum().backward()
        assert y.grad.tolist() == (z * 3).tolist()
        out = torch.empty(3)
        assert torch.add(x.detach(), 2, y.detach(), out=out) is out
        assert out.tolist() == torch.add(x, y, alpha=2).tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.add(x, 2),
        lambda x: x.add(2, x, 3),
        lambda x: x.addcmul(2, x),
        lambda x: torch.addmm(1, 2, 3, x, x, x),
        lambda x: x.mul(2, x),
        lambda x: x.add("2", x),
    ],
)
def test_what_is_no_such_form_is_refused(call):
    with pytest.raises(TypeError):
        call(torch.ones(3, 3))


@pytest.mark.parametrize(
    ("call", "name", "value"),
    [
        (lambda x: x.add(2, torch.ones(3)), "alpha", 2),
        (lambda x: x.addcmul(3, x, x), "value", 3),
        (lambda x: x.cumsum(axis=0), "dim", 0),
        (lambda x: x.argmax(axis=0, keepdims=True), "dim", 0),
    ],
)
def test_a_handler_around_is_given_the_names_of_today(call, name, value):
    class Own(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((args, dict(kwargs or {})))
            return super().__torch_function__(func, types, args, kwargs)

    seen = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(torch.ones(3).as_subclass(Own))
    args, kwargs = seen[0]
    assert kwargs.get(name, args[-1]) == value
