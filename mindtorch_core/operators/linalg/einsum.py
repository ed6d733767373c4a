"""Einstein's notation for sums of products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.keys import FUNCTION_MODES, MASKS
from ...dispatch.written_functions import GIVEN
from ...opdefs.define import op, public
from ...tensors.tensor import Tensor
from ...values.promotion import result_type
from ...values.shapes import numel

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _subscripts(text: str, rank: int, position: int) -> list[str]:
    """The subscript of each dimension of an operand; those of the ellipsis are ``...0``, ``...1``...

    The dimensions that an ellipsis stands for are numbered from the last, as they broadcast.
    """
    before, dots, after = text.replace(" ", "").partition("...")
    for c in before + after:
        if c == ".":
            raise RuntimeError(
                f"einsum(): found '.' for operand {position} that is not part of any ellipsis"
            )
        if c not in _LETTERS:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {text.index(c)} in the equation string, "
                f"subscripts must be in [a-zA-Z]"
            )
    covered = rank - len(before) - len(after)
    if covered < 0 or (covered and not dots):
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({len(before) + len(after)}) does not "
            f"match the number of dimensions ({rank}) for operand {position}"
            f"{'' if dots else ' and no ellipsis was given'}"
        )
    middle = [f"...{i}" for i in reversed(range(covered))]
    return [*before, *middle, *after]


def _output(text: str | None, inputs: Sequence[Sequence[str]]) -> list[str]:
    """Subscripts of the result; without ``->`` those that occur once, in alphabetical order."""
    every = [s for subs in inputs for s in subs]
    dots = sorted({s for s in every if s[0] == "."}, key=lambda s: -int(s[3:]))
    if text is None:
        once = sorted({s for s in every if s[0] != "." and every.count(s) == 1})
        return [*dots, *once]
    before, ellipsis, after = text.replace(" ", "").partition("...")
    out = [*before, *(dots if ellipsis else ()), *after]
    for s in out:
        if s[0] != "." and s not in _LETTERS:
            raise RuntimeError(
                f"einsum(): invalid subscript {s!r} in the output, subscripts must be in [a-zA-Z]"
            )
        if out.count(s) > 1:
            raise RuntimeError(
                f"einsum(): output subscript {s} appears more than once in the output"
            )
        if s not in every:
            raise RuntimeError(
                f"einsum(): output subscript {s} does not appear in the equation for any input operand"
            )
    return out


class _Term:
    """A tensor and the subscript of each of its dimensions, every one different."""

    def __init__(self, tensor: Any, subs: Sequence[str], position: int) -> None:
        kept: list[str] = []
        for s in subs:
            if s in kept:  # a repeated subscript takes the diagonal
                i, j = kept.index(s), len(kept)
                if tensor._shape[i] != tensor._shape[j]:
                    raise RuntimeError(
                        f"einsum(): subscript {s} is repeated for operand {position} but the sizes "
                        f"don't match, {tensor._shape[j]} != {tensor._shape[i]}"
                    )
                tensor = tensor.diagonal(0, i, j).movedim(-1, i)
            else:
                kept.append(s)
        self.tensor = tensor
        self.subs = kept

    def sizes(self) -> dict[str, int]:
        return dict(zip(self.subs, self.tensor._shape, strict=True))

    def summed(self, keep: Any) -> _Term:
        """With the dimensions summed whose subscript is not in ``keep``."""
        dims = [i for i, s in enumerate(self.subs) if s not in keep]
        if not dims:
            return self
        return _Term(self.tensor.sum(dims), [s for s in self.subs if s in keep], 0)

    def folded(self, s: str) -> _Term:
        """With a dimension summed to size 1."""
        i = self.subs.index(s)
        if self.tensor._shape[i] == 1:
            return self
        return _Term(self.tensor.sum(i, keepdim=True), self.subs, 0)

    def ordered(self, subs: Sequence[str]) -> Any:
        """The tensor with its dimensions in an order; missing ones have size 1."""
        t = self.tensor.permute([self.subs.index(s) for s in subs if s in self.subs])
        for i, s in enumerate(subs):
            if s not in self.subs:
                t = t.unsqueeze(i)
        return t


def _product(a: _Term, b: _Term, keep: Any) -> _Term:
    """Product of two terms, summed over what only they have and nobody keeps."""
    mine, theirs = a.sizes(), b.sizes()
    a, b = a.summed({*keep, *theirs}), b.summed({*keep, *mine})
    for s in mine:
        if s in theirs and s not in keep and mine[s] != theirs[s]:  # one of them has size 1
            a, b = a.folded(s), b.folded(s)
    mine, theirs = a.sizes(), b.sizes()
    shared = [s for s in a.subs if s in theirs]
    inner = [s for s in shared if s not in keep and mine[s] == theirs[s]]
    batch = [s for s in shared if s not in inner]
    left = [s for s in a.subs if s not in shared]
    right = [s for s in b.subs if s not in shared]
    out = [*batch, *left, *right]
    if not inner:
        every = [*out, *(s for s in shared if s not in keep and s not in out)]
        return _Term(a.ordered(every) * b.ordered(every), every, 0).summed(keep)
    common = result_type(a.tensor, b.tensor)  # integers that were summed are int64
    sizes = theirs | {s: n for s, n in mine.items() if theirs.get(s, 1) == 1}

    def matrices(term: _Term, rows: Sequence[str], columns: Sequence[str]) -> Any:
        own = term.sizes()
        t = term.ordered([*batch, *rows, *columns])
        shape = [sizes[s] for s in batch] + [own[s] for s in (*rows, *columns)]
        t = t if t._shape == tuple(shape) else t.expand(shape)
        t = t if t._dtype is common else t.to(common)
        return t.reshape(
            numel(tuple(sizes[s] for s in batch)),
            numel(tuple(own[s] for s in rows)),
            numel(tuple(own[s] for s in columns)),
        )

    product = matrices(a, left, inner).bmm(matrices(b, inner, right))
    result = _Term(product.reshape([sizes[s] for s in out]), out, 0)
    return result.summed(keep)


def _einsum(equation: str, tensors: Sequence[Tensor], *, path: Sequence[int] | None = None) -> Any:
    if not tensors:
        raise RuntimeError("einsum(): must provide at least one operand")
    left, arrow, right = equation.partition("->")
    texts = left.split(",")
    if len(texts) != len(tensors):
        few = "fewer" if len(texts) > len(tensors) else "more"
        raise RuntimeError(
            f"einsum(): {few} operands were provided ({len(tensors)}) than specified in the equation "
            f"({len(texts)})"
        )
    inputs = [
        _subscripts(text, len(t._shape), i)
        for i, (text, t) in enumerate(zip(texts, tensors, strict=True))
    ]
    out = _output(right if arrow else None, inputs)
    terms = [_Term(t, subs, i) for i, (t, subs) in enumerate(zip(tensors, inputs, strict=True))]
    _check_sizes(terms)
    steps = list(path) if path else []
    while len(terms) > 1:
        pair = (steps.pop(0), steps.pop(0)) if steps else (0, 1)
        b, a = (terms.pop(i) for i in sorted(pair, reverse=True))
        keep = {*out, *(s for t in terms for s in t.subs)}
        made = _product(a, b, keep)
        terms.append(made) if path else terms.insert(0, made)
    return terms[0].summed(out).ordered(out)


def _check_sizes(terms: Sequence[_Term]) -> None:
    """Refuse a subscript with two sizes."""
    seen: dict[str, int] = {}
    for position, t in enumerate(terms):
        for s, n in t.sizes().items():
            known = seen.get(s, 1)
            if 1 not in (n, known) and n != known:
                raise RuntimeError(
                    f"einsum(): subscript {s} has size {n} for operand {position} which does not "
                    f"broadcast with previously seen size {known}"
                )
            seen[s] = max(n, known) if 0 not in (n, known) else 0


op(
    "einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
    doc="Sum of products in Einstein's notation, two operands at a time by matrix products.",
    decomposition=_einsum,
    namespaces=("torch:_einsum",),
)


def _equation_first(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What was called: an equation and operands, also where each operand had its list of numbers."""
    if not (args[1:] and isinstance(args[0], Tensor)):
        return args

    def text(subs: Any) -> str:
        return "".join("..." if s is Ellipsis else _letter(s) for s in subs)

    if len(args) % 2:
        equation = f"{','.join(map(text, args[1:-1:2]))}->{text(args[-1])}"
        return equation, *args[:-1:2]
    return ",".join(map(text, args[1::2])), *args[::2]


