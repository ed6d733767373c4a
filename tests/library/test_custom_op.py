"""``torch.library.custom_op`` and what is registered for such ops, as in PyTorch."""

# ruff: noqa: UP006, UP007, UP035, UP045 (annotations as users write them)

from collections.abc import Sequence
from typing import List, Optional, Tuple, Union

import pytest

import mindtorch_core as torch
from scenarios import as_in_pytorch, numpy_sin, refused

np = pytest.importorskip("numpy")


def ops(t):
    return t.ops.custom_op_test


# ---- making one ---------------------------------------------------------------------------------


@as_in_pytorch
def test_it_is_called_like_the_function(t):
    op = numpy_sin(t, "numpy_sin")
    x = t.tensor([0.0, 0.5, 1.0])
    return [
        op(x),
        op(x, 2.0),
        op(x, scale=3),
        op(x=x),
        ops(t).numpy_sin(x),
        ops(t).numpy_sin.default(x, 0.5),
        str(op),
        str(op._opoverload),
        [tag.name for tag in op._opoverload.tags],
    ]


@as_in_pytorch
def test_as_a_decorator(t):
    @t.library.custom_op("custom_op_test::decorated", mutates_args=())
    def decorated(x: t.Tensor, y: "int" = 2) -> t.Tensor:
        """What it does."""
        return x * y

    return decorated(t.ones(2)), decorated(t.ones(2), 5), decorated._name, decorated._qualname


def test_it_keeps_the_functions_name_and_docstring():
    op = numpy_sin(torch, "named")
    assert op.__name__ == "sin"
    assert repr(op) == "<CustomOpDef(custom_op_test::named)>"


@as_in_pytorch
def test_defining_again_replaces(t):
    made = []
    for by in (2, 3):

        def scale(x: t.Tensor) -> t.Tensor:
            return x * by

        made.append(t.library.custom_op("custom_op_test::again", scale, mutates_args=()))
    return made[1](t.ones(1)), ops(t).again(t.ones(1))


@as_in_pytorch
def test_a_schema_instead_of_annotations(t):
    def add(x, y, *, alpha=1):
        return x + y * alpha

    op = t.library.custom_op(
        "custom_op_test::by_schema",
        add,
        mutates_args=(),
        schema="(Tensor x, Tensor y, *, Scalar alpha=1) -> Tensor",
    )
    x = t.ones(2)
    return op(x, x), op(x, x, alpha=2.5), refused(op, x, x, 3), str(op._opoverload._schema)


@as_in_pytorch
def test_names(t):
    def f(x: t.Tensor) -> t.Tensor:
        return x.clone()

    def make(name):
        return refused(t.library.custom_op, name, f, mutates_args=())

    return make("noname"), make("custom_op_test::a.b")(t.ones(1)), str(ops(t).a.b)


# ---- arguments and results ----------------------------------------------------------------------


@as_in_pytorch
def test_every_kind_of_argument(t):
    seen = []

    @t.library.custom_op("custom_op_test::kinds", mutates_args=())
    def kinds(
        x: t.Tensor,
        maybe: Optional[t.Tensor],
        several: List[t.Tensor],
        some: Sequence[Optional[t.Tensor]],
        n: int,
        f: float,
        flag: bool,
        text: str,
        kind: t.dtype,
        place: t.device,
        number: Union[int, float, bool],
        sizes: Sequence[int],
        weights: List[float],
        limit: Optional[int] = None,
        *,
        named: str = "q",
    ) -> t.Tensor:
        seen.append([type(v).__name__ for v in (several, some, n, f, flag, text, sizes, weights)])
        seen.append([n, f, flag, text, str(kind), str(place), number, list(sizes), list(weights)])
        seen.append([maybe is None, limit, named, len(some)])
        return x.clone()

    x = t.ones(1)
    kinds(x, None, [x], [x, None], 3, 2, True, "a", t.float64, "cpu", 2.5, (1, 2), [1.0, 2.0])
    kinds(x, x, (x,), (), 3, 2.5, 0, "a", t.int64, t.device("cpu"), 1, [], [], 7, named="z")
    return seen


