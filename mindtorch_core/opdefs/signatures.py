"""What `inspect.signature` says of functions that are made of ops.

The text of such a function has a name for NumPy's arguments, a spread list, or, where there are several
overloads, nothing but ``*args, **kwargs``. Its signature is that of the schemas, made when it is
looked at: a call and an import pay nothing for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from inspect import Parameter, Signature
from types import MappingProxyType
from typing import Any, Final

from ..dispatch.calls.parts import python_name
from ..dispatch.registry import OpEntry

__all__ = ["GIVEN_BY_SOME", "OpSignature", "show_signature"]


class _GivenBySome:
    """The default of a parameter that only some overloads have."""

    def __repr__(self) -> str:
        return "..."


GIVEN_BY_SOME: Final = _GivenBySome()


class OpSignature(Signature):
    """The signature of one op, or one that the calls of several overloads fit.

    Args:
        entries: the overloads, in the order in which they are tried.
        method: whether the first argument is the object.
    """

    __slots__ = ("_entries", "_made", "_method")

    def __init__(self, entries: Iterable[OpEntry], *, method: bool = False) -> None:
        # The base class would want the parameters now.
        self._entries = tuple(entries)
        self._method = method
        self._made: MappingProxyType[str, Parameter] | None = None

    @property
    def parameters(self) -> MappingProxyType[str, Parameter]:
        """Parameters by name, in order."""
        if self._made is None:
            ways = [_parameters(e, method=self._method) for e in self._entries if e.schema]
            self._made = Signature(_united(ways)).parameters
        assert self._made is not None
        return self._made

    @property
    def return_annotation(self) -> Any:
        """Empty: overloads give different results."""
        return Signature.empty

    def replace(self, **changes: Any) -> Signature:  # type: ignore[override]
        """A plain signature with other parameters, or another result."""
        return Signature([*self.parameters.values()]).replace(**changes)

    def __reduce__(self) -> Any:
        return Signature, ([*self.parameters.values()],)


def _parameters(entry: OpEntry, *, method: bool) -> list[Parameter]:
    """The parameters of one op's function."""
    assert entry.schema is not None
    d = entry.definition
    spread = d.operands.varargs if d is not None else ""
    found: list[Parameter] = []
    kind: Any = Parameter.POSITIONAL_OR_KEYWORD
    for position, a in enumerate(entry.schema.arguments):
        if a.is_out:
            continue
        name = "self" if method and not position else python_name(a)
        if spread and name == spread:
            found.append(Parameter(name, Parameter.VAR_POSITIONAL))
            kind = Parameter.KEYWORD_ONLY
            continue
        if a.kwarg_only:
            kind = Parameter.KEYWORD_ONLY
        default = a.default if a.has_default else Parameter.empty
        found.append(Parameter(name, kind, default=default))
    if d is not None and d.out:
        found.append(Parameter("out", Parameter.KEYWORD_ONLY, default=None))
    return found


def _united(ways: Sequence[list[Parameter]]) -> list[Parameter]:
    """One list of parameters that each way to call fits: the longest, and what it lacks by name."""
    if len(ways) == 1:
        return ways[0]
    longest = max(ways, key=len)
    places = [{p.name: p for p in way} for way in ways]
    made, optional = [], False
    for p in longest:
        if p.kind is Parameter.VAR_POSITIONAL:
            made.append(p)
            continue
        everywhere = all(p.name in there for there in places)
        needed = everywhere and all(there[p.name].default is p.empty for there in places)
        positional = p.kind is Parameter.POSITIONAL_OR_KEYWORD
        if (not needed and p.default is p.empty) or (
            optional and positional and p.default is p.empty
        ):
            p = p.replace(default=GIVEN_BY_SOME)
        optional = optional or (positional and p.default is not p.empty)
        made.append(p)
    known = {p.name for p in made}
    for there in places:
        for name, p in there.items():
            if name not in known:
                known.add(name)
                default = GIVEN_BY_SOME if p.default is p.empty else p.default
                made.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default))
    return made


def show_signature(function: Any, entries: Iterable[OpEntry], *, method: bool = False) -> None:
    """Let `inspect.signature` say of a function what its ops take."""
    function.__signature__ = OpSignature(entries, method=method)
