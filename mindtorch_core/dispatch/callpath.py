"""The call path: one Python function per op, generated from its schema on first use.

The generated function binds arguments the way Python does, takes the union of the tensors' keys,
applies the thread's masks if any are set, looks the mask up in the op's table and calls the
kernel. For ``add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`` it reads::

    def add(input, other, *, alpha=1, out=None):
        if out is not None:
            return WRITE_OUT(FRONT, out, (input, other), {'alpha': alpha})
        try:
            _ks = input._keys
        except AttributeError:
            return FRONT(OF_NUMBER(input, other), other, alpha=alpha)
        if type(other) is Tensor:
            _k = other._keys
            if _k is not _ks: _ks |= _k
        elif type(other) not in NUMBERS:
            other = OPERAND('other', other)
            _ks |= getattr(other, '_keys', 0)
        if ACTIVE:
            _ks = (_ks | MASKS.include | PROCESS_INCLUDE[0]) & MASKS.keep
        try:
            _kernel = KERNELS[_ks]
        except KeyError:
            _kernel = FILL(ENTRY, _ks)
        try:
            if alpha == 1:
                return _kernel(input, other)
            return _kernel(input, other, alpha=alpha)
        except Exception as _error:
            EXPLAIN(_error, locals())
            raise

Arguments that are not tensors are checked only when the kernel fails on them, so the checks cost
nothing on the way that succeeds.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, Final

from ..devices import TABLE, concrete
from ..dtypes import DTYPES, PYTHON_TYPES
from ..layouts import check_memory
from .adapters import returned_wrongly
from .binding import explain, operand_of, plain_number, tensor_type_error
from .conversion import converter, exact_type, result_converter
from .entry import OpEntry
from .keys import ACTIVE, DEFAULT_INCLUDED, MASKS, PROCESS_INCLUDE
from .numpy_names import REQUIRED, has_names, renamed
from .schema import Argument, OperatorSchema
from .tables import fill

__all__ = ["make_front", "make_operator", "make_strict"]

NUMBERS: Final = frozenset({int, float, bool, complex})

# Options of factories that the function sees to; kernels do not get them.
FRONT_ONLY: Final = frozenset({"requires_grad", "layout", "pin_memory"})

# A default that is a dtype stands in the source by its repr, such as ``torch.float32``.
_DTYPE_NAMES: Final = SimpleNamespace(**DTYPES)


def python_name(argument: Argument) -> str:
    """Name of an argument in the Python signature: the schema's ``self`` is ``input``."""
    return "input" if argument.name == "self" else own_name(argument)


def own_name(argument: Argument) -> str:
    """Name of an argument as the schema has it, but for words that Python keeps: ``from_``."""
    return f"{argument.name}_" if keyword.iskeyword(argument.name) else argument.name


Naming = Callable[[Argument], str]


def parameters(
    schema: OperatorSchema,
    varargs: str = "",
    extra: str = "",
    naming: Naming = python_name,
    *,
    optional: Sequence[str] = (),
) -> str:
    """The parameter list of the generated function.

    Args:
        schema: the op's signature.
        varargs: name of the list argument that may be spread.
        extra: parameters behind those of the schema, by keyword only.
        naming: how arguments are called.
        optional: those that stand in the call under another name at times, though required.
    """
    out: list[str] = []
    star = False
    spread = ""
    for a in schema.arguments:
        name = naming(a)
        if name == varargs:  # ``zeros(2, 3)``, ``zeros((2, 3))`` and ``zeros(size=(2, 3))``
            out.append(f"*_{name}")
            star = True
            spread = f"{name}=None"
            continue
        if a.kwarg_only and not star:
            out.append("*")
            star = True
        absent = "=REQUIRED" if name in optional else ""
        out.append(f"{name}={a.default!r}" if a.has_default else f"{name}{absent}")
    if spread:
        out.append(spread)
    if extra:
        if not star and not extra.startswith("**"):
            out.append("*")
        out.append(extra)
    return ", ".join(out)


def _required_later(schema: OperatorSchema) -> list[str]:
    """Arguments without a default that a call may leave out, as ``dim`` if ``axis`` is given."""
    out: list[str] = []
    for a in schema.arguments:
        if not a.has_default and (out or a.name == "dim") and not a.is_out:
            out.append(python_name(a))
    return out