@as_in_pytorch
def test_every_kind_of_result(t):
    def make(annotation, value):
        def f(x):
            return value(x)

        f.__annotations__ = {"x": t.Tensor, "return": annotation}
        name = f"results_{len(made)}"
        op = t.library.custom_op(f"custom_op_test::{name}", f, mutates_args=())
        got = refused(op, t.ones(2))
        made.append([type(got).__name__, got])

    made = []
    make(t.Tensor, lambda x: x + 1)
    make(List[t.Tensor], lambda x: [x + 1, x + 2])
    make(list[t.Tensor], lambda x: [x + 1])
    make(Tuple[t.Tensor, t.Tensor], lambda x: (x + 1, x + 2))
    make(tuple[t.Tensor, int], lambda x: (x + 1, 3))
    make(tuple[List[t.Tensor], t.Tensor], lambda x: ([x + 1], x + 2))
    make(tuple[t.Tensor], lambda x: (x + 1,))
    make(int, lambda x: 3)
    make(float, lambda x: 2)
    make(bool, lambda x: True)
    make(Union[int, float, bool], lambda x: 2.5)
    make(None, lambda x: None)
    make(t.Tensor, lambda x: "text")
    make(int, lambda x: 2.5)
    return made


@as_in_pytorch
def test_results_must_be_new(t):
    def define(name, f):
        f.__annotations__ = {"x": t.Tensor, "y": t.Tensor, "return": List[t.Tensor]}
        return t.library.custom_op(f"custom_op_test::{name}", f, mutates_args=())

    x, y = t.ones(3), t.ones(3)
    return [
        refused(define("gives_input", lambda x, y: [y]), x, y),
        refused(define("gives_view", lambda x, y: [x[1:]]), x, y),
        refused(define("gives_detached", lambda x, y: [x.detach()]), x, y),
        refused(define("gives_one_twice", lambda x, y: [(z := x + y), z]), x, y),
        refused(define("gives_views_of_one", lambda x, y: [(z := x + y), z[1:]]), x, y),
        refused(define("gives_new", lambda x, y: [x + y, x * y]), x, y),
    ]


# ---- writing to arguments -----------------------------------------------------------------------


@as_in_pytorch
def test_what_is_written_is_declared(t):
    @t.library.custom_op("custom_op_test::increment", mutates_args=("x",))
    def increment(x: t.Tensor, y: t.Tensor) -> None:
        x.add_(y)

    x, y = t.ones(2), t.ones(2)
    before = x._version
    result = increment(x, y)
    return x, result, x._version - before, y._version, str(increment._opoverload._schema)


@as_in_pytorch
def test_a_list_may_be_written(t):
    @t.library.custom_op("custom_op_test::zero_all", mutates_args={"xs"})
    def zero_all(xs: List[t.Tensor]) -> None:
        for x in xs:
            x.zero_()

    xs = [t.ones(2), t.ones(1)]
    zero_all(xs)
    return xs, str(zero_all._opoverload._schema), [x._version for x in xs]


@as_in_pytorch
def test_unknown_means_every_tensor(t):
    @t.library.custom_op("custom_op_test::unknown", mutates_args="unknown")
    def unknown(x: t.Tensor, n: int, y: Optional[t.Tensor] = None) -> t.Tensor:
        return x * n

    return unknown(t.ones(1), 3), str(unknown._opoverload._schema)


@as_in_pytorch
def test_writing_with_gradients_around(t):
    @t.library.custom_op("custom_op_test::double_", mutates_args=("x",))
    def double_(x: t.Tensor) -> None:
        x.mul_(2)

    leaf = t.ones(2, requires_grad=True)
    saved = t.ones(2, requires_grad=True)
    y = saved * saved
    z = y.exp()
    with t.no_grad():
        double_(y)
    return refused(lambda: z.sum().backward()), y.detach(), leaf._version
