"""Generated functions: their source is kept, so that tracebacks and debuggers show it."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any, Final

from .naming import surroundings

__all__ = ["error_text", "forward_from", "import_block"]

_NUMBERS: Final = itertools.count()


class _Loader:
    """Gives `linecache` the source of one function."""

    def __init__(self, source: str) -> None:
        self.source = source

    def get_source(self, name: str) -> str:
        """The source."""
        return self.source


def forward_from(
    source: str, names: dict[str, Any], origin: dict[str, Any] | None = None
) -> Callable[..., Any]:
    """The function ``forward`` of a source.

    Args:
        source: defines it.
        names: what it can use.
        origin: name, file and line of the code that was traced, for tracebacks.
    """
    file = f"<eval_with_key>.{next(_NUMBERS)}"
    if origin:
        file += f" from {origin['co_filename']}:{origin['co_firstlineno']} in {origin['co_name']}"
    own = {**names}
    shown = {"__name__": file, "__file__": file, "__loader__": _Loader(source)}
    linecache.lazycache(file, {**names, **shown})
    exec(compile(source, file, "exec", dont_inherit=True), own)
    made: Callable[..., Any] = own.pop("forward")
    return made


def import_block(names: dict[str, Any]) -> str:
    """Lines that import what a function uses.

    Raises:
        RuntimeError: for something that cannot be imported by a name.
    """
    given = surroundings()
    lines = {given[n][1] if n in given else _import_of(n, value) for n, value in names.items()}
    return "\n".join(sorted(lines))


def _import_of(name: str, value: Any) -> str:
    module, path = value.__module__, value.__qualname__
    if "<" in path:
        raise RuntimeError(f"Unable to import {path} of {module}: it is defined in a function")
    first = path.partition(".")[0]
    if first == path:
        return f"from {module} import {path} as {name}"
    return f"from {module} import {first}; {name} = {path}"


def error_text(frame: Any) -> str:
    """What is said of an error in a generated function: the line, and those around it.

    Args:
        frame: of the traceback.
    """
    lines = linecache.getlines(frame.filename)
    at = frame.lineno
    return "\n".join(
        [
            f"Call using an FX-traced Module, line {at} of the traced Module's generated forward function:",
            "".join(lines[at - 2 : at]),
            "~" * len(frame.line) + "~~~ <--- HERE",
            "\n".join(lines[at : at + 2]),
        ]
    )
