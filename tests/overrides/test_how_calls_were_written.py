"""What ``__torch_function__`` is given: the arguments as the call wrote them, on every version of Python."""

import pytest

import mindtorch_core as torch
from mindtorch_core.overrides import TorchFunctionMode


class Seen(TorchFunctionMode):
    """Keeps positional and keyword arguments of each call."""

    def __init__(self):
        self.calls = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.calls.append((args, dict(kwargs or {})))
        return func(*args, **(kwargs or {}))


X = torch.arange(6.0).view(2, 3)
DIM = 1
CASES = [
    (lambda: torch.sum(X, 1), (X, 1), {}),
    (lambda: torch.sum(X, dim=1), (X,), {"dim": 1}),
    (lambda: torch.sum(X, DIM, keepdim=True), (X, 1), {"keepdim": True}),
    (lambda: torch.sum(X, dim=DIM, keepdim=False), (X,), {"dim": 1, "keepdim": False}),
    (lambda: X.sum(1), (X, 1), {}),
    (lambda: X.sum(dim=1, keepdim=True), (X,), {"dim": 1, "keepdim": True}),
    (lambda: torch.softmax(X, dim=-1), (X,), {"dim": -1}),
    (lambda: torch.softmax(X, -1), (X, -1), {}),
    (lambda: torch.add(X, X, alpha=1), (X, X), {"alpha": 1}),
    (lambda: torch.add(X, X), (X, X), {}),
    (lambda: torch.clamp(X, min=0.0, max=2.0), (X,), {"min": 0.0, "max": 2.0}),
    (lambda: torch.clamp(X, 0.0, max=2.0), (X, 0.0), {"max": 2.0}),
    (lambda: torch.cat([X, X], dim=0), ([X, X],), {"dim": 0}),
    (lambda: torch.cat([X, X], 0), ([X, X], 0), {}),
    (lambda: X.transpose(0, 1), (X, 0, 1), {}),
    (lambda: X.transpose(dim0=0, dim1=1), (X,), {"dim0": 0, "dim1": 1}),
    (lambda: torch.relu(torch.sum(X, dim=0)), (torch.tensor([3.0, 5.0, 7.0]),), {}),
]


def same(found, wanted):
    if isinstance(wanted, torch.Tensor):
        return isinstance(found, torch.Tensor) and torch.equal(found, wanted)
    if isinstance(wanted, list | tuple):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    return type(found) is type(wanted) and found == wanted


@pytest.mark.parametrize("case", range(len(CASES)))
def test_a_call(case):
    call, args, kwargs = CASES[case]
    with Seen() as seen:
        call()
        call()  # by the instructions that the interpreter has adapted to the first ones
    assert len(seen.calls) in (2, 4)
    for found, named in (seen.calls[-1], seen.calls[len(seen.calls) // 2 - 1]):
        assert same(found, args)
        assert named == kwargs


def test_many_calls_in_a_loop():
    with Seen() as seen:
        for _ in range(50):  # enough for specialised instructions
            torch.sum(X, dim=1)
            X.sum(0, keepdim=True)
    assert all(named == {"dim": 1} for _, named in seen.calls[::2])
    assert all(named == {"keepdim": True} for _, named in seen.calls[1::2])


def test_calls_over_lines_and_with_other_calls_inside():
    with Seen() as seen:
        torch.sum(
            torch.add(
                X,
                X,
                alpha=2,
            ),
            dim=max(0, 1),
            keepdim=bool(1),
        )
    assert [named for _, named in seen.calls] == [{"alpha": 2}, {"dim": 1, "keepdim": True}]


def test_arguments_that_are_spread_are_told_apart_from_defaults():
    options = {"dim": 1, "keepdim": True}
    with Seen() as seen:
        torch.sum(X, **options)
        torch.sum(*(X, 1))
    (args, named), (all_args, none) = seen.calls
    assert named | dict(zip(["dim"], args[1:], strict=False)) == options
    assert {**none, **dict(zip(["dim"], all_args[1:], strict=False))} == {"dim": 1}
