"""How numbers of tensors go on through a function's code, up to where a graph of PyTorch's ends.

The code is walked along all ways through it, as an interpreter would, with what is known of values
in the place of values: on its stack, in variables and attributes. Calls of functions that are written
in Python are walked through too.
"""

from __future__ import annotations

import dis
import functools
import heapq
import itertools
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any, Final, NamedTuple

from .compiled_marks import NOTHING, TEXT, Entry, GraphEnds, Mark, item_of, joined, taken
from .compiled_rules import (
    attribute_of,
    computed,
    is_container,
    item_at,
    known,
    result_of_call,
    result_of_look,
)

__all__ = ["Look", "returned"]

_DEEPEST: Final = 5  # calls within calls
_MOST: Final = 10_000  # steps
_TAKES_TRUTH: Final = ("POP_JUMP", "JUMP_IF", "TO_BOOL", "UNARY_NOT")
_ENDS_WITH_INDEX: Final = ("BINARY_OP", "BINARY_S", "STORE_S", "DELETE_S")
_GIVES: Final = ("BINARY", "COMPARE", "CONTAINS", "LOAD", "TO_BOOL", "UNARY")
_NO_WAY_ON: Final = frozenset({
    "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_FORWARD", "RAISE_VARARGS", "RERAISE",
    "RETURN_CONST", "RETURN_VALUE",
})  # fmt: skip
_NULL: Final = Entry(name="NULL")
_METHOD_BIT: Final = {"LOAD_ATTR": 1, "LOAD_METHOD": 0}
_WRITING: Final = ("BUILD", "FORMAT")  # a text with values


class Look(NamedTuple):
    """An instruction that takes something from a tensor.

    Attributes:
        instruction: its offset.
        reason: what has looked, as ``item()``; empty where a call returns what one has looked at.
        result: what it gives, as far as the reason does not say.
    """

    instruction: int
    reason: str
    result: Entry = NOTHING


class _State(NamedTuple):
    """What is known before an instruction: by position on the stack, and by name."""

    stack: tuple[Entry, ...]
    names: Mapping[str, Entry]


def returned(
    code: CodeType,
    look: Look | None,
    names: Mapping[str, Entry],
    scope: Mapping[str, Any],
    deep: int = 0,
) -> Entry:
    """What a function returns after a look; what it yields has the value "yielded".

    Args:
        code: the function's.
        look: what takes something from a tensor; None where an argument has it.
        names: what is known of variables at its beginning.
        scope: its globals.
        deep: how many calls lead here.

    Raises:
        GraphEnds: if a graph ends because of what was taken.
    """
    return _Walk(code, look, scope, deep).run(names)


@functools.lru_cache(maxsize=64)
def _steps(code: CodeType) -> tuple[tuple[dis.Instruction, ...], Mapping[int, int]]:
    steps = tuple(s for s in dis.get_instructions(code) if s.opname not in ("CACHE", "NOT_TAKEN"))
    return steps, {s.offset: n for n, s in enumerate(steps)}


