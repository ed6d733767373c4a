"""What is said of a call whose kernel failed."""

from __future__ import annotations

from collections.abc import Iterable
from types import FrameType
from typing import Any, Final

from ...values.devices import TABLE
from ...values.dtypes import FLOAT8
from ...values.errors import OutOfMemoryError
from ...values.own_frames import hidden, hide
from ...values.shapes import numel, show
from ..entry import OpEntry
from .binding import accepts, named, printed

__all__ = ["explain", "out_of_memory", "say_as_called"]

_CORE: Final = __name__.partition(".")[0]
_ROWS: Final = f"{_CORE}.operators."
# PyTorch's words about shapes that name neither the op nor the shapes: a note has them.
_BARE: Final = ("The size of tensor a (", "The expanded size of the tensor (")
_SAID_BY: Final = "_mindtorch_said_by"  # of an error: the op whose name its text begins with
_NOTE: Final = "_mindtorch_shapes"


def explain(
    entry: OpEntry,
    error: Exception,
    values: dict[str, Any],
    operands: tuple[Any, ...] = (),
    *,
    method: bool = False,
) -> None:
    """Raise PyTorch's TypeError if a failed call had an argument of the wrong type.

    Where the host had not enough memory, raise OutOfMemoryError. Otherwise return, and the caller lets
    the original error pass. A kernel may ask NumPy first and a rule of the core for the right words
    when that fails: then only these are shown.

    Args:
        entry: the op.
        error: what its kernel raised, caught by the op's generated function.
        values: the call's arguments by name.
        operands: those of an operator, which have no names and are all of the right type.
        method: whether it was called as one: the object is not counted among its arguments.
    """
    schema = entry.schema
    if schema is None:
        return
    refuse_float8(entry, error, values.values())
    if isinstance(error, MemoryError):
        raise out_of_memory(schema.name, error) from None
    numbers = entry.definition is not None and entry.definition.operands.numbers
    for position, a in enumerate(schema.arguments, 0 if method else 1):
        name = "input" if a.name == "self" else a.name
        if name in values and not accepts(a, values[name], numbers=numbers):
            at = "" if a.kwarg_only else f" (position {position})"
            raise TypeError(
                f"{schema.name}(): argument '{name}'{at} must be {printed(a)}, "
                f"not {_describe(values[name])}"
            ) from None
    _forget_first_words(error)
    shown = values or dict(zip([a.name for a in schema.arguments], operands, strict=False))
    say_as_called(schema.name, error, shown)
    hide(error)


def refuse_float8(entry: OpEntry, error: Exception, values: Iterable[Any]) -> None:
    """Raise what PyTorch says of an op that nobody computes in floats of 8 bits.

    Raises:
        NotImplementedError: if a kernel failed, and a tensor has such a dtype.
    """
    if isinstance(error, NotImplementedError) or not isinstance(
        error, TypeError | ValueError | KeyError
    ):
        return
    if hidden(error):
        return  # an op that this one is made of has said it already
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is not None and last.tb_frame.f_globals["__name__"].startswith(_ROWS):
        return  # a rule's own words
    for value in values:
        for each in value if isinstance(value, list | tuple) else (value,):
            d = getattr(each, "_dtype", None)
            if d is not None and d.name in FLOAT8:
                name = entry.name.partition("::")[2]
                raise NotImplementedError(
                    f"\"{name}\" not implemented for '{d.label}': floats of 8 bits are for storage; "
                    f"convert them with to(torch.float32)"
                ) from None


def out_of_memory(doing: str, error: MemoryError) -> OutOfMemoryError:
    """The error of a device for memory of the host that Python or NumPy did not get.

    What the host's backend keeps for later goes back to the system, so that the next call has it.

    Args:
        doing: name of the op.
        error: what was raised; NumPy's says what was to be stored.
    """
    host = TABLE.get("cpu")
    if host is not None:
        host.runtime.empty_cache()
    shape, d = getattr(error, "shape", None), getattr(error, "dtype", None)
    size, what, words = "", "", f": {error}" if shape is None and str(error) else ""
    if shape is not None and d is not None:
        nbytes = numel(shape) * d.itemsize
        size = f": you tried to allocate {nbytes} bytes"
        what = f" ({nbytes / (1 << 20):.2f} MiB) for {show(shape)} elements of {d}"
    return OutOfMemoryError(
        f"DefaultCPUAllocator: can't allocate memory{size}{what} in {doing}{words}. Delete tensors that "
        f"are needed no more, or compute with fewer elements at a time."
    )


def say_as_called(name: str, error: BaseException, values: dict[str, Any]) -> None:
    """Have an error speak of the op that was called, not of one that it is made of.

    A text that begins with an op's name gets the name of each op that calls it, the outermost last, and
    words about shapes that say neither whose nor which get a note with both.
    """
    text = error.args[0] if error.args else None
    if not isinstance(text, str) or name.startswith("_"):
        return
    said_by = error.__dict__.get(_SAID_BY, name)
    if text.startswith(f"{said_by}(): ") and "argument '" not in text:
        error.args = (f"{name}{text[len(said_by) :]}", *error.args[1:])
        error.__dict__[_SAID_BY] = name
    if text.startswith(_BARE) and (shapes := _shapes(values)):
        note, before = f"in {name}({shapes})", error.__dict__.get(_NOTE)
        notes: list[str] = error.__dict__.setdefault("__notes__", [])
        if before in notes:
            notes[notes.index(before)] = note
        else:
            notes.append(note)
        error.__dict__[_NOTE] = note


def _shapes(values: dict[str, Any]) -> str:
    """The tensors among arguments by name, each with its shape."""
    shapes = {
        "input" if name == "self" else name: value._shape
        for name, value in values.items()
        if hasattr(value, "_keys")
    }
    return ", ".join([f"{name}: {show(shape)}" for name, shape in shapes.items()])


def _describe(value: Any) -> str:
    if isinstance(value, list | tuple) and value:
        inner = sorted({named(v) for v in value})
        return f"{type(value).__name__} of ({', '.join(inner)})"
    return named(value)


def _forget_first_words(error: Exception) -> None:
    """Drop what a kernel had caught when the core raised an error in its place."""
    frames: list[FrameType] = []
    at = error.__traceback__
    while at is not None:
        frames.append(at.tb_frame)
        at = at.tb_next
    if frames[-1].f_globals.get("__name__", "").partition(".")[0] != _CORE:
        return
    while (first := error.__context__) is not None and first.__traceback__ is not None:
        if first.__traceback__.tb_frame not in frames:  # it was caught by who called the op
            return
        error.__context__ = first.__context__
