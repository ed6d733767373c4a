"""Arrays that stand for operands of a kernel and note what it computes of them.

A kernel is traced by calling it, as it is, on such arrays: so a compiled program computes what the
kernel does, in the same order and with the same conversions. Whatever looks at an element, or does
what programs have no operation for, raises `Untraceable`, and is left to NumPy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .operations import served
from .program import DTYPES, Graph, Node, code_of
from .quick import FAST, FORMULAS

__all__ = ["SIZE", "Traced", "Tracer", "Untraceable"]

# Elements that a traced array says to have: kernels take the way that they take on large arrays, but
# do not cut them into chunks.
SIZE: Final = 1 << 14


class Untraceable(Exception):
    """A kernel does what a program cannot; the text says what."""


class Tracer:
    """Collects what is computed.

    Attributes:
        constants: numbers that take part, as arrays without dimensions.
        size: elements that traced arrays say to have.
    """

    def __init__(self) -> None:
        self.constants: list[Any] = []
        self.size = SIZE
        self._inputs: list[Traced] = []
        self._values: list[tuple[Any, ...]] = []  # ("input", n), ("constant", n) or (op, *operands)
        self._dtypes: list[str] = []
        self._known: dict[tuple[Any, ...], int] = {}
        self._given: dict[int, tuple[Any, int]] = {}  # objects that live so long, by their identity

    def value(self, key: tuple[Any, ...], dtype: str) -> int:
        """The number of a value, the same for what is computed alike."""
        found = self._known.get((*key, dtype))
        if found is None:
            found = self._known[(*key, dtype)] = len(self._values)
            self._values.append(key)
            self._dtypes.append(dtype)
        return found

    def input(self, dtype: Any, full: bool = True) -> Traced:
        """An operand; ``full`` unless it is one number."""
        code = _code(dtype)
        value = self.value(("input", len(self._inputs)), code)
        made = Traced(self, value, code, (SIZE,) if full else ())
        self._inputs.append(made)
        return made

    def number(self, array: Any) -> Traced:
        """A number as an operand."""
        return Traced(self, self.constant(array), _code(array.dtype), ())

    def constant(self, array: Any) -> int:
        """The value of a number."""
        code = _code(array.dtype)
        self.constants.append(array)
        return self.value(("constant", len(self.constants) - 1), code)

    def number_of(self, operand: Any) -> int:
        """The value of a number; of one object of NumPy's it is one, which LLVM can know."""
        if not isinstance(operand, np.generic):
            return self.constant(np.asarray(operand))
        found = self._given.get(id(operand))
        if found is None:
            found = self._given[id(operand)] = operand, self.constant(np.asarray(operand))
        return found[1]

    def converted(self, value: int, code: str) -> int:
        """A value in another dtype."""
        if self._dtypes[value] == code:
            return value
        kind, *rest = self._values[value]
        if kind == "constant":
            with np.errstate(all="ignore"):
                return self.constant(self.constants[rest[0]].astype(DTYPES[code]))
        if not served("cast", (self._dtypes[value], code)):
            raise Untraceable(f"conversion of {self._dtypes[value]} to {code}")
        return self.value(("cast", value), code)

    def apply(self, op: str, operands: Sequence[int], dtype: str) -> int:
        """The value of an operation.

        Raises:
            Untraceable: if programs do not have it for these operands.
        """
        if not served(op, (*(self._dtypes[v] for v in operands), dtype)):
            given = ", ".join(self._dtypes[v] for v in operands)
            raise Untraceable(f"{op} of {given}")
        return self.value((op, *operands), dtype)

    def reduced(self, op: str, *operands: Traced) -> Traced:
        """What rows are reduced to, see `program.REDUCTIONS`."""
        code = operands[0].code
        if any(o.code != code for o in operands) or code not in ("f4", "f8"):
            raise Untraceable(f"{op} of {code}")
        return Traced(self, self.value((op, *(o.value for o in operands)), code), code, (SIZE,))

    def folded(self, operand: Traced) -> Traced:
        """What is added up along the columns, see `Graph.folded`; its array holds zeros before."""
        if operand.code not in ("f4", "f8"):
            raise Untraceable(f"sums of {operand.code}")
        value = self.value(("fold", operand.value), operand.code)
        return Traced(self, value, operand.code, (SIZE,))

    def finish(self, results: Sequence[Traced]) -> tuple[Graph, list[int], list[Any]]:
        """The graph of what is needed for some results and for the inputs that were written.

        Returns:
            The graph, which inputs it takes, and the numbers. Results have arrays after the inputs'.
        """
        written = [(t.value, n) for n, t in enumerate(self._inputs) if t.value != t.given]
        roots = [v for v, _ in written] + [t.value for t in results]
        needed: set[int] = set()
        todo = [*roots, *(self._inputs[n].given for _, n in written)]
        while todo:
            v = todo.pop()
            if v not in needed:
                needed.add(v)
                kind, *operands = self._values[v]
                if kind not in ("input", "constant"):
                    todo += operands
        order = sorted(needed)  # operands have lower numbers
        kinds = [[v for v in order if self._values[v][0] == kind] for kind in ("input", "constant")]
        nodes = [v for v in order if self._values[v][0] not in ("input", "constant")]
        place = {v: i for i, v in enumerate([*kinds[0], *kinds[1], *nodes])}
        inputs = [self._values[v][1] for v in kinds[0]]
        outputs = [(place[v], inputs.index(n)) for v, n in written]
        outputs += [(place[t.value], len(inputs) + i) for i, t in enumerate(results)]
        graph = Graph(
            tuple(self._dtypes[v] for v in kinds[0]),
            tuple(self._dtypes[v] for v in kinds[1]),
            tuple(
                Node(self._values[v][0], self._dtypes[v], tuple(place[o] for o in self._values[v][1:]))
                for v in nodes
            ),
            tuple(outputs),
        )  # fmt: skip
        numbers = [self.constants[self._values[v][1]] for v in kinds[1]]
        return graph, inputs, numbers


