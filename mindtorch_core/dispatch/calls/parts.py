"""What generated functions of ops are made of: names, parameters, keys, the look-up, the kernel's call."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final

from ...values.devices import TABLE, concrete
from ...values.own_frames import refusing
from ..entry import OpEntry
from ..keys import ACTIVE, DEFAULT_INCLUDED, MASKS, OVERRIDDEN, PROCESS_INCLUDE
from ..overrides import keys_of_foreign
from ..schema import Argument, OperatorSchema
from ..tables import fill
from .binding import LEAST, MOST, plain_number, refuse_long, tensor_type_error
from .generated import Template, literal, own
from .numpy_names import REQUIRED

__all__ = [
    "DEFAULT_NUMBERS",
    "FRONT_ONLY",
    "NUMBERS",
    "Naming",
    "call_scope",
    "foreign_scope",
    "is_default",
    "is_kept",
    "joined",
    "kernel_call",
    "keys_of",
    "look_up",
    "own_name",
    "parameters",
    "python_name",
]

NUMBERS: Final = frozenset({int, float, bool, complex})

# Options of factories that the function sees to; kernels do not get them.
FRONT_ONLY: Final = frozenset({"requires_grad", "layout", "pin_memory"})
# Defaults of numbers, of which Python has one object each.
DEFAULT_NUMBERS: Final = {"ZERO": 0, "ONE": 1}


# ---- names and parameters -----------------------------------------------------------------------


def python_name(argument: Argument) -> str:
    """Name of an argument in the Python signature: the schema's ``self`` is ``input``."""
    if argument.name == "self":
        return "input"
    return f"{argument.name}_" if is_kept(argument.name) else argument.name


def own_name(argument: Argument) -> str:
    """Name of an argument as the schema has it, where Python lets it be a parameter's."""
    return own(f"@{argument.name}") if is_kept(argument.name) else argument.name


def is_kept(name: str) -> bool:
    """Whether Python keeps a name for itself, so that no parameter can have it."""
    return keyword.iskeyword(name) or name == "__debug__"


Naming = Callable[[Argument], str]


def parameters(
    schema: OperatorSchema,
    varargs: str = "",
    extra: str = "",
    naming: Naming = python_name,
    *,
    optional: Sequence[str] = (),
    star_name: str = "",
) -> str:
    """The parameter list of the generated function.

    Args:
        schema: the op's signature.
        varargs: name of the list argument that may be spread.
        extra: parameters behind those of the schema, by keyword only.
        naming: how arguments are called.
        optional: those that stand in the call under another name at times, though required.
        star_name: what takes further positional arguments; none may come without it.
    """
    out: list[str] = []
    star = False
    spread = ""
    for a in schema.arguments:
        name = naming(a)
        if name == varargs:  # ``zeros(2, 3)``, ``zeros((2, 3))`` and ``zeros(size=(2, 3))``
            out.append(own(f"*@{name}"))
            star = True
            spread = f"{name}=None"
            continue
        if a.kwarg_only and not star:
            out.append(f"*{star_name}")
            star = True
        absent = own("=@REQUIRED") if name in optional else ""
        out.append(f"{name}={literal(a.default)}" if a.has_default else f"{name}{absent}")
    if spread:
        out.append(spread)
    if extra:
        if not star and not extra.startswith("**"):
            out.append("*")
        out.append(extra)
    return ", ".join(out)


# ---- keys ---------------------------------------------------------------------------------------

