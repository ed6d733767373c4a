"""The call path: one Python function per op, generated from its schema on first use.

The generated function binds arguments the way Python does, takes the union of the tensors' keys,
applies the thread's masks if any are set, looks the mask up in the op's table and calls the
kernel. `inspect.getsource(torch.add)` shows one.

Arguments that are not tensors are checked only when the kernel fails on them, so the checks cost
nothing on the way that succeeds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, Final

from ...values.dtypes import PYTHON_TYPES
from ...values.layouts import check_memory
from ...values.own_frames import hide
from ...values.shapes import Size
from ..entry import OpEntry
from ..schema import OperatorSchema
from .binding import operand_of
from .failures import explain
from .generated import Template, compile_function, function_name, own, own_scope
from .numpy_names import has_names, refuse, refuse_nothing, renamed
from .older_forms import newer
from .overridden import hand_on
from .parts import (
    FRONT_ONLY,
    NUMBERS,
    call_scope,
    foreign_scope,
    is_kept,
    kernel_call,
    keys_of,
    look_up,
    parameters,
    python_name,
)
from .wrong_types import defaults_of, looks_at, take_one, taker

__all__ = ["make_front", "shown_as", "shown_by"]

# Not `locals()` is explained: a frame keeps that, with the error in it, whose traceback keeps the frame.
_FRONT: Final = Template("""\
def $name($parameters):
    try:
        $numpy_names
        $older_form
        $spread
        $out
        $dtypes
        $keys
        $look_up
        try:
            $memory
            $looks
            $call
        except @Exception as @error:
            @EXPLAIN(@error, {$given})
            raise
    except @Exception as @error:
        @HIDE(@error)
        raise
""")
# NumPy's names for arguments: the function is called again with what came under them.
_NUMPY_NAMES: Final = Template("""\
if @names$absent:
    return @FRONT(**@OWN_NAMES({$values}, @names))
""")
_UNKNOWN_NAMES: Final = own("""\
if @names:
    @REFUSE_NAMES(@names)
""")
# With so many, a keyword that is none of them is answered with all there are.
_MANY_OPTIONS: Final = 2
# Scalars among the tensors, as they once stood: the function is called again with all by name.
_OLDER_FORM: Final = Template("""\
if @older:
    return @FRONT(**@NEWER(($positional, *@older), {$keywords}))
""")
_SPREAD_TENSORS: Final = Template("""\
if $name is None:
    $name = @$name
""")
_SPREAD: Final = Template("""\
if $name is None:
    $name = @$name
    if not $name:
        @REFUSE_NOTHING('$name')
    @one = $name[0]
    if @one.__class__ is not @int:
        if (
            @one.__class__ in @SHAPES
            and @one
            and (@one.__class__ is @SIZE or @one[0].__class__ is @int)  # a Size holds no others
            and @len($name) == 1
        ):
            $name = @one
        else:
            $name = @TAKE_ONE('$name', $name)
""")
_LISTED: Final = "_foreach_"  # what writes a list gives it back, though its schema returns nothing
_SHAPES: Final = frozenset({tuple, list, Size})  # that a spread argument mostly is
_OUT: Final = Template("""\
if out is not None:
    return @WRITE_OUT(@FRONT, out, ($positional,), {$keywords})
""")
# ``float`` stands for ``torch.float64``.
_DTYPE: Final = Template("""\
if $name.__class__ is @type:
    $name = @PYTHON_TYPES.get($name, $name)
""")
_MEMORY: Final = own("""\
if layout is not None or pin_memory:
    @CHECK_MEMORY(layout, pin_memory)
