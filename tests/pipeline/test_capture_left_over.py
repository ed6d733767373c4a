"""`torch.pipeline.capture`: what later calls would not do or give, though no number that is read has changed."""

import contextlib
import itertools

import pytest

import mindtorch_core as torch
from mindtorch_core import nn

capture = torch.pipeline.capture


def generated():
    yield from (1.0, 2.0, 3.0)


ITERATORS = {
    "iterator of a list": lambda: iter([1.0, 2.0]),
    "generator": generated,
    "count": itertools.count,
    "zip": lambda: (k for (k,) in zip([1.0, 2.0])),
    "loader": lambda: iter(torch.utils.data.DataLoader(torch.arange(4.0), batch_size=2)),
}


class Holder:
    """Has an iterator as an attribute."""

    def __init__(self, items):
        self.items = items


@pytest.mark.parametrize("make", ITERATORS.values(), ids=ITERATORS)
def test_an_iterator_is_refused(make):
    """Its next item is another one in each call, and a recording would compute with the first for ever."""
    x, held, items = torch.ones(2), Holder(make()), make()
    told = r"is an iterator, .* as an argument"
    with pytest.raises(torch.CaptureError, match=f"'held.items' {told}") as raised:
        capture(lambda x: x * next(held.items))(x)
    assert torch.equal(raised.value.result, x * next(make()))
    with pytest.raises(torch.CaptureError, match=f"'items' {told}"):
        capture(lambda x: x * next(items))(x)


def test_a_file_is_no_such_iterator(tmp_path):
    with (tmp_path / "log").open("w") as log:
        step = capture(lambda x: (log.write("called"), x + 1)[1])
        assert [step(torch.ones(1)).item() for _ in range(3)] == [2.0] * 3


SETTINGS = {
    "gradient mode": lambda: torch.set_grad_enabled(False),
    "autocast": lambda: torch.set_autocast_enabled("cpu", True),
    "the default device": lambda: torch.set_default_device("meta"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_is_left_changed_is_refused(name):
    def fn(x):
        y = x * 2
        SETTINGS[name]()
        return y

    try:
        with pytest.raises(
            torch.CaptureError, match=f"would not set: {name} was .* after it"
        ) as raised:
            capture(fn)(torch.ones(2))
    finally:
        torch.set_grad_enabled(True)
        torch.set_autocast_enabled("cpu", False)
        torch.set_default_device(None)
    assert raised.value.result.tolist() == [2, 2]


def test_a_setting_that_is_set_back_is_none_of_it():
    def fn(x):
        torch.set_grad_enabled(False)
        y = x * 2
        torch.set_grad_enabled(True)
        with torch.autocast("cpu"), contextlib.suppress(ValueError):
            return y + 1

    step = capture(fn)
    assert [step(torch.ones(2)).tolist() for _ in range(2)] == [[3, 3]] * 2


def test_code_that_is_replaced_in_its_function():
    def scaled(x):
        return x * 2

    step, x = capture(lambda x: scaled(x)), torch.ones(2)
    direct = capture(scaled)
    assert step(x).tolist() == step(x).tolist() == direct(x).tolist() == [2, 2]
    scaled.__code__ = (lambda x: x * 3).__code__
    for each in (step, direct):
        with pytest.raises(
            torch.CaptureError, match=r"the code of .*scaled\(\) was .* another code now"
        ):
            each(x)
        each.reset()
        assert each(x).tolist() == [3, 3]


class Marked(torch.Tensor):
    """A class of its own, which results of ops have, too."""


def test_classes_of_tensors():
    x = torch.ones(2)
    step = capture(lambda x: x + 1)
    step(x)
    with pytest.raises(torch.CaptureError, match=r"with strides .* of class Marked now"):
        step(x.as_subclass(Marked))
    with pytest.raises(torch.CaptureError, match="returns a tensor of class Marked") as raised:
        capture(lambda x: x + 1)(x.as_subclass(Marked))
    assert type(raised.value.result) is Marked
    plain = capture(lambda x: (x + 1).as_subclass(torch.Tensor))
    assert [plain(x.as_subclass(Marked)).tolist() for _ in range(2)] == [[2, 2]] * 2
    assert step(nn.Parameter(x, requires_grad=False)).tolist() == [
        2,
        2,
    ]  # whose results are plain ones