def _as_handlers_are_given(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The equation and the operands: those in a list one by one for classes, while modes see the list."""
    args = _equation_first(args)
    listed = len(args) == 2 and isinstance(args[1], list | tuple)
    if listed and not MASKS.include & FUNCTION_MODES:
        args = (args[0], *args[1])
    return args, kwargs


GIVEN["einsum"] = _as_handlers_are_given  # before the function, which may ask for it at once


@public("torch")
def einsum(*args: Any) -> Any:
    """Sum of products in Einstein's notation: ``einsum("bij,bjk->bik", a, b)``.

    A letter names a dimension; those that the part after ``->`` leaves out are summed, ``...``
    stands for dimensions that broadcast, and a letter twice in one operand takes its diagonal.
    Operands may also be followed by lists of numbers: ``einsum(a, [0, 1], b, [1, 2], [0, 2])``.

    Args:
        *args: the equation and the operands; or operands, each followed by its list of numbers, and the
            list of the result.

    Raises:
        ValueError: if there are too few arguments.
        RuntimeError: if the equation and the operands do not fit.

    Example:
        >>> a, b = torch.tensor([[1, 2], [3, 4]]), torch.tensor([1, 10])
        >>> torch.einsum("ij,j->i", a, b), torch.einsum("ii", a)
        (tensor([21, 43]), tensor(5))
    """
    equation, *operands = _equation_first(args) or (None,)
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = list(operands[0])
    if not operands:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one "
            "operand and its subscripts list"
        )
    return fn._einsum(equation, operands)


def _letter(number: int) -> str:
    if not 0 <= number < len(_LETTERS):
        raise ValueError(
            f"einsum(): subscript in subscript list is not within the valid range [0, "
            f"{len(_LETTERS)}): {number}"
        )
    return _LETTERS[number]
