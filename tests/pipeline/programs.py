"""Random programs, and interpreters that run them eagerly, in a pipeline and in PyTorch.

A program is a list of instructions on a growing list of tensors. Its inputs are small whole numbers.
An *exact* program uses only ops whose results stay whole, so that sums are the same in every order
and runs must agree bit for bit; the others use smooth ops, and agree closely.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

__all__ = ["Outcome", "Program", "assert_alike", "programs", "run"]

SHAPES = ((4, 6), (6,), (4, 1), (1, 6), (24,), (2, 3, 4), (3, 4), (4,), (2, 1, 4), (), (0, 3))

EXACT_UNARY = (
    ("relu", lambda t, x: t.relu(x)),
    ("neg", lambda t, x: -x),
    ("abs", lambda t, x: t.abs(x)),
    ("sign", lambda t, x: t.sign(x)),
    ("clone", lambda t, x: x.clone()),
    ("add 2", lambda t, x: x + 2),
    ("3 -", lambda t, x: 3 - x),
    ("mul 2", lambda t, x: x * 2),
    ("clamp", lambda t, x: x.clamp(-2, 2)),
    ("double", lambda t, x: x.to(t.float64)),
    ("int", lambda t, x: x.to(t.int64)),
    ("logical_not", lambda t, x: t.logical_not(x)),
    ("ones_like", lambda t, x: t.ones_like(x)),
)
SMOOTH_UNARY = (
    ("exp", lambda t, x: t.exp(x.clamp(-3, 3))),
    ("tanh", lambda t, x: t.tanh(x)),
    ("sigmoid", lambda t, x: t.sigmoid(x)),
    ("mul 0.3", lambda t, x: x * 0.3),
    ("div 3", lambda t, x: x / 3),
    ("neg", lambda t, x: -x),
    ("softmax", lambda t, x: x.softmax(-1)),
    ("by hand", lambda t, x: t.exp(x - x.amax(-1, keepdim=True)) / x.shape[-1]),
    ("centred", lambda t, x: x - x.mean(-1, keepdim=True)),
    ("sqrt", lambda t, x: t.sqrt(x * x + 1)),
    ("double", lambda t, x: x.to(t.float64)),
)
EXACT_BINARY = (
    ("add", lambda t, x, y: x + y),
    ("sub", lambda t, x, y: x - y),
    ("mul", lambda t, x, y: x * t.sign(y)),
    ("maximum", lambda t, x, y: t.maximum(x, y)),
    ("lt", lambda t, x, y: x < y),
    ("eq", lambda t, x, y: x == y),
    ("where", lambda t, x, y: t.where(x > 0, x, y)),
    ("alpha", lambda t, x, y: t.add(x, y, alpha=2)),
)
SMOOTH_BINARY = (
    ("add", lambda t, x, y: x + y),
    ("sub", lambda t, x, y: x - y),
    ("mul", lambda t, x, y: x * t.tanh(y)),
    ("div", lambda t, x, y: x / (y * y + 1)),
)
EXACT_INPLACE = (
    ("add_", lambda t, x, y: x.add_(y)),
    ("sub_", lambda t, x, y: x.sub_(y, alpha=2)),
    ("relu_", lambda t, x, y: x.relu_()),
    ("neg_", lambda t, x, y: x.neg_()),
    ("copy_", lambda t, x, y: x.copy_(y)),
    ("zero_", lambda t, x, y: x.zero_()),
    ("fill_", lambda t, x, y: x.fill_(2)),
    ("clamp_", lambda t, x, y: x.clamp_(-1, 1)),
    ("setitem", lambda t, x, y: x.__setitem__(0, 1)),
    ("add_ number", lambda t, x, y: x.add_(1)),
)
SMOOTH_INPLACE = (
    ("mul_", lambda t, x, y: x.mul_(0.5)),
    ("add_", lambda t, x, y: x.add_(y)),
    ("tanh_", lambda t, x, y: x.tanh_()),
    ("div_", lambda t, x, y: x.div_(3)),
    ("copy_", lambda t, x, y: x.copy_(y)),
)
VIEWS = (
    ("t", lambda t, x: x.t()),
    ("tail", lambda t, x: x[1:]),
    ("unsqueeze", lambda t, x: x.unsqueeze(0)),
    ("reshape", lambda t, x: x.reshape(-1)),
    ("expand", lambda t, x: x.expand(2, *x.shape)),
    ("last", lambda t, x: x[..., 0]),
    ("detach", lambda t, x: x.detach()),
    ("step", lambda t, x: x[..., ::2]),
    ("view", lambda t, x: x.view(-1)),
)
REDUCTIONS = (
    ("sum", lambda t, x: x.sum()),
    ("sum -1", lambda t, x: x.sum(-1)),
    ("sum keepdim", lambda t, x: x.sum(-1, keepdim=True)),
    ("amax", lambda t, x: x.amax(-1)),
    ("amax keepdim", lambda t, x: x - x.amax(-1, keepdim=True)),
    ("amin", lambda t, x: x.amin()),
    ("sum 0", lambda t, x: x.sum(0)),
    ("sum two", lambda t, x: x.sum((-2, -1))),
)
TABLES = {
    ("unary", True): EXACT_UNARY,
    ("unary", False): SMOOTH_UNARY,
    ("binary", True): EXACT_BINARY,
    ("binary", False): SMOOTH_BINARY,
    ("inplace", True): EXACT_INPLACE,
    ("inplace", False): SMOOTH_INPLACE,
    ("view", True): VIEWS,
    ("view", False): VIEWS,
    ("reduction", True): REDUCTIONS,
    ("reduction", False): REDUCTIONS,
}
KINDS = ("unary", "binary", "binary", "inplace", "view", "reduction")

Instruction = tuple[str, int, int, int]


@dataclass(frozen=True)
class Program:
    """A program.

    Attributes:
        exact: whether every run must agree bit for bit.
        seed: of the inputs' values.
        leaves: how many of the inputs require grad.
        instructions: kind, which op of the kind, and two positions (modulo the number of values).
    """

    exact: bool
    seed: int
    leaves: int
    instructions: tuple[Instruction, ...]


@dataclass
class Outcome:
    """What a run left: per instruction an error's type or None, and the values of all tensors."""

    errors: list[str | None]
    values: list[Any]


