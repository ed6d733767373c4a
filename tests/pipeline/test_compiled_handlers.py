"""`torch.compile` of functions that catch errors: they see them where the plain call does."""

import contextlib
import functools

import pytest

import mindtorch_core as torch
from mindtorch_core.ecosystem.compiled_handlers import catches

F = torch.nn.functional
FAR = torch.tensor([9])


def caught(x, i):
    try:
        return x[i] * 1
    except IndexError:
        return x * 0


def divided(a, b):
    try:
        result = a // b
    except Exception as error:  # noqa: BLE001
        return type(error).__name__
    return result


def looked_up(i, w):
    try:
        return F.embedding(i, w)
    except (KeyError, IndexError):
        return None


def factor(a):
    try:
        return torch.linalg.cholesky(a)
    except RuntimeError:
        return torch.eye(2)


def bare(x, i):
    try:
        return x[i] * 1
    except:  # noqa: E722
        return x * 0


def last_is_bare(x, i):
    try:
        return x[i] * 1
    except KeyError:
        raise
    except:  # noqa: E722
        return x * 0


def suppressed(x, i):
    with contextlib.suppress(IndexError):
        x.add_(1)
        y = x[i]
        x.add_(100)
        return y
    return x


def suppressed_by_own_import(x, i):
    from contextlib import suppress as quietly

    with quietly(IndexError):
        return x[i] * 1
    return x


@contextlib.contextmanager
def quiet():
    try:
        yield
    except IndexError as error:
        del error


def in_a_context(x, i):
    with quiet():
        return x[i] * 1
    return x


class Quiet:
    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        return kind is IndexError


def in_an_own_context(x, i):
    with Quiet():
        return x[i] * 1
    return x


def by_a_helper(x, i):
    return caught(x, i) + 1


class Model(torch.nn.Module):
    def forward(self, x, i):
        return self.safe(x, i) + 1

    def safe(self, x, i):
        return caught(x, i)


CASES = {
    "caught": (caught, lambda: (torch.arange(4.0), FAR)),
    "divided": (divided, lambda: (torch.tensor([1]), torch.tensor([0]))),
    "looked_up": (looked_up, lambda: (torch.tensor([5]), torch.ones(3, 2))),
    "factor": (factor, lambda: (-torch.eye(2),)),
    "bare": (bare, lambda: (torch.arange(4.0), FAR)),
    "last_is_bare": (last_is_bare, lambda: (torch.arange(4.0), FAR)),
    "suppressed": (suppressed, lambda: (torch.arange(4.0), FAR)),
    "suppressed_by_own_import": (suppressed_by_own_import, lambda: (torch.arange(4.0), FAR)),
    "in_a_context": (in_a_context, lambda: (torch.arange(4.0), FAR)),
    "in_an_own_context": (in_an_own_context, lambda: (torch.arange(4.0), FAR)),
    "by_a_helper": (by_a_helper, lambda: (torch.arange(4.0), FAR)),
    "by_a_closure": ((lambda f: lambda x, i: f(x, i))(caught), lambda: (torch.arange(4.0), FAR)),
    "by_a_partial": (functools.partial(lambda f, *a: f(*a), caught), lambda: (torch.ones(4), FAR)),
    "by_an_argument": (lambda f, x, i: f(x, i), lambda: (caught, torch.arange(4.0), FAR)),
    "by_a_module": (Model(), lambda: (torch.arange(4.0), FAR)),
    "by_a_model": (
        lambda m, x, i: m(x, i),
        lambda: (torch.nn.ModuleList([Model()])[0], torch.arange(4.0), FAR),
    ),
    "compiled": (torch.compile(lambda x, i: caught(x, i)), lambda: (torch.arange(4.0), FAR)),
}


def _shown(value):
    return value.tolist() if isinstance(value, torch.Tensor) else value


@pytest.mark.parametrize("fullgraph", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_errors_are_caught_where_they_are_without_it(case, fullgraph):
    fn, given = CASES[case]
    compiled = torch.compile(fn, fullgraph=fullgraph)
    for _ in range(6):
        mine, others = given(), given()
        wanted = _shown(fn(*mine))
        assert _shown(compiled(*others)) == wanted
        assert [*map(_shown, others)][-2:] == [*map(_shown, mine)][-2:]


def _finally(x):
    try:
        return x * 2
    finally:
        x.add_(1)


def _others(x):
    try:
        return {}["none"]
    except KeyError:
        return x * 2


def _with_a_context(x):
    with torch.no_grad(), contextlib.nullcontext():
        return (x * 2).relu()


class Plain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = torch.nn.ModuleList(
            [torch.nn.TransformerEncoderLayer(8, 2), torch.nn.LSTM(8, 8), torch.nn.BatchNorm1d(8)]
        )

    def forward(self, x):
        return self.parts[2](self.parts[0](x)[0])


@pytest.mark.parametrize("fn", [_finally, _others, _with_a_context, Plain()])
def test_what_catches_no_errors_of_ops_is_a_block(fn):
    assert not catches(fn, torch.ones(3))


def test_a_long_chain_is_followed_and_a_circle_ends():
    def first(n):
        return second(n)

    def second(n):
        return first(n - 1) if n else torch.ones(())

    assert not catches(first, 3)


class World:
    """What programs hand to functions: tensors and objects that lead to others."""

    def __init__(self, depth, end):
        self.x, self.number, self.itself = torch.ones(3), 1, self
        self.next = World(depth - 1, end) if depth else end


def test_objects_are_followed_to_their_end():
    assert not catches(lambda w: w.x * w.number + w.itself.x, World(3, None))
    assert catches(lambda w: w.next.next.next(w.x, FAR), World(2, caught))
    assert catches(lambda w: w.next, World(300, caught))
    assert not catches(lambda w: w.next, World(300, None))
