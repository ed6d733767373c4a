"""``torch.library.infer_schema``: schemas from annotations, as PyTorch infers them."""

# ruff: noqa: UP006, UP035 (annotations as users write them)

import typing
from collections.abc import Sequence
from typing import Dict, List, Optional, Tuple, Union

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.facts import missing
from scenarios import as_in_pytorch, refused

# Annotations of a parameter, with `t` the library.
PARAMETERS = [
    "t.Tensor", "Optional[t.Tensor]", "t.Tensor | None", "List[t.Tensor]", "list[t.Tensor]",
    "Sequence[t.Tensor]", "List[Optional[t.Tensor]]", "Sequence[Optional[t.Tensor]]",
    "int", "Optional[int]", "List[int]", "Sequence[int]", "Optional[Sequence[int]]",
    "float", "Optional[float]", "List[float]", "Sequence[float]",
    "bool", "Optional[bool]", "List[bool]", "Sequence[bool]", "str", "Optional[str]",
    "Union[int, float, bool]", "Optional[Union[int, float, bool]]", "List[Union[int, float, bool]]",
    "t.dtype", "Optional[t.dtype]", "t.device", "Optional[t.device]", "Tuple[int, int]",
    "dict", "Dict[str, int]", "object", "bytes", "Union[int, str]", "Union[int, float]", "complex",
    "List[List[int]]", "Optional[Dict[int, int]]", "'t.Tensor'", "type(None)", "t.Size",
    "Tuple[t.Tensor, t.Tensor]", "list", "List",
]  # fmt: skip
RETURNS = [
    "t.Tensor", "List[t.Tensor]", "list[t.Tensor]", "Tuple[t.Tensor, t.Tensor]",
    "tuple[t.Tensor, int]", "tuple[List[t.Tensor], t.Tensor]", "int", "float", "bool",
    "Union[int, float, bool]", "None", "Optional[t.Tensor]", "str", "dict", "List[int]",
    "tuple[t.Tensor, str]", "t.dtype", "tuple[t.Tensor]",
]  # fmt: skip
DEFAULTS = {
    "int": ["1", "-3", "True", "1.5"],
    "float": ["1.0", "2", "1e-05", "-0.5", "1e20"],
    "bool": ["True", "False"],
    "str": ["'a'", "''"],
    "t.dtype": ["t.float32", "t.int64", "t.bool"],
    "t.device": ["t.device('cpu')", "t.device('cpu', 0)"],
    "Optional[int]": ["None", "3"],
    "Optional[t.Tensor]": ["None"],
    "Optional[t.dtype]": ["None"],
    "Union[int, float, bool]": ["1", "2.5", "True"],
    "List[int]": ["(1, 2)", "[1, 2]", "None"],
}


def inferred(t, text, **options):
    """The schema of a function given as text after ``def f``, or the exception."""
    names = {
        **vars(typing),
        "Sequence": Sequence,
        "t": t,
        "Tuple": Tuple,
        "Dict": Dict,
        "List": List,
    }
    names |= {"Optional": Optional, "Union": Union}
    try:
        exec(f"def f{text}: ...", names)
    except (NameError, TypeError) as error:  # of the annotation itself
        return error
    options = {"mutates_args": (), **options}
    return refused(t.library.infer_schema, names["f"], **options)


@pytest.mark.parametrize("annotation", PARAMETERS)
@as_in_pytorch
def test_types_of_parameters(t, annotation):
    return inferred(t, f"(x: {annotation}) -> t.Tensor")


@pytest.mark.parametrize("annotation", RETURNS)
@as_in_pytorch
def test_types_of_results(t, annotation):
    return inferred(t, f"(x: t.Tensor) -> {annotation}")


@pytest.mark.parametrize("annotation", DEFAULTS)
@as_in_pytorch
def test_defaults(t, annotation):
    return [inferred(t, f"(x: {annotation} = {d}) -> t.Tensor") for d in DEFAULTS[annotation]]


SIGNATURES = [
    "() -> t.Tensor",
    "(x: t.Tensor, y: int = 1, *, z: float = 2.0) -> t.Tensor",
    "(x: t.Tensor, *, y: int, z: str = 'a') -> t.Tensor",
    "(*, x: t.Tensor) -> t.Tensor",
    "(x: t.Tensor, /) -> t.Tensor",
    "(*args: t.Tensor) -> t.Tensor",
    "(x: t.Tensor, **kwargs: int) -> t.Tensor",
    "(x, y: int) -> t.Tensor",
    "(x: t.Tensor)",
    "(self: t.Tensor, other: t.Tensor) -> t.Tensor",
]


@pytest.mark.parametrize("signature", SIGNATURES)
@as_in_pytorch
def test_signatures(t, signature):
    return inferred(t, signature)


WRITTEN = {
    "none": (),
    "one": ("x",),
    "a set": {"y"},
    "a list": ["x", "y", "zs"],
    "unknown": "unknown",
    "of no tensor": ("n",),
    "of nothing": ("nothing",),
    "optional": ["maybe"],
}


@pytest.mark.parametrize("name", WRITTEN)
@as_in_pytorch(facts=True)
def test_what_is_written(t, name):
    text = "(x: t.Tensor, n: int, y: t.Tensor, zs: List[t.Tensor], maybe: Optional[t.Tensor] = None) -> None"
    return inferred(t, text, mutates_args=WRITTEN[name])


@as_in_pytorch
def test_with_a_name(t):
    return inferred(t, "(x: t.Tensor) -> t.Tensor", op_name="scale")


@as_in_pytorch
def test_mutates_args_must_be_given(t):
    def f(x: t.Tensor) -> t.Tensor:
        return x

    return refused(t.library.infer_schema, f), refused(t.library.custom_op, "a::b", f)


def test_what_pytorch_refuses_or_gets_wrong():
    assert inferred(torch, "(x: Optional[List[t.Tensor]]) -> t.Tensor") == "(Tensor[]? x) -> Tensor"
    quoted = inferred(torch, "(x: str = 'a \"b\"') -> t.Tensor")
    assert quoted == r'(str x="a \"b\"") -> Tensor'
    assert (
        torch.library.custom_op(
            "infer_schema_test::quoted", lambda x: torch.ones(1), mutates_args=(), schema=quoted
        )
        ._opoverload._schema.arguments[0]
        .default
        == 'a "b"'
    )


def test_a_string_of_names_is_refused():
    # PyTorch takes it apart into letters.
    error = inferred(torch, "(xs: t.Tensor) -> None", mutates_args="xs")
    assert type(error) is ValueError
    assert "'xs'" in str(error)


@pytest.mark.parametrize(("text", "what"), [
    ("(x, y: int) -> t.Tensor", "Parameter x must have a type annotation."),
    ("(x: dict) -> t.Tensor", "Parameter x has unsupported type <class 'dict'>. The valid types are:"),
    ("(*x: t.Tensor) -> t.Tensor", "We do not support positional-only args, varargs, or varkwargs."),
    ("(x: t.Tensor)", "No return type annotation was provided. Please add one."),
    ("(x: List[int] = (1, 2)) -> t.Tensor", "Parameter x has an unsupported default value"),
    ("(x: 'NoSuchType') -> t.Tensor", "NoSuchType"),
])  # fmt: skip
def test_texts_of_errors(text, what):
    error = inferred(torch, text)
    assert type(error) is ValueError
    assert what in str(error)
    assert not missing(str(error), what)