_position = st.one_of(st.integers(0, 3), st.integers(0, 40))  # few tensors meet more often
_instruction = st.one_of(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 12), _position, _position),
    st.tuples(st.sampled_from(["forget", "flush", "backward", "update"]), st.just(0), _position,
              _position),
)  # fmt: skip
programs = st.builds(
    Program,
    st.booleans(),
    st.integers(0, 5),
    st.integers(0, 4),
    st.lists(_instruction, min_size=1, max_size=25).map(tuple),
)


def inputs(program: Program, lib: Any) -> list[Any]:
    """The tensors a program starts with; some share memory, some are not contiguous."""
    rng = np.random.default_rng(program.seed)
    arrays = [rng.integers(-3, 4, s).astype(np.float32) for s in SHAPES]
    made = [lib.from_numpy(a.copy()) for a in arrays]
    made.append(lib.from_numpy(rng.integers(-3, 4, (4, 6))))
    made.append(lib.from_numpy(rng.integers(-3, 4, (6, 4)).astype(np.float32)).t())
    made.append(lib.from_numpy(rng.integers(-3, 4, (4, 12)).astype(np.float32))[:, ::2])
    made.append(lib.from_numpy(rng.integers(-3, 4, (6,)).astype(np.float64)))
    for leaf in made[: program.leaves]:
        leaf.requires_grad_()
    return made


def run(program: Program, lib: Any, pipeline: Any = None) -> Outcome:
    """Run a program.

    Args:
        program: what to run.
        lib: the library.
        pipeline: a context to run it in; None for none.
    """
    given = inputs(program, lib)
    values = list(given)
    errors: list[str | None] = []
    with pipeline if pipeline is not None else contextlib.nullcontext() as pipe:
        for kind, which, i, j in program.instructions:
            try:
                made = _step(program, lib, pipe, values, given, kind, which, i, j)
            except (RuntimeError, IndexError, TypeError, NotImplementedError) as error:
                errors.append(_base_name(error))
                if kind == "backward":  # PyTorch keeps what it had accumulated, we nothing
                    for leaf in given[: program.leaves]:
                        leaf.grad = None
                continue
            errors.append(None)
            if made is not None:
                values.append(made)
    left = [_value(v) for v in (*given, *values)]
    left += [_value(v.grad) for v in given[: program.leaves]]
    return Outcome(errors, left)


def _base_name(error: Exception) -> str:
    kinds = (IndexError, TypeError, RuntimeError)  # a NotImplementedError is a RuntimeError
    return next(k.__name__ for k in kinds if isinstance(error, k))


def _step(
    program: Program,
    lib: Any,
    pipe: Any,
    values: list[Any],
    given: list[Any],
    kind: str,
    which: int,
    i: int,
    j: int,
) -> Any:
    x, y = values[i % len(values)], values[j % len(values)]
    table = TABLES.get((kind, program.exact))
    if table is not None:
        fn = table[which % len(table)][1]
        if kind in ("unary", "view", "reduction"):
            return fn(lib, x)
        made = fn(lib, x, y)
        return made if kind == "binary" else None
    if kind == "forget":
        if len(values) > 3:
            del values[i % len(values)]
    elif kind == "flush":
        if pipe is not None:
            pipe.flush()
    elif kind == "backward":
        loss = x.sum()
        if loss.requires_grad and lib.isfinite(loss.detach()).item():
            loss.backward()
    else:
        with lib.no_grad():
            for leaf in given[: program.leaves]:
                if leaf.grad is not None:
                    leaf.sub_(leaf.grad)
                    leaf.grad = None
    return None


def _value(t: Any) -> Any:
    if t is None:
        return None
    return str(t.dtype).rpartition(".")[2], tuple(t.shape), np.asarray(t.clone().detach().tolist())


def assert_alike(program, found, wanted, who):
    assert found.errors == wanted.errors, who
    for i, (f, w) in enumerate(zip(found.values, wanted.values, strict=True)):
        assert (f is None) == (w is None), (who, i)
        if f is None:
            continue
        assert f[:2] == w[:2], (who, i)
        if program.exact:
            np.testing.assert_array_equal(f[2], w[2], err_msg=f"{who} {i}")
        else:
            np.testing.assert_allclose(
                f[2].astype(float), w[2].astype(float), rtol=2e-4, atol=2e-4, err_msg=f"{who} {i}"
            )