class _Walk:
    """A walk along all ways through a function's code."""

    def __init__(
        self, code: CodeType, look: Look | None, scope: Mapping[str, Any], deep: int
    ) -> None:
        self.steps, self.at = _steps(code)
        self.scope, self.deep = scope, deep
        self.look = look
        if look is not None:
            # what has looked may stand behind its instruction, in that one's cache
            place = bisect_right(self.steps, look.instruction, key=lambda s: s.offset) - 1
            while self.steps[place].opname in ("PRECALL", "EXTENDED_ARG"):
                place += 1
            self.looking = place
        self.stack: list[Entry] = []
        self.names: dict[str, Entry] = {}
        self.result = NOTHING

    def run(self, names: Mapping[str, Entry]) -> Entry:
        """Walk until nothing new is learned."""
        known: dict[int, _State] = {0: _State((), names)}
        waiting = [0]
        for _ in range(_MOST):
            if not waiting:
                break
            place = heapq.heappop(waiting)  # in order, so that ways meet before they go on
            for following, state in self._after(place, known[place]):
                before = known.get(following)
                state = state if before is None else _met(before, state)
                if state != before:
                    known[following] = state
                    if following not in waiting:
                        heapq.heappush(waiting, following)
        return self.result

    def _after(self, place: int, state: _State) -> list[tuple[int, _State]]:
        """The instructions that may follow one, with what is known before them."""
        step = self.steps[place]
        self.stack, self.names = [*state.stack], dict(state.names)
        following: list[tuple[int, _State]] = []
        jumps = step.opcode in dis.hasjabs or step.opcode in dis.hasjrel
        if self.look is not None and place == self.looking:
            self._take(self.look, step)
        else:
            self._do(step, place)
        for jump in (False, True):
            if (jump and not jumps) or (not jump and step.opname in _NO_WAY_ON):
                continue
            target = self.at.get(step.argval, -1) if jump else place + 1
            if 0 <= target < len(self.steps):
                size = max(0, len(state.stack) + _effect(step, jump))
                stack = [*self.stack, *[NOTHING] * size][:size]
                following.append((target, _State(tuple(stack), self.names)))
        return following

    # ---- instructions --------------------------------------------------------------------------

    def _take(self, look: Look, step: dis.Instruction) -> None:
        """The instruction that looks."""
        name = step.opname
        if look.reason and name.startswith(_TAKES_TRUTH):
            self.stack[-1:] = [Entry(Mark.TRUTH)]
            self._do(step, self.looking)
            return
        if look.reason == "index()" and name.startswith(_ENDS_WITH_INDEX):
            raise GraphEnds
        if look.reason and (name in ("LIST_EXTEND", "CALL_INTRINSIC_1")):
            raise GraphEnds
        result, yielded = look.result, look.result.value == "yielded"
        if name.startswith("CALL"):
            callee, receiver, args = self._called(step)
            if look.reason:
                result = result_of_look(look.reason, callee, receiver)
            elif yielded:
                result = result_of_call(callee, receiver, [*args, look.result])
        elif name == "FOR_ITER":
            result = Entry(Mark.NUMBER) if yielded else result
        elif name.startswith("FORMAT"):
            self.stack[-1:] = [Entry(Mark.NUMBER)]
            self._do(step, self.looking)
            return
        else:
            self._do(step, self.looking)
            if not name.startswith(_GIVES):
                return
            self._pop(1)
            if look.reason:
                truth = look.reason in ("bool()", "contains()")
                result = Entry(Mark.TRUTH if truth else Mark.NUMBER)
        self.stack.append(result)

    def _do(self, step: dis.Instruction, place: int) -> None:
        """Any other one."""
        name = step.opname
        act = _ACTS.get(name)
        if act is not None:
            act(self, step)
        elif name.startswith("LOAD_"):
            self._load(step)
        elif name.startswith("CALL") and not name.startswith("CALL_INTRINSIC"):
            self._call(step)
        elif name.startswith(("POP_JUMP", "JUMP_IF")):
            self._branch(step, place)
        elif name.startswith("FORMAT") or name == "CONVERT_VALUE":
            self._write(1 - _effect(step))
        else:
            effect = _effect(step)
            self._pop(max(0, -effect))

    def _pop(self, count: int) -> list[Entry]:
        """Take values off the stack."""
        if not count:
            return []
        found = self.stack[-count:]
        del self.stack[-count:]
        return [NOTHING] * (count - len(found)) + found

    def _load(self, step: dis.Instruction) -> None:
        name = step.opname
        if name in _METHOD_BIT:
            owner = self._pop(1)[0]
            method = name == "LOAD_METHOD" or bool(
                isinstance(step.arg, int) and step.arg & 1 and "NULL" in step.argrepr
            )
            found = attribute_of(owner, str(step.argval), self.names)
            self.stack += [found, owner] if method else [found]
        elif name == "LOAD_CONST":
            kinds = (str, tuple, list, frozenset, bytes)
            mark = Mark.SEQUENCE if isinstance(step.argval, kinds) else Mark.NOTHING
            self.stack.append(Entry(mark, value=step.argval))
        elif name == "LOAD_GLOBAL":
            null = [_NULL] if "NULL" in step.argrepr else []
            self.stack += [*null, self._variable(str(step.argval))]
        elif isinstance(step.argval, tuple):  # two at once
            self.stack += [self._variable(str(each)) for each in step.argval]
        else:
            self.stack.append(self._variable(str(step.argval)))

    def _variable(self, name: str) -> Entry:
        found = self.names.get(name)
        if found is None:
            found = known(self.scope.get(name))
        return found._replace(name=name)

    def _store(self, step: dis.Instruction) -> None:
        names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        if step.opname == "STORE_FAST_LOAD_FAST":
            self.names[names[0]] = self._pop(1)[0]
            self.stack.append(self._variable(names[1]))
            return
        for name, value in zip(names, reversed(self._pop(len(names))), strict=True):
            self.names[str(name)] = value

    def _store_attribute(self, step: dis.Instruction) -> None:
        value, _ = self._pop(2)
        self.names[f".{step.argval}"] = value

    def _store_item(self, step: dis.Instruction) -> None:
        value, container, key = self._pop(3)
        self._refuse_key(container, key)
        if value.is_tainted and container.name and is_container(container):
            self.names[container.name] = Entry(Mark.HOLDER)

    def _delete_item(self, step: dis.Instruction) -> None:
        self._refuse_key(*self._pop(2))

    def _refuse_key(self, container: Entry, key: Entry) -> None:
        if key.is_number and is_container(container):
            raise GraphEnds

    def _item(self, step: dis.Instruction) -> None:
        *container, key = self._pop(3 if step.opname == "BINARY_SLICE" else 2)
        if step.opname == "BINARY_SLICE":
            container, key = container[:1], Entry(max(container[1].mark, key.mark), "slice")
        self._refuse_key(container[0], key)
        self.stack.append(item_at(container[0], key))

    def _binary(self, step: dis.Instruction) -> None:
        a, b = self._pop(2)
        if step.argrepr == "[]":  # as of Python 3.14
            self._refuse_key(a, b)
            self.stack.append(item_at(a, b))
            return
        self.stack.append(computed(a, b, step.argrepr))

    def _unary(self, step: dis.Instruction) -> None:
        if self.stack and self.stack[-1].is_number and step.opname != "UNARY_NEGATIVE":
            raise GraphEnds

    def _compare(self, step: dis.Instruction) -> None:
        a, b = self._pop(2)
        if Mark.SIZED in (a.mark, b.mark):
            self.stack.append(Entry(Mark.SIZED))
        else:
            self.stack.append(Entry(Mark.TRUTH) if a.is_tainted or b.is_tainted else NOTHING)

    def _contains(self, step: dis.Instruction) -> None:
        value, container = self._pop(2)
        if value.is_number and container.mark is Mark.TABLE:
            raise GraphEnds
        tainted = value.is_number or container.mark is Mark.HOLDER
        self.stack.append(Entry(Mark.TRUTH) if tainted else NOTHING)

    def _identity(self, step: dis.Instruction) -> None:
        self._pop(2)
        self.stack.append(NOTHING)

    def _build(self, step: dis.Instruction) -> None:
        name, count = step.opname, step.arg or 0
        parts = self._pop(2 * count if name == "BUILD_MAP" else count)
        if name == "BUILD_CONST_KEY_MAP":
            self._pop(1)
        keys = parts[::2] if name == "BUILD_MAP" else parts if name == "BUILD_SET" else []
        if any(k.is_number for k in keys):
            raise GraphEnds
        if name == "BUILD_SLICE":
            self.stack.append(Entry(max(p.mark for p in parts), "slice"))
        elif any(p.is_tainted for p in parts):
            self.stack.append(Entry(Mark.HOLDER))
        elif name in ("BUILD_LIST", "BUILD_TUPLE"):
            self.stack.append(taken(()))
        else:
            self.stack.append(Entry(Mark.TABLE))

    def _add_to(self, step: dis.Instruction) -> None:
        """A comprehension, or a display with a star."""
        parts = self._pop(2 if step.opname == "MAP_ADD" else 1)
        if step.opname in ("SET_ADD", "MAP_ADD") and parts[0].is_number:
            raise GraphEnds
        place = step.arg or 1
        if any(p.is_tainted for p in parts) and len(self.stack) >= place:
            self.stack[-place] = Entry(Mark.HOLDER)

    def _write(self, count: int) -> None:
        """A text of values: PyTorch's compiler does so when it is needed, and may have no length of it."""
        tainted = any(p.is_tainted for p in self._pop(count))
        self.stack.append(Entry(Mark.HOLDER, value=TEXT) if tainted else Entry(Mark.SEQUENCE))

    def _build_text(self, step: dis.Instruction) -> None:
        self._write(step.arg or 0)

    def _copy(self, step: dis.Instruction) -> None:
        place = step.arg or 1
        self.stack.append(self.stack[-place] if len(self.stack) >= place else NOTHING)

    def _swap(self, step: dis.Instruction) -> None:
        place = step.arg or 2
        if len(self.stack) >= place:
            self.stack[-1], self.stack[-place] = self.stack[-place], self.stack[-1]

    def _push_null(self, step: dis.Instruction) -> None:
        self.stack.append(_NULL)

    def _iterate(self, step: dis.Instruction) -> None:
        if self.stack and self.stack[-1].mark in (Mark.SIZED, Mark.TIMES):
            raise GraphEnds

    def _next(self, step: dis.Instruction) -> None:
        self.stack.append(item_of(self.stack[-1]) if self.stack else NOTHING)

    def _unpack(self, step: dis.Instruction) -> None:
        given = self._pop(1)[0]
        count = step.arg or 0
        if given.name == "items" and len(given.value) == count:
            found = [Entry(mark) for mark in given.value]
        elif given.mark is Mark.SIZES:
            found = [Entry(Mark.NUMBER), *[NOTHING] * (count - 1)][:count]
        else:
            found = [item_of(given)] * count
        self.stack += reversed(found)

    def _make_function(self, step: dis.Instruction) -> None:
        extra = (step.arg or 0).bit_count()
        *_, code = self._pop(1 + (extra if step.opcode >= dis.HAVE_ARGUMENT else 0))
        self.stack.append(Entry(value=code.code))

    def _function_attribute(self, step: dis.Instruction) -> None:
        _, fn = self._pop(2)
        self.stack.append(fn)

    def _return(self, step: dis.Instruction) -> None:
        found = self._pop(1)[0]
        if found.is_tainted:
            self.result = joined(self.result, found)

    def _yield(self, step: dis.Instruction) -> None:
        if self.stack and self.stack[-1].is_tainted:
            self.result = Entry(Mark.HOLDER, value="yielded")

    def _branch(self, step: dis.Instruction, place: int) -> None:
        asked = self.stack[-1] if self.stack else NOTHING
        if asked.is_number and "NONE" not in step.opname:
            following = self.steps[place + 1 :]
            raised = [*itertools.takewhile(lambda s: s.opname != "RAISE_VARARGS", following)]
            asserts = raised[:1] and "assertion" in f"{raised[0].argrepr}{raised[0].opname}".lower()
            if not asserts or any(s.opname.startswith(_WRITING) for s in raised):
                raise GraphEnds
        if step.opname.startswith("POP_JUMP"):
            self._pop(1)

    # ---- calls ---------------------------------------------------------------------------------

    def _called(self, step: dis.Instruction) -> tuple[Entry, Entry, list[Entry]]:
        """What is called, of which object, and with what: taken off the stack."""
        if step.opname == "CALL_FUNCTION_EX":
            given = self._pop(1 + (step.arg or 0) % 2)
            callee, receiver = self._pop(2)
        else:
            self._pop(step.opname == "CALL_KW")
            given = self._pop(step.arg or 0)
            callee, receiver = self._pop(2)
        if callee.code is not None and receiver is not _NULL:  # a comprehension, with its iterator
            return callee, NOTHING, [receiver, *given]
        if callee is _NULL or callee.name is None:
            callee, receiver = receiver, NOTHING
        elif receiver is _NULL:
            receiver = NOTHING
        if receiver is NOTHING and callee.owner is not None:
            receiver = Entry(name=callee.owner)
        return callee, receiver, given

    def _call(self, step: dis.Instruction) -> None:
        callee, receiver, args = self._called(step)
        code = callee.code
        if code is not None and self.deep < _DEEPEST:
            self.stack.append(self._walked(code, args))
            return
        found = result_of_call(callee, receiver, args)
        if receiver.name and is_container(receiver) and any(a.is_tainted for a in args):
            self.names[receiver.name] = Entry(Mark.HOLDER)
        self.stack.append(found)

    def _walked(self, code: CodeType, args: Sequence[Entry]) -> Entry:
        """What a function that is written in Python returns."""
        free = {n: self.names[n] for n in code.co_freevars if n in self.names}
        given = dict(zip(code.co_varnames, args, strict=False))
        if not any(e.is_tainted for e in (*free.values(), *args)):
            return NOTHING
        if code.co_flags & _VARIADIC:
            given = {n: taken(args) for n in given}
        return returned(code, None, {**free, **given}, self.scope, self.deep + 1)


