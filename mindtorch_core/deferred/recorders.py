"""Recorders: for each op a generated function that records a call of it and returns its results.

An op that makes one tensor has one with its own parameters. Its rule is asked once for each
combination of shapes, dtypes and layouts (`Memo`), and its result is written out, because small ops
cost as much as their recording does. All other ops have one that takes any arguments, and leaves the
results to a function (`results_of`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from ..dispatch.calls.generated import Template, compile_function, function_name, own, own_scope
from ..dispatch.calls.parts import (
    DEFAULT_NUMBERS,
    FRONT_ONLY,
    is_default,
    is_kept,
    own_name,
    parameters,
)
from ..dispatch.entry import Kernel, OpEntry
from ..dispatch.schema import Argument, OperatorSchema
from ..tensors.storage import Storage
from ..tensors.tensor import Tensor
from ..values.devices import DeviceRow
from .blocks import STACK
from .context import USED_ELSEWHERE
from .frames import INSIDE
from .replay.floating import floated
from .replay.following import MISSED, follow, follow_at_once, located, options, put, takes
from .replay.known import NOTHING
from .replay.matching import same
from .results import Memo, flush_others, results_of
from .trace import NO_OPTIONS, TENSORS, Entry, RecordedOp

__all__ = ["make_recorder"]

# What a recorder does, with the lines of one op to be filled in.
_BEGIN: Final = """\
def $name($parameters):
    $prepare
    @open = @STACK.__dict__["open"]
    if not @open:
        return @ELSEWHERE($args, @kwargs)
    @pipe = @open[-1]
"""
_BOUNDS: Final = """\
    @entries = @pipe.recorded
    if @len(@entries) >= @pipe.max_ops or @pipe.nbytes >= @pipe.max_bytes:
        @pipe.make_room()
"""
_FIND_USER: Final = """\
    @user = @GETFRAME(1)
    while @INSIDE[@user.f_globals.get("__name__")]:
        @caller = @user.f_back
        if @caller is None:
            break
        @user = @caller
"""
# The tensor that a call returns, as `@spec` says it: shape, dtype, layout and bytes.
_RESULT: Final = Template("""\
@r = @NEW(@Tensor)
@r._shape, @r._dtype, @r._strided, @n = @spec
@s = @NEW(@Storage)
@s.memory = None
@s.size_bytes = @n
@s.device = @on = $first._device
@s.version = 0
@s.views = None
@s.pending = @pipe
@s._prune_at = 32
@r._payload = None
@r._device = @on
@r._keys = @KEYS
@r._storage = @s
@r._base = None
@r._autograd = None
""")
# Is the call the one that is expected, at the place where it is expected?
_EXPECTED: Final = Template("""\
@v = @pipe.values
@p = @e.places
try:
    @user = @GETFRAME(@e.depth)
except @ValueError:
    @user = @GETFRAME(0)
if (
    ((@user.f_lasti == @e.instruction and @user.f_code is @e.code) or @LOCATED(@e))
    and $matches
):
""")
_ONE_RESULT: Final = Template(f"""\
{_BEGIN}\
    while True:
        @e = @pipe.expected
        if @e.op is @OP:
            $expected
                @r = @v[@e.out]
                if @r is None:
                    @spec = @e.spec
                    $result
                    if @pipe.expected is @e:  # from here on together
                        @v[@e.out] = @r
                        $numbers
                        @pipe.expected = @e.next
                        return @r
                elif @pipe.expected is @e:  # one of the last run, of which nobody has kept anything
                    @r._keys = @KEYS
                    @r._storage.pending = @pipe
                    $numbers
                    @pipe.expected = @e.next
                    return @r
        elif @e is @NOTHING:
            break
        if @pipe.turn(@e):
            break
{_BOUNDS}\
    $looks
    @key = ($key,)
    try:
        @spec = @MEMO.get(@key)
    except @TypeError:
        @spec = @ASK(None, $args, @kwargs)
    else:
        if @spec is None:
            @spec = @ASK(@key, $args, @kwargs)
    $result
{_FIND_USER}\
    @call = (@OP, $args, @kwargs, (@r,), @user.f_code, @user.f_lasti)
    @entries.append(@NEW_ENTRY(@Entry, @call))
    @pipe.nbytes += @n
    return @r
""")
# An op that writes its first argument, and returns it.
_WRITE: Final = Template(f"""\
{_BEGIN}\
    @e = @pipe.expected
    if @e.op is @OP and @e.kind == "write":
        $expected
            @s = $first._storage
            if @s is None:
                @s = $first._own_storage()
            if @pipe.expected is @e:  # from here on together
                @s.pending = @pipe
                $numbers
                @pipe.expected = @e.next
                return $first
    @args = $args
$rest
""")
_ANY_RESULTS: Final = Template(f"""\
{_BEGIN}\
    @e = @pipe.expected
    if @e.op is @OP and @e.kind:
        @found = @FOLLOW_AT_ONCE(@pipe, @e, $args, @kwargs)
        if @found is not @MISSED:
            return @found
    $float