_KEYS_OF_TENSOR: Final = Template("""\
try:
    @keys $joins $name._keys
except @AttributeError:
    @keys $joins @FOREIGN($shown, $name)
""")
_KEYS_OF_FIRST_OR_NUMBER: Final = Template("""\
try:
    @keys = $name._keys
except @AttributeError:
    $name, @keys = @OF_NUMBER($name, $others)
""")
_KEYS_OF_SOURCE: Final = Template("""\
try:
    @keys |= $name._keys
except @AttributeError:
    $name, @more = @OF_SOURCE($shown, $name, $first)
    @keys |= @more
""")
_KEYS_OF_OPTIONAL: Final = Template("""\
if $name is not None:
    try:
        @keys |= $name._keys
    except @AttributeError:
        @keys |= @FOREIGN($shown, $name)
""")
_KEYS_OF_LIST: Final = Template("""\
try:
    for @each in $elements:
        $join
except (@AttributeError, @TypeError):
    @keys |= @FOREIGN($shown, $name)
""")
_KEYS_OF_ELEMENT: Final = own("@keys |= @each._keys\n")
_KEYS_OF_OPTIONAL_ELEMENT: Final = own("""\
if @each is not None:
    @keys |= @each._keys
""")
_KEYS_OF_OPERAND: Final = Template("""\
if @type($name) is @Tensor:
    $join
elif (@kind := @type($name)) is @int:
    if not @LEAST <= $name <= @MOST:
        @REFUSE_LONG($name)
elif @kind not in @NUMBERS:
    $name, @more = @OPERAND($shown, $name)
    @keys |= @more
""")
_KEYS_OF_DEVICE: Final = Template("""\
$name = @CONCRETE($name)
@keys = @DEVICES[$name.type].keys
""")
_PLAIN_NUMBER: Final = Template("""\
if @type($name) not in @NUMBERS:
    $name = @NUMBER($name)
""")
# Mostly the keys are the very same int, and nothing is to be done.
_JOIN: Final = Template("""\
@more = $name._keys
if @more is not @keys:
    @keys |= @more
""")
_NO_KEYS: Final = own(f"@keys = {DEFAULT_INCLUDED}\n")


def joined(name: str) -> str:
    """Lines that add a tensor's keys to ``@keys``."""
    return _JOIN.fill(name=name)


def keys_of(
    schema: OperatorSchema,
    naming: Naming = python_name,
    *,
    numbers: bool = False,
    number_first: bool = False,
    number_source: bool = False,
) -> str:
    """Lines that compute ``@keys`` from the tensor arguments, or from the device where there are none.

    Args:
        schema: the op's signature.
        naming: how arguments are called in the generated function.
        numbers: tensors after the first may be numbers.
        number_first: the first one may be a number as well.
        number_source: the second one may be a number, of which a tensor is made.
    """
    tensors = [
        a
        for a in schema.arguments
        if a.type == "Tensor" and not (a.is_out and naming is python_name)
    ]
    if not tensors:
        return _keys_without_tensors(schema, naming)
    lines = [_NO_KEYS] if tensors[0].is_list or tensors[0].optional else []
    for a in tensors:
        first, n = a is tensors[0], naming(a)
        names = {"name": n, "shown": repr(a.name if naming is own_name else n)}
        if a.is_list:
            part = _KEYS_OF_LIST.fill(
                elements=f"{n} or ()" if a.optional else n,
                join=_KEYS_OF_OPTIONAL_ELEMENT if a.element_optional else _KEYS_OF_ELEMENT,
                **names,
            )
        elif a.optional:
            part = _KEYS_OF_OPTIONAL.fill(**names)
        elif numbers and not first:
            part = _KEYS_OF_OPERAND.fill(join=joined(n), **names)
        elif number_first and first:
            others = [schema.positional[1], *(a for a in schema.keyword_only if a.type == "str")]
            part = _KEYS_OF_FIRST_OR_NUMBER.fill(name=n, others=", ".join(map(naming, others)))
        elif number_source and not first:
            part = _KEYS_OF_SOURCE.fill(first=naming(tensors[0]), **names)
        else:
            part = _KEYS_OF_TENSOR.fill(joins="=" if first else "|=", **names)
        lines.append(part)
    return "".join(lines)


def _keys_without_tensors(schema: OperatorSchema, naming: Naming) -> str:
    on = next((naming(a) for a in schema.arguments if a.type == "Device" and not a.is_list), None)
    if on is None:
        return _NO_KEYS
    scalars = [naming(a) for a in schema.arguments if a.type == "Scalar" and not a.is_list]
    return "".join(_PLAIN_NUMBER.fill(name=n) for n in scalars) + _KEYS_OF_DEVICE.fill(name=on)


def look_up(names: Iterable[str], varargs: str = "") -> str:
    """Lines that find the kernel, or hand the call to those who override it.

    Args:
        names: of the function's parameters.
        varargs: the one that may be spread.
    """
    given = ", ".join(f"{name!r}: {name}" for name in names)
    spread = own(f"({varargs!r}, @{varargs})") if varargs else "None"
    return _LOOK_UP.fill(given=given, spread=spread)


# ---- the kernel ---------------------------------------------------------------------------------

