"""Arguments of a wrong type that no kernel stumbles over: what a generated function looks at itself.

Most of what a call may get wrong, its kernel fails on, and only then it is asked what was wrong. But a
flag may be anything that is true or false, and a kernel that computes with a number takes a float for
an int. A default is told by its identity, and a value of the very type by that, in a few nanoseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Final

from ..overrides import keys_of_foreign
from ..schema import Argument, OperatorSchema
from .binding import accepts, is_whole, named, plain_number, whole_number
from .generated import Template, own, own_scope
from .parts import python_name

__all__ = ["defaults_of", "looks_at", "take_one", "taker"]

# What is true of the usual values of a type.
_OTHER: Final = {
    "bool": Template("$name is not True and $name is not False"),
    "int": Template("@type($name) is not @int"),
    "float": Template("@type($name) is not @float and @type($name) is not @int"),
    "str": Template("@type($name) is not @str"),
    "Scalar": Template(
        "(@type($name) not in @PLAIN or $name.__class__ is @int and not @LEAST <= $name <= @MOST)"
    ),
}
# Wrappers and recordings know the tensors in plain lists and tuples alone.
_LIST_OF_TENSORS: Final = Template("$name.__class__ is not @list and $name.__class__ is not @tuple")
_LOOK: Final = Template("""\
if $unlike:
    $name = @TAKEN($number, $name)
""")
# Two are seen to be plain in half the time that a set of all types takes.
_OTHER_INTS: Final = Template("""\
(
    $name.__class__ not in @LISTS
    or not $name
    or $name[0].__class__ is not @int
    or $name[-1].__class__ is not @int
    or (@len($name) > 2 and not @INTS.issuperset(@map(@type, $name)))
)""")


def looks_at(schema: OperatorSchema, left: Collection[str], varargs: str = "") -> str:
    """Lines in front of the kernel's call that refuse what it would take.

    Args:
        schema: the op's signature.
        left: names of arguments that are not looked at.
        varargs: name of the list that may be spread, whose numbers `take_one` has seen.
    """
    lines = []
    for i, a in enumerate(schema.arguments):
        name = python_name(a)
        tests = [] if a.name in left else _tests(a, name, varargs)
        if tests:
            lines.append(_LOOK.fill(unlike=" and ".join(tests), number=str(i), name=name))
    return "".join(lines)


def _tests(a: Argument, name: str, varargs: str) -> list[str]:
    """What is true of a value that is to be looked at; nothing if none is."""
    if a.is_list and a.type == "Tensor":
        return [*[f"{name} is not None"] * a.optional, _LIST_OF_TENSORS.fill(name=name)]
    if a.is_list and (a.type != "int" or a.name == varargs):
        return [] if a.optional else [f"{name} is None"]
    other = _OTHER_INTS if a.is_list else _OTHER.get(a.type)
    if other is None:
        return []
    tests = [f"{name} is not None"] if a.optional or (a.has_default and a.default is None) else []
    if a.has_default and a.default is not None and a.type != "bool":
        tests.append(f"{name} is not {own(f'@DEFAULT_{name}')}")
    if a.is_list:
        tests.append(own(f"{name}.__class__ is not @int"))
    return [*tests, other.fill(name=name)]


def take_one(name: str, argument: str, given: tuple[Any, ...]) -> Any:
    """The ints that stand where they may be spread, or what overrides the function among them.

    Args:
        name: the function's.
        argument: the list's name.
        given: what is given for it, which does not begin with a plain int.

    Raises:
        TypeError: if it is no int, or one of them is none.
    """
    value = given[0] if len(given) == 1 else given
    several = isinstance(value, list | tuple)
    elements = value if several else (value,)
    for position, each in enumerate(elements):
        if is_whole(each):
            continue
        if keys_of_foreign(each):  # it is asked what the function makes of it
            return value
        what = f"but found element of type {named(each)} at pos {position}"
        raise TypeError(
            f"{name}(): argument '{argument}' (position 1) must be tuple of ints, "
            f"{what if several else f'not {named(each)}'}"
        )
    return tuple([whole_number(each) for each in elements])


def defaults_of(function: Any) -> dict[str, Any]:
    """The globals that such lines tell a generated function's defaults by."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount][::-1]
    given = dict(zip(names, (function.__defaults__ or ())[::-1], strict=False))
    return own_scope(
        {f"DEFAULT_{name}": v for name, v in (given | (function.__kwdefaults__ or {})).items()}
    )


def taker(schema: OperatorSchema) -> Callable[[int, Any], Any]:
    """What is called with the number of an argument and an unusual value, for what the kernel gets.

    It raises TypeError for what the schema does not take; the words are those for a kernel that failed.
    """
    return partial(_taken, schema.arguments)


def _taken(arguments: tuple[Argument, ...], number: int, value: Any) -> Any:
    a = arguments[number]
    if not accepts(a, value):
        raise TypeError(f"{a.name} has another type")
    if value is None:
        return a.default
    if a.is_list:
        return [*value] if a.type == "Tensor" else _whole_numbers(value)
    if a.type == "int":
        return whole_number(value)
    plain = value.item() if hasattr(value, "_keys") else plain_number(value)
    return float(plain) if a.type == "float" else plain


def _whole_numbers(value: Any) -> Any:
    """A list of ints as a tuple of Python's own, or the only one."""
    if isinstance(value, list | tuple):
        return tuple([whole_number(each) for each in value])
    return whole_number(value)