$rest
""")
# How they go on, with what the op's rule says.
_BY_RULE: Final = Template(f"""\
{_BOUNDS}\
{_FIND_USER}\
    @FLUSH_OTHERS(@pipe, @args, @kwargs)
    with @pipe.lock:
        @outs, @result = @RESULTS(@pipe, @args, @kwargs)
        @place = @user.f_code, @user.f_lasti
        while (@e := @pipe.expected) is not @NOTHING:
            if @e.op is @OP and @FOLLOW(@pipe, @e, @args, @kwargs, @outs, @place):
                return @result
            if @pipe.turn(@e):
                break
        @call = (@OP, @args, @kwargs, @outs, @user.f_code, @user.f_lasti)
        @entries.append(@NEW_ENTRY(@Entry, @call))
    return @result
""")
# How a recorder with its own parameters looks at an argument that is a tensor, and at one that may
# be a tensor or something else.
_LOOK: Final = Template("""\
@s = $arg._storage
if @s is not None and @s.pending is not None and @s.pending is not @pipe:
    @s.pending.flush_because(@USED_ELSEWHERE)
@l$i = $arg._strided
if @l$i is None and @len($arg._shape) > 1:
    @l$i = $arg._geometry()
""")
_LOOK_IF_TENSOR: Final = Template("""\
if @TENSORS[$arg.__class__]:
    $look
    @k$i = ($key)
else:
    @k$i = ($arg.__class__, $arg)
""")
# Whether an argument is the expected one: a tensor, a number, something else, a tensor or a number.
_TAKE: Final = Template("($arg is @v[@p[$i]] or @TAKES(@pipe, @p[$i], $arg))")
_PUT: Final = Template("(@type($arg) is @e.kinds[$i] or @PUT(@pipe, @e, $i, $arg))")
_SAME: Final = Template("($arg is @e.args[$i] or @SAME($arg, @e.args[$i]))")
_TAKE_IF_TENSOR: Final = Template(
    "(($arg is @v[@p[$i]] and $arg is not None) or @type($arg) is @e.kinds[$i] or"
    " (@TAKES(@pipe, @p[$i], $arg) if @TENSORS[$arg.__class__] else @PUT(@pipe, @e, $i, $arg)))"
)
# What keeps a number that is computed with: a call's may be another one than the last run's.
_KEEP: Final = Template("""\
if @e.kinds[$i] is not None:
    @pipe.numbers[@e.numbers[$i]] = $arg
""")
# How a recorder of views looks whether this one is to be recorded.
_FLOAT: Final = Template("""\
if @pipe.site is not None:
    @found = @FLOATED(@pipe, @e, @OP, @args, @kwargs)
    if @found is not @MISSED:
        return @found
""")
# By what a recorder compares a call with the one that is expected.
_FOLLOWING: Final = {
    "LOCATED": located, "OPTIONS": options, "PUT": put, "SAME": same, "TAKES": takes, "TENSORS": TENSORS,
}  # fmt: skip
# What it calls where the op's rule has to be asked.
_BY_RULES: Final = {"FLUSH_OTHERS": flush_others, "FOLLOW": follow, "MISSED": MISSED}
_OWN_LIST: Final = Template("""\
if $arg.__class__ is @list:
    $arg = $arg.copy()