class _Flags:
    """What kernels ask of an array's memory: it is row-major."""

    c_contiguous = f_contiguous = writeable = owndata = True


def _code(dtype: Any) -> str:
    code = code_of(dtype)
    if code is None:
        raise Untraceable(f"elements of {dtype}")
    return code


@functools.lru_cache(1024)
def _resolved(ufunc: Any, given: tuple[Any, ...], dtype: Any) -> tuple[Any, ...]:
    """The dtypes of the loop that NumPy runs for operands."""
    chosen = {} if dtype is None else {"signature": (*(None,) * ufunc.nin, np.dtype(dtype))}
    found: tuple[Any, ...] = ufunc.resolve_dtypes((*given, None), **chosen)
    return found


class Traced(NDArrayOperatorsMixin):
    """An array without elements, which notes what is computed with it.

    Attributes:
        given: what it held at first.
        dtype, shape: as an array's.
    """

    __slots__ = ("_base", "_holds", "_tracer", "code", "dtype", "given", "shape")

    def __init__(
        self, tracer: Tracer, value: int, code: str, shape: tuple[int, ...], base: Any = None
    ) -> None:
        self._tracer = tracer
        self._base = base  # whose elements it shows as another type
        self._holds = self.given = value
        self.code = code
        self.dtype = DTYPES[code]
        self.shape = shape

    # Kernels tell arrays from NumPy's scalars by their class.
    __class__ = property(lambda self: np.ndarray)

    flags = _Flags()
    base = None

    @property
    def value(self) -> int:
        """What it holds now."""
        if self._base is None:
            return self._holds
        return self._tracer.apply("bits", (self._base.value,), self.code)

    @property
    def ndim(self) -> int:
        """0 for one number, else 1."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements it says to have."""
        return self._tracer.size if self.shape else 1

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Those of a row-major array."""
        return (self.itemsize,) if self.shape else ()

    @property
    def real(self) -> Traced:
        """Itself: no array here is complex."""
        return self

    def _made(self, value: int, code: str) -> Traced:
        return Traced(self._tracer, value, code, self.shape)

    def astype(self, dtype: Any, order: str = "K", *, copy: bool = True) -> Traced:
        """Its elements in another dtype."""
        code = _code(dtype)
        if code == self.code and not copy:
            return self
        return self._made(self._tracer.converted(self.value, code), code)

    def copy(self, order: str = "K") -> Traced:
        """Its elements elsewhere."""
        return self._made(self.value, self.code)

    def view(self, dtype: Any = None) -> Traced:
        """Its bits as another type of the same size."""
        if dtype is None or dtype is np.ndarray:
            return self
        code = _code(dtype)
        if code == self.code:
            return self
        if DTYPES[code].itemsize != self.itemsize:
            raise Untraceable("a view of elements of another size")
        value = self._tracer.apply("bits", (self.value,), code)
        return Traced(
            self._tracer, value, code, self.shape, self if self._base is None else self._base
        )

    def reshape(self, *shape: Any) -> Traced:
        """Itself, in the shapes that it has."""
        wanted = shape[0] if len(shape) == 1 else shape
        if wanted in (-1, (-1,), self.shape) and (self.shape or wanted == ()):
            return self
        raise Untraceable("another shape")

    def write(self, value: int) -> None:
        """Let it hold another value."""
        if self._base is None:
            self._holds = value
        else:
            self._base.write(self._tracer.apply("bits", (value,), self._base.code))

    def __setitem__(self, where: Any, given: Any) -> None:
        if where is not Ellipsis and where != slice(None):
            raise Untraceable("a write to a part")
        self._put(given)

    def _put(self, given: Any) -> None:
        """Write a value of any dtype everywhere."""
        if not self.shape and _shape(given):
            raise Untraceable("a write of many elements to one")
        array = given if type(given) is Traced else np.asarray(given, None)
        self.write(self._tracer.converted(self._value(array), self.code))

    def _value(self, operand: Any) -> int:
        """The value of an operand of an operation."""
        if type(operand) is Traced:
            return operand.value
        if np.ndim(operand):
            raise Untraceable("an operand with elements of its own")
        return self._tracer.number_of(operand)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), dtype: Any = None,
                        **options: Any) -> Any:  # fmt: skip
        if method != "__call__" or options or ufunc.nout != 1:
            raise Untraceable(f"{ufunc.__name__}.{method}")
        given = tuple(_kind(i) for i in inputs)
        loop = _resolved(ufunc, given, dtype)
        codes = [_code(d) for d in loop]
        operands = [
            self._tracer.constant(np.array(i, d))
            if kind.__class__ is type
            else self._tracer.converted(self._value(i), code)
            for i, kind, d, code in zip(inputs, given, loop[:-1], codes[:-1], strict=True)
        ]
        shape = next((s for i in inputs if (s := _shape(i))), ())
        if FAST and ufunc in FORMULAS and codes[-1] == "f4":
            value = FORMULAS[ufunc](Traced(self._tracer, operands[0], "f4", shape)).value
        else:
            value = self._tracer.apply(ufunc.__name__, operands, codes[-1])
        target = out[0] if out else None
        if target is None:
            return Traced(self._tracer, value, codes[-1], shape)
        if type(target) is not Traced or (shape and not target.shape):
            raise Untraceable("a result in an array of its own")
        if not np.can_cast(loop[-1], target.dtype, "same_kind"):
            raise Untraceable("a result of another kind")
        target.write(self._tracer.converted(value, target.code))
        return target

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        served = _FUNCTIONS.get(func)
        if served is None:
            raise Untraceable(func.__name__)
        return served(self, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        raise Untraceable(f".{name}")

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise Untraceable("a look at an element")

    __bool__ = __int__ = __float__ = __index__ = __len__ = __iter__ = __getitem__ = _refuse
    __array__ = __complex__ = _refuse


def _shape(operand: Any) -> tuple[int, ...]:
    return operand.shape if type(operand) is Traced else np.shape(operand)


def _kind(operand: Any) -> Any:
    """What NumPy's promotion sees of an operand: a dtype, or the class of a Python number."""
    if operand.__class__ is int or operand.__class__ is float:
        return operand.__class__
    return operand.dtype if hasattr(operand, "dtype") else np.asarray(operand).dtype


def _where(self: Traced, condition: Any, a: Any, b: Any) -> Traced:
    plain = [x if x.__class__ in (int, float) else _kind(x) for x in (a, b)]
    d = np.result_type(*plain)
    code = _code(d)
    tracer = self._tracer
    chosen = [
        tracer.constant(np.array(x, d))
        if x.__class__ in (int, float)
        else tracer.converted(self._value(x), code)
        for x in (a, b)
    ]
    test = tracer.converted(self._value(condition), "b1")
    shape = next((s for x in (condition, a, b) if (s := _shape(x))), ())
    return Traced(tracer, tracer.apply("where", (test, *chosen), code), code, shape)


def _copyto(self: Traced, target: Any, source: Any, casting: Any = "same_kind") -> None:
    if type(target) is not Traced:
        raise Untraceable("a result in an array of its own")
    if casting != "unsafe" and not np.can_cast(_kind(source), target.dtype, casting):
        raise Untraceable("a result of another kind")
    target._put(source)


def _clip(self: Traced, a: Any, low: Any, high: Any, out: Any = None) -> Any:
    return np.minimum(np.maximum(a, low), high, out=out)


_FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    np.where: _where,
    np.copyto: _copyto,
    np.clip: _clip,
}