KERNEL: Final = own("@kernel")
_LOOK_UP: Final = Template("""\
if @ACTIVE:
    if @included := @PROCESS_INCLUDE[0]:
        @keys |= @included
    if not @included or @len(@ACTIVE) > 1:  # else no thread's masks differ
        @own = @MASKS.__dict__
        if @own['include'] != 0:
            @keys |= @own['include']
        if (@kept := @own['keep']) != -1:
            @keys &= @kept
try:
    @kernel = @KERNELS[@keys]
except @KeyError:
    if @keys & @OVERRIDDEN:
        return @HAND_ON(@ENTRY, @SHOWN, {$given}, $spread)
    @kernel = @FILL(@ENTRY, @keys)
""")
_CALL_WITHOUT_OPTIONS: Final = Template("""\
if $default:
    $short
else:
    $long
""")


def kernel_call(
    schema: OperatorSchema,
    kernel: str = KERNEL,
    result: str = "return {}",
    naming: Naming = python_name,
    *,
    before_options: str = "",
) -> str:
    """Lines that call a kernel; keyword-only arguments go along only when one is not its default.

    Args:
        schema: the op's signature.
        kernel: name of the function to call.
        result: what is done with the call, such as ``return {}``.
        naming: how arguments are called in the generated function.
        before_options: lines in front of a call that keyword-only arguments go along with.
    """
    positional = ", ".join(naming(a) for a in schema.positional)
    options = [
        a
        for a in schema.keyword_only
        if naming is own_name or not (a.is_out or a.name in FRONT_ONLY)
    ]
    keywords = ", ".join(
        f"{a.name}={naming(a)}" if not is_kept(a.name) else f"**{{{a.name!r}: {naming(a)}}}"
        for a in options
    )
    arguments = ", ".join(part for part in (positional, keywords) if part)
    call = result.format(f"{kernel}({arguments})")
    if not options or not all(a.has_default and a.name != "device" for a in options):
        return f"{before_options}{call}\n"
    return _CALL_WITHOUT_OPTIONS.fill(
        default=" and ".join(is_default(a, naming(a)) for a in options),
        short=result.format(f"{kernel}({positional})"),
        long=f"{before_options}{call}",
    )


def is_default(a: Argument, name: str) -> str:
    """The test whether an argument, under its name in the function, is its default.

    A number equal to it may be of another type, and be wrong for that: ``add(x, y, alpha=True)``. So it is
    told by its identity, where that is in `DEFAULT_NUMBERS`, of which the function's scope wants to have.
    """
    if a.type == "Scalar" and a.default.__class__ is int:
        for number, default in DEFAULT_NUMBERS.items():
            if a.default == default:
                return f"{name} is {own(f'@{number}')}"
    same = "is" if a.default is None or isinstance(a.default, bool) else "=="
    return f"{name} {same} {literal(a.default)}"


def call_scope(entry: OpEntry, tensor_type: type) -> dict[str, Any]:
    """What the lines that compute keys and look kernels up need as globals."""
    return foreign_scope(entry) | {
        "ACTIVE": ACTIVE,
        **DEFAULT_NUMBERS,
        "CONCRETE": concrete,
        "DEVICES": TABLE,
        "ENTRY": entry,
        "FILL": fill,
        "KERNELS": entry.table,
        "MASKS": MASKS,
        "LEAST": LEAST,
        "MOST": MOST,
        "NUMBER": plain_number,
        "NUMBERS": NUMBERS,
        "PROCESS_INCLUDE": PROCESS_INCLUDE,
        "REFUSE_LONG": refusing(refuse_long),
        "REQUIRED": REQUIRED,
        "Tensor": tensor_type,
        "OVERRIDDEN": OVERRIDDEN,
    }


def foreign_scope(entry: OpEntry, *, method: bool = False) -> dict[str, Any]:
    """What such lines call for an argument that is no tensor."""
    return {"FOREIGN": refusing(partial(_keys_of_foreign, entry, method=method))}


def _keys_of_foreign(entry: OpEntry, which: str, value: Any, *, method: bool = False) -> int:
    """The keys of what stands for a tensor, because it overrides functions.

    Raises:
        TypeError: for anything else.
    """
    keys = keys_of_foreign(value)
    if not keys:
        raise tensor_type_error(entry, which, value, method=method) from None
    return keys
