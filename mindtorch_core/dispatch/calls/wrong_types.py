"""Arguments of a wrong type that no kernel stumbles over: what a generated function looks at itself.

Most of what a call may get wrong, its kernel fails on, and only then it is asked what was wrong. But a
flag may be anything that is true or false, and a kernel that computes with a number takes a float for
an int. A default is told by its identity, and a value of the very type by that, in a few nanoseconds.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Final

from ..schema import Argument, OperatorSchema
from .binding import accepts, python_number, refuse_long
from .generated import Template, own, own_scope
from .parts import python_name

__all__ = ["defaults_of", "looks_at", "take_one", "taker"]

# What is true of the usual values of a type.
_OTHER: Final = {
    "bool": Template("$name is not True and $name is not False"),
    "int": Template("@type($name) is not @int"),
    "float": Template("@type($name) is not @float and @type($name) is not @int"),
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


def looks_at(schema: OperatorSchema, left: Collection[str], varargs: str = "") -> str:
    """Lines in front of the kernel's call that refuse what it would take.

    Args:
        schema: the op's signature. Views say themselves what is no int, and are too quick to be asked
            for more than flags.
        left: names of arguments that are not looked at.
        varargs: name of the list that may be spread, whose numbers `take_one` has seen.
    """
    lines = []
    for i, a in enumerate(schema.arguments):
        name = python_name(a)
        tests = [] if a.name in left else _tests(schema, a, name, varargs)
        if tests:
            lines.append(_LOOK.fill(unlike=" and ".join(tests), number=str(i), name=name))
    return "".join(lines)


def _tests(schema: OperatorSchema, a: Argument, name: str, varargs: str) -> list[str]:
    """What is true of a value that is to be looked at; nothing if none is."""
    if a.is_list and a.type == "Tensor":
        return [*[f"{name} is not None"] * a.optional, _LIST_OF_TENSORS.fill(name=name)]
    if a.is_list:
        return _tests_of_list(a, name, a.name == varargs)
    if a.type not in _OTHER:
        return []
    if a.type == "int" and not a.has_default and schema.is_view:
        return [f"{name} is True or {name} is False"]  # quicker than by the class
    tests = [f"{name} is not None"] if a.optional or (a.has_default and a.default is None) else []
    if a.has_default and a.default is not None and a.type != "bool":
        tests.append(f"{name} is not {own(f'@DEFAULT_{name}')}")
    return [*tests, _OTHER[a.type].fill(name=name)]


def _tests_of_list(a: Argument, name: str, seen: bool) -> list[str]:
    """The same of a list; of numbers the first may be no flag, nor the only one, as in PyTorch."""
    tests = [] if a.optional else [f"{name} is None"]
    if a.type == "int" and not seen:
        first = (
            f"{name}[0].__class__ if {name}.__class__ in @LISTS and {name} else {name}.__class__"
        )
        given = own(f"{name} is not @DEFAULT_{name} and ") if a.has_default else ""
        tests.append(given + own(f"({first}) is @bool"))
    return [" or ".join(tests)] if tests else []


def take_one(name: str, argument: str, given: tuple[Any, ...]) -> Any:
    """The list that stands where numbers may be spread, or the only one of these.

    Args:
        name: the function's.
        argument: the list's name.
        given: what is given for it, which does not begin with a plain int.

    Raises:
        TypeError: if it is a flag, or a list that begins with one.
    """
    value = given[0] if len(given) == 1 else given
    if isinstance(value, list | tuple):
        if value and isinstance(value[0], bool):
            raise TypeError(
                f"{name}(): argument '{argument}' must be tuple of ints, but found element of type bool "
                f"at pos 0"
            )
        return value
    if isinstance(value, bool):
        raise TypeError(f"{name}(): argument '{argument}' must be tuple of ints, not bool")
    return given if hasattr(value, "__index__") else value


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
    if a.is_list and a.type == "Tensor":
        return [*value]
    if a.type not in ("int", "float"):
        refuse_long(value)
        return value
    if a.type == "int":
        return operator.index(value)
    plain = python_number(value)
    return value if plain is None else float(plain)