def _rename(schema: OperatorSchema, later: list[str], out: bool) -> list[str]:
    """Lines that call the function again with what came under NumPy's names."""
    names = [python_name(a) for a in schema.arguments if not a.is_out] + ["out"] * out
    values = ", ".join(f"{n!r}: {n}" for n in names)
    absent = "".join(f" or {n} is REQUIRED" for n in later)
    return [
        f"if numpy_names{absent}:",
        f"    return FRONT(**OWN_NAMES({{{values}}}, numpy_names))",
    ]


def _join(name: str) -> list[str]:
    """Lines that add a tensor's keys: mostly they are the very same int, and nothing is to be done."""
    return [f"    _k = {name}._keys", "    if _k is not _ks: _ks |= _k"]


def _gather_keys(
    schema: OperatorSchema,
    numbers: bool,
    naming: Naming = python_name,
    *,
    number_first: bool = False,
) -> list[str]:
    """Lines that compute ``_ks`` from the tensor arguments."""
    lines: list[str] = []
    first = True
    for a in schema.arguments:
        if a.type != "Tensor" or (a.is_out and naming is python_name):
            continue
        n = naming(a)
        op = "=" if first else "|="
        if a.is_list:
            if first:
                lines.append(f"_ks = {DEFAULT_INCLUDED}")
            ready = "if _t is not None: " if a.element_optional else ""
            elements = f"{n} or ()" if a.optional else n
            lines += [
                "try:",
                f"    for _t in {elements}:",
                f"        {ready}_ks |= _t._keys",
                "except (AttributeError, TypeError):",
                f"    raise WRONG_TYPE({n!r}, {n}) from None",
            ]
        elif a.optional:
            if first:
                lines.append(f"_ks = {DEFAULT_INCLUDED}")
            lines += [
                f"if {n} is not None:",
                f"    try: _ks |= {n}._keys",
                "    except AttributeError:",
                f"        raise WRONG_TYPE({n!r}, {n}) from None",
            ]
        elif numbers and not first:
            lines += [
                f"if type({n}) is Tensor:",
                *_join(n),
                f"elif type({n}) not in NUMBERS:",
                f"    {n} = OPERAND({n!r}, {n})",
                f"    _ks |= getattr({n}, '_keys', 0)",
            ]
        elif first and number_first:
            rest = ", ".join(naming(a) for a in schema.positional[1:])
            options = ", ".join(f"{a.name}={naming(a)}" for a in schema.keyword_only)
            call = ", ".join(part for part in (f"OF_NUMBER({n}, {rest})", rest, options) if part)
            lines += [
                f"try: _ks = {n}._keys",
                "except AttributeError:",
                f"    return FRONT({call})",
            ]
        else:
            lines += [
                f"try: _ks {op} {n}._keys",
                "except AttributeError:",
                f"    raise WRONG_TYPE({n!r}, {n}) from None",
            ]
        first = False
    on = next((naming(a) for a in schema.arguments if a.type == "Device" and not a.is_list), None)
    if first and on is not None:
        for n in (naming(a) for a in schema.arguments if a.type == "Scalar" and not a.is_list):
            lines.append(f"if type({n}) not in NUMBERS: {n} = NUMBER({n})")
        lines += [f"{on} = CONCRETE({on})", f"_ks = DEVICES[{on}.type].keys"]
    elif first:
        lines.append(f"_ks = {DEFAULT_INCLUDED}")
    return lines


def kernel_call(
    schema: OperatorSchema,
    kernel: str = "_kernel",
    returns: str = "{}",
    naming: Naming = python_name,
) -> list[str]:
    """Lines that call a kernel; keyword-only arguments go along only when one is not its default.

    Args:
        schema: the op's signature.
        kernel: name of the function to call.
        returns: what to make of the result, such as ``RESULT({})``.
        naming: how arguments are called in the generated function.
    """
    positional = ", ".join(naming(a) for a in schema.positional)
    own = naming is own_name
    options = [a for a in schema.keyword_only if own or not (a.is_out or a.name in FRONT_ONLY)]
    lines = []
    if options and all(a.has_default and a.name != "device" for a in options):
        default = " and ".join(
            f"{naming(a)} is {a.default!r}"
            if a.default is None or isinstance(a.default, bool)
            else f"{naming(a)} == {a.default!r}"
            for a in options
        )
        lines += [f"if {default}:", f"    return {returns.format(f'{kernel}({positional})')}"]
    keywords = ", ".join(
        f"{a.name}={naming(a)}"
        if not keyword.iskeyword(a.name)
        else f"**{{{a.name!r}: {naming(a)}}}"
        for a in options
    )
    arguments = ", ".join(part for part in (positional, keywords) if part)
    lines.append(f"return {returns.format(f'{kernel}({arguments})')}")
    return lines


