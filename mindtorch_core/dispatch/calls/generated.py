"""Generated functions: templates of their source, and the compiler that makes them visible.

Ops, recorders and gradients have a function each, written from the op's schema, because a call of a
small op costs as much as a loop over its parameters. What is generated reads like any other code: a
template shows it whole, `inspect.getsource` and debuggers show it filled in.
"""

from __future__ import annotations

import builtins
import itertools
import keyword
import linecache
import re
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from ...values.dtypes import DTYPES, FLOAT8, dtype

__all__ = ["Template", "compile_function", "function_name", "literal", "own", "own_scope"]

# Names that a generated function has besides its parameters begin with this. A schema's names are
# ASCII, so that no parameter can be taken for one, whatever it is called.
_OWN: Final = "mt·"
_PLACE: Final = re.compile(r"^( *)\$(\w+)\n|\$(\w+)", re.MULTILINE)


def own(text: str) -> str:
    """Text with each ``@name`` as a name of the generated function's own."""
    return text.replace("@", _OWN)


def own_scope(scope: dict[str, Any]) -> dict[str, Any]:
    """The globals that a template means by ``@name``, from what it means by name."""
    return {f"{_OWN}{name}": value for name, value in scope.items()}


class Template:
    r"""The source of a function or of a part of one, with places to fill in.

    ``$name`` is filled in; alone on its line it stands for lines, none or more, and they are indented
    as it is. ``@name`` is a name of the function's own, Python's built-in ones included.

    Example:
        >>> print(Template("if $name is not None:\n    $then\n").fill(name="x", then="x()\ny()"))
        if x is not None:
            x()
            y()
        <BLANKLINE>
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = own(text)

    def fill(self, **parts: str) -> str:
        """The text with its places filled in."""

        def filled(place: re.Match[str]) -> str:
            indent, lines, part = place.groups()
            if lines is None:
                return parts[part]
            return "".join([f"{indent}{line}\n" for line in parts[lines].splitlines()])

        return _PLACE.sub(filled, self._text)


def literal(value: Any) -> str:
    """The source of an argument's default."""
    if isinstance(value, tuple):
        return f"({''.join([f'{literal(v)}, ' for v in value])})"
    return own(f"@{value!r}") if isinstance(value, dtype) else repr(value)


def function_name(name: str) -> str:
    """What the function of an op is called: mostly as the op."""
    return name if name.isidentifier() and not keyword.iskeyword(name) else "op"


# What all generated functions find without having it in their scope: the built-in names, also as
# ``@type`` for templates, since a parameter may be called ``type``; and ``@torch``, since a dtype stands
# in a source as ``@torch.float32``.
_BUILTINS: Final = {
    **vars(builtins),
    **own_scope(vars(builtins)),
    **own_scope({"torch": SimpleNamespace(**DTYPES, **FLOAT8)}),
}

_NUMBERS: Final = itertools.count(2)


class _Shown:
    """Shows a function's source to `linecache` for as long as the function lives.

    Its finaliser is built in: an interrupt that came in one written in Python were lost.
    """

    __slots__ = ("__del__", "file")

    def __init__(self, name: str, source: str) -> None:
        lines = source.splitlines(keepends=True)
        file = f"<mindtorch {name}>"
        while True:
            # Without a time it is never checked against a file.
            entry = (len(source), None, lines, file)
            if linecache.cache.setdefault(file, entry) is entry:
                break
            file = f"<mindtorch {name} {next(_NUMBERS)}>"
        self.file = file
        self.__del__ = partial(linecache.cache.pop, file, None)


def compile_function(
    name: str, source: str, scope: dict[str, Any], *, file: str = ""
) -> Callable[..., Any]:
    """Compile a generated function.

    Args:
        name: what the source calls it.
        source: its source, which defines nothing else.
        scope: its globals.
        file: what its file is called, if not as it is.
    """
    scope["__builtins__"] = _BUILTINS
    scope["__name__"] = __name__
    scope[own("@shown")] = shown = _Shown(file or name, source)
    exec(compile(source, shown.file, "exec"), scope)
    made: Callable[..., Any] = scope.pop(name)  # or the two would hold each other
    return made
