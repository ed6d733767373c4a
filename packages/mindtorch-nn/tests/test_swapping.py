"""torch.__future__: modules whose parameters are swapped, or replaced, as they convert and load."""

import itertools
import operator
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

import mindtorch_core as torch
from mindtorch_core import nn
from mindtorch_nn.utils import parametrize, stateless


@pytest.fixture
def swapping() -> Iterator[None]:
    torch.__future__.set_swap_module_params_on_conversion(True)
    yield
    torch.__future__.set_swap_module_params_on_conversion(False)


class Kept(torch.Tensor):
    """A tensor whose class `detach` keeps."""

    def detach(self) -> Any:
        return super().detach().as_subclass(type(self))


class Doubled(Kept):
    """A tensor that loads twice what it is given."""

    def module_load(self, other: Any, assign: bool = False) -> Any:
        return (other.detach() * 2).as_subclass(Doubled)


def test_objects_change_places() -> None:
    a, b = torch.arange(4.0, requires_grad=True), nn.Parameter(torch.ones(2, dtype=torch.float64))
    b.note = "of b"
    part, other = a.detach()[1:], b.data
    twice = (a * 2).sum()
    torch.utils.swap_tensors(a, b)
    assert (type(a), type(b)) == (nn.Parameter, torch.Tensor)
    assert (a.tolist(), a.dtype, b.tolist()) == ([1, 1], torch.float64, [0, 1, 2, 3])
    assert a.note == "of b"
    assert not hasattr(b, "note")
    twice.backward()
    assert a.grad is None
    assert b.grad.tolist() == [2] * 4
    with torch.no_grad():
        b[1] = 9
        a[0] = 7
    assert (part[0].item(), other[0].item()) == (9, 7)
    (a * 3).sum().backward()
    assert a.grad.tolist() == [3, 3]
    torch.utils.swap_tensors(a, a)


def test_views_and_their_bases_change_places() -> None:
    base, other = torch.zeros(3), torch.ones(2)
    view = base[1:]
    torch.utils.swap_tensors(base, other)
    assert view._base is other
    torch.utils.swap_tensors(view, base)
    assert (view.tolist(), base.tolist()) == ([1, 1], [0, 0])
    assert base._base is other
    base.add_(torch.ones(2, requires_grad=True))
    assert other.requires_grad
    assert other.tolist() == [0, 1, 1]


def test_what_is_not_swapped() -> None:
    with pytest.raises(TypeError, match="takes two tensors, got a int"):
        torch.utils.swap_tensors(torch.ones(1), 3)

    class Slotted(torch.Tensor):
        __slots__ = ("more",)

    a, b = torch.ones(2), torch.zeros(2).as_subclass(torch.Tensor)
    try:
        odd = b.as_subclass(Slotted)
    except TypeError:
        return
    with pytest.raises(RuntimeError, match="different slots"):
        torch.utils.swap_tensors(a, odd)
    assert a.tolist() == [1, 1]


@pytest.mark.usefixtures("swapping")
def test_conversions_keep_the_objects() -> None:
    m = nn.Linear(2, 2)
    weight, memory = m.weight, m.weight.data
    m(torch.ones(1, 2)).sum().backward()
    m.double()
    assert m.weight is weight
    assert weight.dtype is weight.grad.dtype is torch.float64
    assert memory.dtype is torch.float32
    assert isinstance(weight, nn.Parameter)


class Pair(torch.Tensor):
    """A tensor that is made of another one."""

    @staticmethod
    def __new__(cls, inner: Any) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["inner"], None

    @classmethod
    def __tensor_unflatten__(cls, inner: Any, meta: None, size: Any, stride: Any) -> Any:
        return cls(inner["inner"])

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args = [a.inner if isinstance(a, Pair) else a for a in args]
        made = func(*args, **(kwargs or {}))
        return Pair(made) if isinstance(made, torch.Tensor) else made