def _look_up() -> list[str]:
    return [
        "if ACTIVE: _ks = (_ks | MASKS.include | PROCESS_INCLUDE[0]) & MASKS.keep",
        "try: _kernel = KERNELS[_ks]",
        "except KeyError: _kernel = FILL(ENTRY, _ks)",
    ]


def compile_function(name: str, source: str, scope: dict[str, Any]) -> Callable[..., Any]:
    """Compile one generated function."""
    scope["torch"] = _DTYPE_NAMES
    exec(compile(source, f"<mindtorch {name}>", "exec"), scope)
    made: Callable[..., Any] = scope[name]
    return made


def _indent(lines: list[str], by: int = 1) -> str:
    return "\n".join("    " * by + line for line in lines)


def _scope(entry: OpEntry, tensor_type: type) -> dict[str, Any]:
    """The globals that every generated front function needs."""
    return {
        "ACTIVE": ACTIVE,
        "CONCRETE": concrete,
        "DEVICES": TABLE,
        "ENTRY": entry,
        "FILL": fill,
        "KERNELS": entry.table,
        "MASKS": MASKS,
        "NUMBER": plain_number,
        "NUMBERS": NUMBERS,
        "PROCESS_INCLUDE": PROCESS_INCLUDE,
        "Tensor": tensor_type,
        "WRONG_TYPE": lambda which, value: tensor_type_error(entry, which, value),
    }