""")


def make_recorder(
    entry: OpEntry,
    op: RecordedOp,
    rule: Callable[..., Any],
    row: DeviceRow,
    elsewhere: Callable[[tuple[Any, ...], dict[str, Any]], Any],
    *,
    together: bool,
) -> Kernel:
    """Generate the recorder of an op for one backend.

    Args:
        entry: the op.
        op: what its recordings share.
        rule: tells shapes and dtypes of the results.
        row: the backend's device.
        elsewhere: runs the op at once, for threads that have no pipeline.
        together: whether all tensors of a call are on that device.
    """
    schema, d = entry.schema, entry.definition
    scope: dict[str, Any] = {
        "ELSEWHERE": elsewhere,
        "Entry": Entry,
        "GETFRAME": sys._getframe,
        "INSIDE": INSIDE,
        "NEW_ENTRY": tuple.__new__,
        "NOTHING": NOTHING,
        "OP": op,
        "STACK": STACK,
    }
    name = "op" if schema is None else function_name(schema.name)
    scope |= _FOLLOWING | _BY_RULES | {"RESULTS": results_of(op, rule, schema)}
    alone = schema is not None and together and not (op.view or op.moves)
    if alone and schema is not None and (_makes_one(schema) or _writes_first(schema)):
        numbers = d is not None and d.operands.numbers
        dropped = frozenset() if d is None else FRONT_ONLY
        named = [a for a in schema.keyword_only if not (a.is_out or a.name in dropped)]
        source = _with_parameters(name, schema, named, op.numbers, numbers=numbers)
        scope |= {
            **DEFAULT_NUMBERS,
            "ASK": (memo := Memo(rule)).ask,
            "KEYS": row.keys,
            "MEMO": memo,
            "NEW": object.__new__,
            "NONE": NO_OPTIONS,
            "Storage": Storage,
            "Tensor": Tensor,
            "USED_ELSEWHERE": USED_ELSEWHERE,
        }
    else:
        lists = schema is None or any(a.is_list for a in schema.arguments)
        source = _ANY_RESULTS.fill(
            name=name,
            parameters=own("*@args, **@kwargs"),
            prepare=own("@args, @kwargs = @OWN(@args, @kwargs)\n") if lists else "",
            args=own("@args"),
            float=_FLOAT.fill() if op.view else "",
            rest=_BY_RULE.fill(),
        )
        scope |= {"FLOATED": floated, "FOLLOW_AT_ONCE": follow_at_once, "OWN": _own_lists}
    return compile_function(name, source, own_scope(scope))


def _makes_one(schema: OperatorSchema) -> bool:
    """Whether an op makes one tensor, of a tensor and of what is no list of tensors."""
    if schema.is_mutable or len(schema.returns) != 1 or schema.returns[0].is_list:
        return False
    if any(is_kept(a.name) for a in schema.keyword_only):
        return False
    tensors = [a for a in schema.arguments if a.type == "Tensor"]
    if not tensors or tensors[0] is not schema.arguments[0] or tensors[0].optional:
        return False
    return not any(a.is_list or a.kwarg_only for a in tensors)


def _writes_first(schema: OperatorSchema) -> bool:
    """Whether an op writes its first argument, and nothing else, and returns it."""
    first, *others = schema.arguments
    if len(schema.returns) != 1 or schema.returns[0].alias is None or schema.returns[0].is_list:
        return False
    if first.type != "Tensor" or first.is_list or first.optional or not _is_written(first):
        return False
    if any(is_kept(a.name) for a in schema.keyword_only) or any(map(_is_written, others)):
        return False
    return not any(a.type == "Tensor" and (a.is_list or a.kwarg_only) for a in others)


def _is_written(a: Argument) -> bool:
    return a.alias is not None and a.alias.is_write


def _with_parameters(
    name: str,
    schema: OperatorSchema,
    options: list[Argument],
    numeric: frozenset[int | str],
    *,
    numbers: bool,
) -> str:
    """The recorder of an op that makes one tensor, or writes its first argument.

    Args:
        name: what the function is called.
        schema: the op's signature.
        options: the arguments that are recorded by name.
        numeric: positions of those that are numbers to compute with, or may be.
        numbers: whether tensors after the first may be numbers.
    """
    looks: list[str] = []
    key: list[str] = []
    matches: list[str] = []
    kept: list[str] = []
    for i, a in enumerate(schema.positional):
        arg = own_name(a)
        if a.type != "Tensor":
            key.append(f"{arg}.__class__, {arg}")
            match = _PUT if i in numeric else _SAME
            if i in numeric:
                kept.append(_KEEP.fill(arg=arg, i=str(i)))
            matches.append(match.fill(arg=arg, i=str(i)))
            continue
        match = _TAKE_IF_TENSOR if a.optional or (numbers and i) else _TAKE
        if match is _TAKE_IF_TENSOR:
            kept.append(_KEEP.fill(arg=arg, i=str(i)))
        matches.append(match.fill(arg=arg, i=str(i)))
        look = _LOOK.fill(arg=arg, i=str(i))
        geometry = f"{arg}._shape, {arg}._dtype, {own(f'@l{i}')}"
        if a.optional or (numbers and i):
            look = _LOOK_IF_TENSOR.fill(arg=arg, i=str(i), look=look, key=geometry)
            geometry = own(f"@k{i}")
        looks.append(look)
        key.append(geometry)
    key += [f"{own_name(a)}.__class__, {own_name(a)}" for a in options]
    if options:
        matches.append(own("(@kwargs is @e.kwargs or @OPTIONS(@pipe, @e, @kwargs))"))
    lists = [_OWN_LIST.fill(arg=own_name(a)) for a in (*schema.positional, *options) if a.is_list]
    shared = {
        "name": name,
        "parameters": parameters(schema, naming=own_name),
        "prepare": "".join(lists) + _keywords(options),
        "args": f"({', '.join(own_name(a) for a in schema.positional)},)",
        "expected": _EXPECTED.fill(matches=" and ".join(matches)),
        "numbers": "".join(kept),
    }
    first = own_name(schema.arguments[0])
    if schema.is_mutable:
        return _WRITE.fill(**shared, first=first, rest=_BY_RULE.fill())
    return _ONE_RESULT.fill(
        **shared, looks="".join(looks), key=", ".join(key), result=_RESULT.fill(first=first)
    )


def _keywords(options: list[Argument]) -> str:
    """The line that makes the keyword arguments of an entry: none where all are their defaults."""
    if not options:
        return own("@kwargs = @NONE\n")
    given = f"{{{', '.join(f'{a.name!r}: {own_name(a)}' for a in options)}}}"
    if not all(a.has_default for a in options):
        return f"{own('@kwargs')} = {given}\n"
    default = " and ".join(is_default(a, own_name(a)) for a in options)
    return f"{own('@kwargs = @NONE if')} {default} else {given}\n"


def _own_lists(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments with lists of their own: the user may change those that were passed."""
    return (
        tuple([v.copy() if v.__class__ is list else v for v in args]),
        {k: v.copy() if v.__class__ is list else v for k, v in kwargs.items()},
    )