_VARIADIC: Final = 4 | 8
_ACTS: Final[dict[str, Callable[[_Walk, dis.Instruction], None]]] = {
    **dict.fromkeys(("LIST_APPEND", "LIST_EXTEND", "MAP_ADD", "SET_ADD", "SET_UPDATE"), _Walk._add_to),
    **dict.fromkeys(("BINARY_SUBSCR", "BINARY_SLICE"), _Walk._item),
    **dict.fromkeys(("UNARY_NOT", "UNARY_INVERT", "UNARY_NEGATIVE"), _Walk._unary),
    **dict.fromkeys((
        "BUILD_CONST_KEY_MAP", "BUILD_LIST", "BUILD_MAP", "BUILD_SET", "BUILD_SLICE",
        "BUILD_TUPLE",
    ), _Walk._build),
    **dict.fromkeys((
        "STORE_DEREF", "STORE_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST", "STORE_GLOBAL",
        "STORE_NAME",
    ), _Walk._store),
    "BINARY_OP": _Walk._binary, "BUILD_STRING": _Walk._build_text, "COMPARE_OP": _Walk._compare,
    "CONTAINS_OP": _Walk._contains, "COPY": _Walk._copy, "DELETE_SUBSCR": _Walk._delete_item,
    "FOR_ITER": _Walk._next, "GET_ITER": _Walk._iterate, "IS_OP": _Walk._identity,
    "MAKE_FUNCTION": _Walk._make_function, "PUSH_NULL": _Walk._push_null, "RETURN_VALUE": _Walk._return,
    "SET_FUNCTION_ATTRIBUTE": _Walk._function_attribute, "STORE_ATTR": _Walk._store_attribute,
    "STORE_SUBSCR": _Walk._store_item, "SWAP": _Walk._swap, "UNPACK_SEQUENCE": _Walk._unpack,
    "YIELD_VALUE": _Walk._yield,
}  # fmt: skip


def _effect(step: dis.Instruction, jump: bool | None = None) -> int:
    """How many values more an instruction leaves on the stack."""
    if step.opname in ("CALL", "PRECALL"):  # as of Python 3.11, both count what is taken
        return -1 - (step.arg or 0) if step.opname == "CALL" else 0
    arg = step.arg if step.opcode >= dis.HAVE_ARGUMENT else None
    return dis.stack_effect(step.opcode, arg, jump=jump)


def _met(a: _State, b: _State) -> _State:
    """What is known where two ways meet."""
    stack = tuple([joined(x, y) for x, y in zip(a.stack, b.stack, strict=False)])
    names = {
        n: joined(a.names.get(n, NOTHING), b.names.get(n, NOTHING)) for n in {**a.names, **b.names}
    }
    return _State(stack, names)