""")


def make_front(
    entry: OpEntry,
    tensor_type: type,
    *,
    numbers: bool = False,
    varargs: str = "",
    write_out: Callable[..., Any] | None = None,
    result: Callable[..., Any] | None = None,
    of_number: Callable[..., Any] | None = None,
    of_source: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """Generate the function users call for an op.

    Args:
        entry: the op; it must have a schema.
        tensor_type: the class of tensors.
        numbers: tensor arguments after the first may be Python numbers.
        varargs: name of the list argument that may be spread, as in ``x.view(2, 3)``.
        write_out: supplies ``out=``; None if the op has none.
        result: wraps several outputs in a named tuple; None for a plain result.
        of_number: makes a tensor of the first of two operands, given both, or refuses it; None where
            it must be a tensor.
        of_source: makes a tensor of a number that is to be copied, given its name, itself and the
            tensor that is written; None where it must be a tensor.

    Raises:
        TypeError: if two arguments have one name in Python, or one has a name that it cannot have.
    """
    schema = entry.needed_schema
    out = write_out is not None
    _check_names(entry.name, schema, out=out)
    aliased = has_names(schema) and not varargs
    later = _required_later(schema) if aliased else []
    refusing_names = not aliased and sum(a.has_default for a in schema.arguments) >= _MANY_OPTIONS
    extra = ["out=None"] * out + [own("**@names")] * (aliased or refusing_names)
    star = own("@older") * bool((d := entry.definition) and d.exposure.older_form)
    options = {a.name for a in schema.keyword_only}
    returned = "{}" if result is None else own("@RESULT({})")
    if schema.name.startswith(_LISTED) and not schema.returns:
        returned = f"({{}}, {python_name(schema.arguments[0])})[1]"
    if "requires_grad" in options:
        returned = own("@WITH_GRAD({}, requires_grad)")
    name = function_name(schema.name)
    first, source_too = of_number is not None, of_source is not None
    source = _FRONT.fill(
        name=name,
        parameters=parameters(schema, varargs, ", ".join(extra), optional=later, star_name=star),
        numpy_names=_UNKNOWN_NAMES * refusing_names
        + _numpy_names(schema, later, out=out) * aliased,
        older_form=_older_form(schema, out=out) if star else "",
        spread=_spread(schema, varargs) if varargs else "",
        out=_write_out(schema, varargs) if out else "",
        dtypes=_dtypes(schema),
        keys=keys_of(schema, numbers=numbers, number_first=first, number_source=source_too),
        look_up=look_up(map(python_name, schema.arguments), varargs),
        memory=_MEMORY if "pin_memory" in options else "",
        looks=looks_at(schema, options | FRONT_ONLY, varargs),
        call=_call(schema, returned),
        given=", ".join(f"{n!r}: {n}" for n in map(python_name, schema.arguments)),
    )
    scope = own_scope(
        call_scope(entry, tensor_type)
        | _refusals(entry, schema, out)
        | _of_arguments(entry, tensor_type)
        | {
            "NEWER": partial(newer, schema, lambda value: isinstance(value, tensor_type)),
            "OF_NUMBER": of_number,
            "OF_SOURCE": of_source,
            "RESULT": result,
            "WITH_GRAD": _with_grad,
            "WRITE_OUT": write_out,
        }
    )
    made = compile_function(name, source, scope)
    scope |= defaults_of(made)
    scope[own("@FRONT")] = scope[own("@SHOWN")] = made
    return made


def _call(schema: OperatorSchema, returned: str) -> str:
    """Lines that call the kernel, with a look at the options where there are any."""
    given = {a.name for a in schema.positional}
    return kernel_call(
        schema, result=f"return {returned}", before_options=looks_at(schema, given | FRONT_ONLY)
    )


def _refusals(entry: OpEntry, schema: OperatorSchema, out: bool) -> dict[str, Any]:
    """What a front calls where a value is unusual, or a name is not its own."""
    defaults = {python_name(a): a.default for a in schema.arguments if a.has_default}
    defaults["out"] = None
    return {
        "CHECK_MEMORY": check_memory,
        "HAND_ON": hand_on,
        "HIDE": hide,
        "INTS": frozenset({int}),
        "LISTS": (tuple, list, Size),
        "PLAIN": NUMBERS,
        "SHAPES": _SHAPES,
        "SIZE": Size,
        "PYTHON_TYPES": PYTHON_TYPES,
        "TAKEN": taker(schema),
        "TAKE_ONE": partial(take_one, schema.name),
        "OWN_NAMES": partial(renamed, schema.name, defaults),
        "REFUSE_NOTHING": partial(refuse_nothing, schema.name),
        "REFUSE_NAMES": partial(refuse, schema.name, defaults, _names(schema, out)),
    }


def _of_arguments(entry: OpEntry, tensor_type: type, *, method: bool = False) -> dict[str, Any]:
    """What a front calls where an argument may be wrong: a method's object is not counted among them."""
    return foreign_scope(entry, method=method) | {
        "EXPLAIN": partial(explain, entry, method=method),
        "OPERAND": partial(operand_of, entry, tensor_type=tensor_type, method=method),
    }