def test_tensors_of_other_tensors_take_the_place_of_parameters() -> None:
    layer = nn.Linear(2, 2)
    before, values = layer.weight, layer.weight.detach().clone()
    layer._apply(Pair)
    assert layer.weight is before
    assert type(before) is Pair
    assert isinstance(before, nn.Parameter)
    assert before.requires_grad
    assert before.inner.equal(values)

    class Inner(nn.Module):
        def forward(self, pair: Any) -> Any:
            return pair.inner

    parametrize.register_parametrization(layer, "weight", Inner())
    assert type(layer.weight) is torch.Tensor
    assert type(layer.parametrizations.weight.original) is Pair
    parametrize.remove_parametrizations(layer, "weight")
    assert layer.weight is before
    assert type(before) is nn.Parameter
    assert before.equal(values)


@pytest.mark.usefixtures("swapping")
@pytest.mark.parametrize("assign", [False, True])
def test_loading_asks_the_tensor(assign: bool) -> None:
    m = nn.Linear(2, 1, bias=False)
    optimizer = torch.optim.SGD(m.parameters(), lr=1.0)
    weight = m.weight
    m.load_state_dict({"weight": torch.full((1, 2), 3.0)}, assign=assign)
    assert m.weight is weight
    assert isinstance(weight, nn.Parameter)
    assert weight.requires_grad
    m(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    assert m.weight.tolist() == [[2, 2]]
    m.own = nn.Parameter(torch.ones(2).as_subclass(Doubled))
    m.load_state_dict({"weight": torch.ones(1, 2), "own": torch.full((2,), 5.0)}, assign=assign)
    assert m.own.tolist() == [10, 10]


@pytest.mark.usefixtures("swapping")
def test_a_load_that_fails_leaves_all_as_it_was() -> None:
    class Bad(Kept):
        def module_load(self, other: Any, assign: bool = False) -> Any:
            return other

    m = nn.Linear(2, 1)
    m.bad = nn.Parameter(torch.ones(2).as_subclass(Bad))
    before = {name: t.tolist() for name, t in m.state_dict().items()}
    weight = m.weight
    state = {name: torch.zeros_like(t) for name, t in m.state_dict().items()}
    with pytest.raises(RuntimeError, match="module_load returned one of self or other"):
        m.load_state_dict(state)
    assert {name: t.tolist() for name, t in m.state_dict().items()} == before
    assert m.weight is weight


@pytest.mark.usefixtures("swapping")
def test_a_conversion_that_fails_leaves_all_as_it_was() -> None:
    def convert(t: Any) -> Any:
        if t.dim() == 1:
            raise ValueError("no more")
        return t.double()

    m = nn.Linear(2, 1)
    weight, values = m.weight, m.weight.tolist()
    with pytest.raises(ValueError, match="no more"):
        m._apply(convert)
    assert m.weight is weight
    assert (weight.dtype, weight.tolist()) == (torch.float32, values)


def test_conversions_that_replace_parameters() -> None:
    m = nn.Linear(1, 1)
    weight = m.weight
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        assert torch.__future__.get_overwrite_module_params_on_conversion()
        m.double()
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)
    assert m.weight is not weight
    assert (m.weight.dtype, weight.dtype) == (torch.float64, torch.float32)
    assert not torch.__future__.get_swap_module_params_on_conversion()


class Interrupt:
    """Raises at a place of a file where an interpreter would look for signals."""

    def __init__(self, file: str, at: int) -> None:
        self.file, self.left = file, at

    def __call__(self, frame: FrameType, event: str, arg: object) -> None:
        if event in ("call", "c_return") and frame.f_code.co_filename == self.file:
            self.left -= 1
            if self.left == 0:
                sys.setprofile(None)
                raise KeyboardInterrupt


def test_an_interrupt_leaves_a_module_what_it_had() -> None:
    rnn = nn.LSTM(3, 4)
    own, flat = list(rnn.parameters()), list(rnn._flat_weights)
    zeros = {name: torch.zeros_like(p) for name, p in rnn.named_parameters()}
    for at in itertools.count(1):
        lent = dict(zeros)
        sys.setprofile(Interrupt(stateless.__file__, at))
        try:
            torch.func.functional_call(rnn, lent, (torch.ones(2, 3),))
        except KeyboardInterrupt:
            pass
        else:
            break
        finally:
            sys.setprofile(None)
        assert all(map(operator.is_, rnn.parameters(), own)), at
        assert all(map(operator.is_, rnn._flat_weights, flat)), at
        assert all(map(operator.is_, lent.values(), zeros.values())), at
    assert at > 10
