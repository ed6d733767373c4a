"""Functions of ops that third parties define by a schema alone: what it says is enforced.

A third party's kernel may take anything, so arguments are checked and converted in front of it, and
its results behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..entry import OpEntry
from ..first_calls import returned_wrongly
from ..schema import Argument, OperatorSchema
from .conversion import converter, exact_type, result_converter
from .generated import Template, compile_function, function_name, own, own_scope
from .overridden import hand_on
from .parts import call_scope, kernel_call, keys_of, look_up, own_name, parameters

__all__ = ["make_strict"]

_STRICT: Final = Template("""\
def $name($parameters):
    $conversions
    $keys
    $look_up
    $call
""")
_CONVERSION: Final = Template("$name = @CONVERT$number($name)\n")
_CONVERSION_IF: Final = Template("""\
if $wanted:
    $conversion
""")
# The usual result is seen to be right without a call.
_CHECKED_NOTHING: Final = own("@result if (@result := {}) is None else @RESULT(@result)")
_CHECKED_TENSOR: Final = own("@result if @type(@result := {}) is @Tensor else @RESULT(@result)")
_CHECKED: Final = own("@RESULT({})")


def make_strict(entry: OpEntry, tensor_type: type) -> Callable[..., Any]:
    """Generate the function of an op that a third party defined by its schema alone.

    Arguments have the schema's names, are checked and converted before the call, and the number of
    results is checked after it.
    """
    schema = entry.needed_schema
    scope = call_scope(entry, tensor_type)
    scope["RESULT"] = _result_checker(entry, schema)
    conversions = []
    for i, a in enumerate(schema.arguments):
        if a.type != "Tensor" or a.is_list:
            scope[f"CONVERT{i}"] = converter(a)
            conversions.append(_conversion(i, a))
    name = function_name(schema.name)
    source = _STRICT.fill(
        name=name,
        parameters=parameters(schema, naming=own_name),
        conversions="".join(conversions),
        keys=keys_of(schema, own_name),
        look_up=look_up(map(own_name, schema.arguments)),
        call=kernel_call(schema, result=f"return {_checked(schema)}", naming=own_name),
    )
    made = own_scope(scope | {"HAND_ON": hand_on})
    function = made[own("@SHOWN")] = compile_function(name, source, made)
    return function


def _conversion(number: int, a: Argument) -> str:
    name, exact = own_name(a), exact_type(a)
    tests = [f"{name} is not None"] if a.optional else []
    if exact is not None:
        tests.append(own(f"@type({name}) is not @{exact}"))
    conversion = _CONVERSION.fill(name=name, number=str(number))
    if not tests:
        return conversion
    return _CONVERSION_IF.fill(wanted=" and ".join(tests), conversion=conversion)


def _checked(schema: OperatorSchema) -> str:
    """What to make of a result."""
    returns = schema.returns
    if not returns:
        return _CHECKED_NOTHING
    if len(returns) == 1 and returns[0].type_text == "Tensor":
        return _CHECKED_TENSOR
    return _CHECKED


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
