"""Definitions and registrations of ops that are refused: a row for each error, beside PyTorch's type of error."""

import re

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

ROWS = []
ELSEWHERE = set()


def row(text, call, *, own=False):
    ROWS.append((text, call))
    if own:
        ELSEWHERE.add(len(ROWS) - 1)


def keyword_only(lib, *, x):
    return x


def defined(schema, then):
    """A call with a library that has an op ``refused::op`` of a schema."""

    def call(lib):
        with lib.library._scoped_library("refused", "FRAGMENT") as made:
            made.define(f"op{schema}")
            then(lib, made)

    return call


ONE = "(Tensor x) -> Tensor"
KEYWORD = "(*, Tensor x) -> Tensor"
registered = lambda lib, made: lib.library.register_autograd("refused::op", lambda ctx, g: g)  # noqa: E731
row("register_autograd with kwarg-only Tensor args", defined(KEYWORD, registered))
row(
    "Cannot register autograd formula for non-functional operator refused::op with schema",
    defined("(Tensor(a!) x) -> ()", registered),
)
row(
    "register_vmap with kwarg-only Tensor args",
    defined(
        KEYWORD,
        lambda lib, made: lib.library.register_vmap("refused::op", lambda info, dims, *args: None),
    ),
)
row(
    "custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only",
    lambda lib: lib.library.custom_op(
        "refused::own", lambda *, x: x, mutates_args=(), schema="(*, Tensor x) -> Tensor"
    ),
)
row(
    'Expected `qualname` to be of the form "namespace::name"',
    lambda lib: lib.library.custom_op("refused", lambda x: x, mutates_args=(), schema=ONE),
)


def infer(annotation, mutates):
    def call(lib):
        def op(x, y):
            pass

        op.__annotations__ = {"x": lib.Tensor, "y": annotation(lib), "return": None}
        lib.library.infer_schema(op, mutates_args=mutates)

    return call


row('mutates_args must be a sequence of names or "unknown"', infer(lambda lib: int, "x"))
row(
    "in mutable_args but only Tensors or collections of Tensors can be mutated",
    infer(lambda lib: int, ["y"]),
)
row("in mutates_args was not found in the custom op's signature", infer(lambda lib: int, ["z"]))
row("Unsupported kind: OTHER", lambda lib: lib.library.Library("refused", "OTHER"))
row("prim is a reserved namespace", lambda lib: lib.library.Library("prim", "DEF"))


def destroyed(lib):
    made = lib.library.Library("refused", "FRAGMENT")
    made._destroy()
    made.define(f"op{ONE}")


row("Library object has been destroyed", destroyed)
row(
    "Invalid alias_analysis type",
    defined(ONE, lambda lib, made: made.define(f"op2{ONE}", "SOMETIMES")),
)


def twice(lib, made):
    made.impl("op", lambda x: x, "CPU")
    made.impl("op", lambda x: x, "CPU", allow_override=False)


row("This is not allowed", defined(ONE, twice))
row(
    "Cannot define an operator in an IMPL library",
    lambda lib: lib.library.Library("refused", "IMPL").define(f"op{ONE}"),
)


def only(lib):
    first = lib.library.Library("refused", "DEF")
    try:
        lib.library.Library("refused", "DEF")
    finally:
        first._destroy()


row("Only a single DEF library can be used for the namespace refused", only)
row(
    "A fallback needs a dispatch key",
    lambda lib: lib.library.Library("_", "IMPL").fallback(lambda op, *args: None),
    own=True,
)
row(
    "a fallback can only be registered",
    lambda lib: lib.library.Library("refused", "IMPL").fallback(lambda op, *args: None, "CPU"),
)


@pytest.mark.parametrize(
    "number", range(len(ROWS)), ids=lambda n: re.sub(r"\W+", "-", ROWS[n][0])[:40]
)
def test_is_refused(number):
    text, call = ROWS[number]
    with pytest.raises(Exception) as own:  # noqa: PT011  (which one is asked below)
        call(torch)
    assert text.lower() in str(own.value).lower()
    try:
        call(pt)
    except Exception as error:  # noqa: BLE001  (the outcome)
        alike = isinstance(own.value, type(error)) or type(error).__name__ == own.type.__name__
    else:
        alike = False
    assert alike is (number not in ELSEWHERE)
