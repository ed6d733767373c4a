"""What ``__torch_function__`` is given: the arguments as the call wrote them, on every version of Python."""

import functools
import operator
import subprocess
import sys

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
# Functions whose list may be spread over the call: its name, and numbers that stand in it.
SPREAD = [
    *((getattr(X, name), (X,), listed, given) for name, listed, given in (
        ("view", "size", (3, 2)), ("view", "size", (6,)), ("reshape", "shape", (-1, 2)), ("expand", "size", (4, 2, 3)),
        ("repeat", "repeats", (2, 1)), ("tile", "dims", (2,)), ("permute", "dims", (1, 0)), ("flip", "dims", (0,)),
        ("new_zeros", "size", (2, 3)), ("new_ones", "size", (2,)), ("new_empty", "size", (2, 3)),
    )),
    *((getattr(torch, name), (), "size", (2, 3)) for name in ("zeros", "ones", "empty", "rand", "randn")),
]  # fmt: skip


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


@pytest.mark.parametrize(("function", "first", "name", "given"), SPREAD)
def test_a_list_that_may_be_spread(function, first, name, given):
    with Seen() as seen:
        found = [function(*given), function(given), function([*given]), function(**{name: given})]
    (spread, _), (one, _), (listed, _), (rest, named) = seen.calls
    assert same(spread, (*first, *given))
    assert same(one, (*first, given))
    assert same(listed, (*first, [*given]))
    assert same((*rest, *named.values()), (*first, given))
    assert len({each.shape for each in found}) == 1


@pytest.mark.parametrize(
    ("call", "args", "kwargs"),
    [
        (lambda: X.permute(dims=(1, 0)), (X,), {"dims": (1, 0)}),
        (lambda: X.flip(dims=[0]), (X,), {"dims": [0]}),
        (lambda: torch.zeros(size=(2, 3), dtype=torch.int32), (), {"size": (2, 3), "dtype": torch.int32}),
    ],
)  # fmt: skip
def test_a_list_that_may_be_spread_by_its_name(call, args, kwargs):
    with Seen() as seen:
        call()
    assert same(seen.calls[0][0], args)
    assert seen.calls[0][1] == kwargs


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


class Kind(torch.Tensor):
    """A class of tensors."""


# Calls by way of something else, whose arguments do not stand in any call of Python's.
BY_WAY = {
    "keyword": lambda x: functools.partial(torch.sum, dim=0)(x),
    "two keywords": lambda x: functools.partial(torch.sum, dim=0, keepdim=True)(x),
    "first": lambda x: functools.partial(torch.mul, x)(x),
    "second by keyword": lambda x: functools.partial(torch.mul, other=x)(x),
    "method": lambda x: functools.partial(x.sum, 1)(),
    "method's keyword": lambda x: functools.partial(x.sum, keepdim=True)(1),
    "both": lambda x: functools.partial(torch.clamp, x)(1.0, max=2.0),
    "list": lambda x: functools.partial(torch.cat, dim=1)([x, x]),
    "keyword alone": lambda x: functools.partial(torch.Tensor.add, alpha=2)(x, 1),
    "map": lambda x: list(map(functools.partial(torch.clamp, min=1.0, max=3.0), [x, x])),
    "reduce": lambda x: functools.reduce(torch.add, [x, x, x]),
    "caller": lambda x: operator.methodcaller("sum", 1, keepdim=True)(x),
    "spread": lambda x: functools.partial(x.view, 3)(2),
    "factory": lambda x: x + functools.partial(torch.full, (2, 3))(3.0),
    "written in Python": lambda x: functools.partial(torch.nn.functional.softmax, dim=0)(x),
}


@pytest.mark.parametrize("name", BY_WAY)
def test_no_argument_is_lost_by_the_way(name):
    call = BY_WAY[name]
    wanted, kind = call(X), call(X.as_subclass(Kind))
    with Seen():
        in_mode = call(X)
    assert same(in_mode, wanted)
    of_kind = kind if isinstance(kind, list) else [kind]
    assert all(type(t) is Kind for t in of_kind)
    plain = [t.as_subclass(torch.Tensor) for t in of_kind]
    assert same(plain, wanted if isinstance(wanted, list) else [wanted])


@pytest.mark.parametrize(
    "call",
    [
        lambda t, x: t.nn.functional.pad(x, (1, 1)),
        lambda t, x: t.nn.functional.pad(x, (1, 1), "constant", 2.0),
        lambda t, x: t.nn.functional.pad(x, (1, 1), mode="reflect"),
        lambda t, x: t.nn.functional.glu(x[:, :2]),
        lambda t, x: t.nn.functional.glu(x[:, :2], dim=1),
        lambda t, x: t.nn.functional.rms_norm(x, (3,)),
        lambda t, x: t.stft(x.reshape(-1), 4, return_complex=True),
    ],
)
def test_defaults_of_what_pytorch_has_written_in_python_are_told(call):
    pt = pytest.importorskip("torch")
    told = []
    for library, mode in ((torch, TorchFunctionMode), (pt, pt.overrides.TorchFunctionMode)):

        class Told(mode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                told.append((func.__name__, len(args), dict(kwargs or {})))
                return func(*args, **(kwargs or {}))

        x = library.arange(6.0).view(2, 3)
        with Told():
            call(library, x)
    half = len(told) // 2
    assert told[:half] == told[half:]


# Functions are written into files that are loaded when they are first asked for, here after the class.
LOADED_LATE = """
import mindtorch_core as torch
seen = []
class Mine(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        seen.append((function.__name__, len(args)))
        return super().__torch_function__(function, types, args, kwargs or {})
a = Mine([[1.0]])
torch.einsum("ij,jk->ik", (a, a))
torch.einsum("ij,jk->ik", a, a)
print(seen)
"""


def test_operands_in_a_list_are_spread_for_a_class_that_was_there_first():
    done = subprocess.run([sys.executable, "-c", LOADED_LATE], capture_output=True, text=True)
    assert done.stdout == "[('einsum', 3), ('einsum', 3)]\n", done.stderr


def test_a_mode_is_given_the_equation_and_operands_as_they_were_listed():
    with Seen() as seen:
        torch.einsum("ij,kj->ik", [X, X])
        torch.einsum("ij,kj->ik", X, X)
        torch.einsum(X, [0, 1], X, [2, 1], [0, 2])
        torch.einsum(X, [0, 1], X, [2, 1])
    first = [("ij,kj->ik", 2), ("ij,kj->ik", 3), ("AB,CB->AC", 3), ("AB,CB", 3)]
    assert [(args[0], len(args)) for args, _ in seen.calls] == first