def shown_as(
    front: Callable[..., Any], name: str, shown: Any = None, *, method: bool = False
) -> Callable[..., Any]:
    """Another function that does the same: the one that is seen under another name.

    Args:
        front: as `make_front` or `make_operator` made it.
        name: its qualified name.
        shown: what those who override the call are told it is; by default the function itself.
        method: whether the first argument is the object.
    """
    assert isinstance(front, FunctionType)
    scope = dict(front.__globals__)
    if method:
        entry, tensor_type = scope[own("@ENTRY")], scope[own("@Tensor")]
        scope |= own_scope(_of_arguments(entry, tensor_type, method=True))
    made = FunctionType(front.__code__, scope, front.__name__, front.__defaults__)
    made.__kwdefaults__ = front.__kwdefaults__
    made.__doc__, made.__module__, made.__qualname__ = front.__doc__, front.__module__, name
    scope[own("@FRONT")] = made
    scope[own("@SHOWN")] = made if shown is None else shown
    return made


def shown_by(front: Callable[..., Any]) -> Any:
    """What those who override the call of a generated function are told it is."""
    return front.__globals__[own("@SHOWN")]


def _with_grad(made: Any, wanted: Any) -> Any:
    """What a factory made, with the ``requires_grad`` that was asked for."""
    if wanted is None or wanted is False:
        return made
    # Refuses what is no bool; `explain` says it in PyTorch's words.
    return made.requires_grad_(wanted)


def _check_names(op: str, schema: OperatorSchema, *, out: bool) -> None:
    names = [python_name(a) for a in schema.arguments] + ["out"] * out
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise TypeError(
            f"{op} would have two arguments '{twice}' in Python, where 'self' is called 'input' and "
            f"'from' 'from_': give one of them another name. Schema: {schema}"
        )
    kept = next((a.name for a in schema.keyword_only if is_kept(a.name)), None)
    if kept is not None:
        raise TypeError(
            f"the kernels of {op} get '{kept}' by keyword, and it is a word of Python: give it another "
            f"name, or a place before '*'. Schema: {schema}"
        )


def _required_later(schema: OperatorSchema) -> list[str]:
    """Arguments without a default that a call may leave out, as ``dim`` if ``axis`` is given."""
    out: list[str] = []
    for a in schema.arguments:
        if not a.has_default and (out or a.name == "dim") and not a.is_out:
            out.append(python_name(a))
    return out


def _names(schema: OperatorSchema, out: bool) -> list[str]:
    return [python_name(a) for a in schema.arguments if not a.is_out] + ["out"] * out


def _numpy_names(schema: OperatorSchema, later: list[str], *, out: bool) -> str:
    names = _names(schema, out)
    return _NUMPY_NAMES.fill(
        absent="".join(own(f" or {n} is @REQUIRED") for n in later),
        values=", ".join(f"{n!r}: {n}" for n in names),
    )


def _dtypes(schema: OperatorSchema) -> str:
    """Lines that take Python's types for dtypes."""
    kept = [a for a in schema.arguments if a.type == "ScalarType" and not a.is_list]
    return "".join(_DTYPE.fill(name=python_name(a)) for a in kept)


def _older_form(schema: OperatorSchema, *, out: bool) -> str:
    """Lines that read a call with more positional arguments than there are tensors."""
    options = [python_name(a) for a in schema.keyword_only if not a.is_out] + ["out"] * out
    return _OLDER_FORM.fill(
        positional=", ".join(map(python_name, schema.positional)),
        keywords=", ".join(f"{n!r}: {n}" for n in options),
    )


def _spread(schema: OperatorSchema, varargs: str) -> str:
    """Lines that make one list of the arguments that came in its place."""
    of_tensors = any(a.name == varargs and a.type == "Tensor" for a in schema.arguments)
    return (_SPREAD_TENSORS if of_tensors else _SPREAD).fill(name=varargs)


def _write_out(schema: OperatorSchema, varargs: str) -> str:
    return _OUT.fill(
        positional=", ".join(
            f"*{varargs}" if a.name == varargs and a.type == "Tensor" else python_name(a)
            for a in schema.positional
        ),
        keywords=", ".join(f"{a.name!r}: {python_name(a)}" for a in schema.keyword_only),
    )