def make_front(
    entry: OpEntry,
    tensor_type: type,
    *,
    numbers: bool = False,
    varargs: str = "",
    write_out: Callable[..., Any] | None = None,
    result: Callable[..., Any] | None = None,
    of_number: Callable[..., Any] | None = None,
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
    """
    schema = entry.schema
    if schema is None:
        raise TypeError(f"{entry.name} has no schema to make a function from")
    name = schema.name if schema.name.isidentifier() else "op"
    body: list[str] = []
    aliased = has_names(schema) and not varargs
    later = _required_later(schema) if aliased else []
    if aliased:
        body += _rename(schema, later, write_out is not None)
    if varargs:
        spread = f"_{varargs}"
        body += [f"if {varargs} is None:", f"    {varargs} = {spread}"]
        if next(a.type for a in schema.arguments if a.name == varargs) != "Tensor":
            alone = f"len({spread}) == 1 and not hasattr({spread}[0], '__index__')"
            body.append(f"    if {alone}: {varargs} = {spread}[0]")
    if write_out is not None:
        positional = ", ".join(
            ("*_" if python_name(a) == varargs else "") + python_name(a) for a in schema.positional
        )
        keywords = ", ".join(f"{a.name!r}: {a.name}" for a in schema.keyword_only)
        body += [
            "if out is not None:",
            f"    return WRITE_OUT(FRONT, out, ({positional},), {{{keywords}}})",
        ]
    for a in schema.arguments:
        if a.type == "ScalarType" and not a.is_list:  # ``float`` stands for ``torch.float64``
            n = python_name(a)
            body.append(f"if {n}.__class__ is type: {n} = PYTHON_TYPES.get({n}, {n})")
    body += _gather_keys(schema, numbers, number_first=of_number is not None) + _look_up()
    returns = "RESULT({})" if result is not None else "{}"
    if any(a.name == "requires_grad" for a in schema.keyword_only):
        returns = "WITH_GRAD({}, requires_grad)"
    body.append("try:")
    if any(a.name == "pin_memory" for a in schema.keyword_only):
        body.append("    if layout is not None or pin_memory: CHECK_MEMORY(layout, pin_memory)")
    body += ["    " + line for line in kernel_call(schema, returns=returns)]
    body += [
        "except Exception as _error:",
        "    EXPLAIN(_error, locals())",
        "    raise",
    ]
    extra = ["out=None"] if write_out is not None else []
    extra += ["**numpy_names"] if aliased else []
    params = parameters(schema, varargs, ", ".join(extra), optional=later)
    source = f"def {name}({params}):\n{_indent(body)}\n"
    defaults = {python_name(a): a.default for a in schema.arguments if a.has_default} | {
        "out": None
    }
    scope = _scope(entry, tensor_type)
    scope |= {
        "CHECK_MEMORY": check_memory,
        "EXPLAIN": lambda error, values: explain(entry, error, values),
        "OPERAND": lambda which, value: operand_of(entry, which, value, tensor_type),
        "PYTHON_TYPES": PYTHON_TYPES,
        "OF_NUMBER": of_number,
        "OWN_NAMES": lambda values, given: renamed(schema.name, defaults, values, given),
        "REQUIRED": REQUIRED,
        "RESULT": result,
        "WITH_GRAD": lambda made, wanted: made.requires_grad_() if wanted else made,
        "WRITE_OUT": write_out,
    }
    made = compile_function(name, source, scope)
    scope["FRONT"] = made
    return made


def make_strict(entry: OpEntry, tensor_type: type) -> Callable[..., Any]:
    """Generate the function of an op that a third party defined by its schema alone.

    Arguments have the schema's names, are checked and converted before the call, and the number of
    results is checked after it.
    """
    schema = entry.schema
    if schema is None:
        raise TypeError(f"{entry.name} has no schema to make a function from")
    name = schema.name if schema.name.isidentifier() else "op"
    scope = _scope(entry, tensor_type)
    body: list[str] = []
    for i, a in enumerate(schema.arguments):
        if a.type == "Tensor" and not a.is_list:
            continue
        scope[f"CONVERT{i}"] = converter(a)
        exact, n = exact_type(a), own_name(a)
        absent = [f"{n} is not None"] if a.optional else []
        tests = [*absent, f"type({n}) is not {exact}"] if exact is not None else absent
        guard = f"if {' and '.join(tests)}: " if tests else ""
        body.append(f"{guard}{n} = CONVERT{i}({n})")
    body += _gather_keys(schema, False, own_name) + _look_up()
    body += kernel_call(schema, returns=_checked(schema), naming=own_name)
    source = f"def {name}({parameters(schema, naming=own_name)}):\n{_indent(body)}\n"

    scope["RESULT"] = _result_checker(entry, schema)
    return compile_function(name, source, scope)


def _result_checker(entry: OpEntry, schema: OperatorSchema) -> Callable[[Any], Any]:
    """A function that takes a kernel's result and gives what the schema says, or raises."""
    convert = [result_converter(r) for r in schema.returns]

    def checked(result: Any) -> Any:
        problem = returned_wrongly(entry, result, strict=True)
        if problem is None and not schema.is_varret:
            try:
                if len(convert) > 1:
                    return tuple([c(r) for c, r in zip(convert, result, strict=True)])
                return convert[0](result) if convert else result
            except TypeError:
                problem = f"returned {result!r}"
        if problem is None:
            return result
        raise RuntimeError(f"the kernel of {entry.name} {problem}: {schema}")

    return checked


def _checked(schema: OperatorSchema) -> str:
    """What to make of a strict op's result: the usual one is seen to be right without a call."""
    returns = schema.returns
    if not returns:
        return "_r if (_r := {}) is None else RESULT(_r)"
    if len(returns) == 1 and returns[0].type_text == "Tensor":
        return "_r if type(_r := {}) is Tensor else RESULT(_r)"
    return "RESULT({})"


def make_operator(
    entry: OpEntry, dunder: str, tensor_type: type, *, numbers: bool = False
) -> Callable[..., Any]:
    """Generate the method behind a Python operator, such as ``__add__``.

    It differs from the function in taking only the operands and in answering NotImplemented to
    what it does not know, so that Python tries the other operand's method.

    Args:
        entry: the op.
        dunder: the method's name.
        tensor_type: the class of tensors.
        numbers: the other operand may be a Python number.
    """
    schema = entry.schema
    unary = schema is not None and len(schema.positional) == 1
    if unary:
        body = ["_ks = self._keys", *_look_up(), "return _kernel(self)"]
        params = "self"
    else:
        body = [
            "_ks = self._keys",
            "if type(other) is Tensor:",
            *_join("other"),
            "elif type(other) not in NUMBERS:",
            "    other = OPERAND(other)",
            "    if other is NotImplemented: return NotImplemented",
            "    _ks |= getattr(other, '_keys', 0)",
            *_look_up(),
            "return _kernel(self, other)",
        ]
        params = "self, other"

    # If neither side compares a tensor with an array, Python does by identity and answers False.
    compares = dunder in ("__eq__", "__ne__")

    def operand(value: Any) -> Any:
        try:
            found = operand_of(entry, "other", value, tensor_type)
        except TypeError:
            if compares and hasattr(value, "__array_interface__"):
                return tensor_type._from_array(value)  # type: ignore[attr-defined]
            return NotImplemented
        return found if numbers or hasattr(found, "_keys") else NotImplemented

    scope = _scope(entry, tensor_type)
    scope |= {"NUMBERS": NUMBERS if numbers else frozenset(), "OPERAND": operand}
    return compile_function(dunder, f"def {dunder}({params}):\n{_indent(body)}\n", scope)
