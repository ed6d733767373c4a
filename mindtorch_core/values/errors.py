"""Exceptions of the core.

Where PyTorch has an exception for a situation, its type is raised, so that ``except`` clauses
written for it go on working. The classes below refine those types::

    Exception
    ├── RuntimeError
    │   ├── LinAlgError               a matrix is singular, not positive-definite, ...
    │   ├── BackendUnavailableError   a device whose plugin is missing, switched off or broken
    │   │   └── NoAcceleratorError    it is of CUDA or the like; also an AssertionError
    │   ├── BackendConflictError      two plugins claim one device name or dispatch key
    │   ├── PipelineError             a recorded op failed when it was launched; also of its cause's type
    │   ├── CaptureError              a captured function was called as its recording does not stand for
    │   └── OutOfMemoryError          a device could not supply the memory that was asked for
    ├── NotImplementedError
    │   ├── OperandTypeError          an operator does not serve a dtype; also a TypeError
    │   └── NoKernelError             an op has no kernel for the backend of its arguments
    └── ValueError
        └── SchemaError               an operator schema that does not parse; also a RuntimeError
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

__all__ = [
    "BackendConflictError",
    "BackendUnavailableError",
    "CaptureError",
    "LinAlgError",
    "NoAcceleratorError",
    "NoKernelError",
    "OperandTypeError",
    "OutOfMemoryError",
    "PipelineError",
    "SchemaError",
]


class BackendUnavailableError(RuntimeError):
    """A device was asked for whose backend is not installed, is switched off or failed to load.

    Attributes:
        device: the device type that was asked for.
        package: the distribution to install, or None where installing does not help.
    """

    def __init__(self, message: str, *, device: str, package: str | None = None) -> None:
        super().__init__(message)
        self.device = device
        self.package = package


class NoAcceleratorError(BackendUnavailableError, AssertionError):
    """An accelerator that PyTorch knows by itself was asked for, and there is no backend for it.

    PyTorch raises AssertionError where it was built without such devices.
    """


class BackendConflictError(RuntimeError):
    """Two plugins claim the same device name or the same dispatch key."""


class LinAlgError(RuntimeError):
    """A matrix does not allow what was asked: it is singular, or not positive-definite."""


class NoKernelError(NotImplementedError):
    """An op has no kernel for the backend its arguments live on.

    Attributes:
        op: qualified name of the op, such as ``aten::add``.
        device: the device type or dispatch key that lacks the kernel.
    """

    def __init__(self, message: str, *, op: str, device: str) -> None:
        super().__init__(message)
        self.op = op
        self.device = device


class OperandTypeError(NotImplementedError, TypeError):
    """An operator does not serve the dtype of its operand.

    PyTorch raises NotImplementedError when the op is called by name, and TypeError for the operator.
    """


class PipelineError(RuntimeError):
    """A recorded op failed when the pipeline launched it.

    The original exception is the ``__cause__``. It is of the type of that as well, so that ``except``
    clauses which are written for the op catch it.

    Attributes:
        op: qualified name of the op that failed.
        location: ``file:line`` of the user's code that recorded it.
    """

    _kind: ClassVar[type[BaseException]] = RuntimeError  # which type it is as well

    def __init__(self, message: str, *, op: str, location: str) -> None:
        RuntimeError.__init__(self, message)
        self.op = op
        self.location = location

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._kind, self.args, self.__dict__)

    @staticmethod
    def like(kind: type[BaseException]) -> type[PipelineError]:
        """The class of those that are of another type as well; of none where that cannot be."""
        made = _OF_OTHER_TYPES.get(kind)
        if made is None:
            made = _OF_OTHER_TYPES[kind] = _derived(kind)
        return made


_OF_OTHER_TYPES: Final[dict[type[BaseException], type[PipelineError]]] = {}
# What `hasattr`, and the end of an iterator, would take for their own.
_SWALLOWED: Final = AttributeError, StopIteration, StopAsyncIteration


def _derived(kind: type[BaseException]) -> type[PipelineError]:
    base = PipelineError
    if issubclass(base, kind) or not issubclass(kind, Exception) or issubclass(kind, _SWALLOWED):
        return base
    held = {name: vars(base)[name] for name in ("__doc__", "__module__")}
    held |= {"__str__": RuntimeError.__str__, "__new__": kind.__new__, "_kind": kind}
    try:
        made = type(base.__name__, (base, kind), held)
        made("", op="", location="")
    except Exception:  # noqa: BLE001 (classes of others may refuse to be bases, or texts)
        return base
    return made


def _again(kind: type[BaseException], args: tuple[Any, ...], held: dict[str, Any]) -> PipelineError:
    """One that was pickled."""
    error = PipelineError.like(kind)(*args, op=held["op"], location=held["location"])
    error.__dict__.update(held)
    return error


class CaptureError(RuntimeError):
    """A function of `torch.pipeline.capture` was called in a way that its recording does not stand for.

    Attributes:
        result: what the call has returned, where it was run as it is: its results are right.
    """

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result


class OutOfMemoryError(RuntimeError):
    """A device could not supply the memory that was asked for."""


class SchemaError(ValueError, RuntimeError):
    """An operator schema does not parse; the text shows the position.

    PyTorch raises RuntimeError; a text that cannot be read is a ValueError in Python.

    Attributes:
        schema: the whole schema string.
        position: index of the offending character.
    """

    def __init__(self, message: str, *, schema: str, position: int) -> None:
        start = schema.rfind("\n", 0, position) + 1
        end = schema.find("\n", position)
        end = len(schema) if end < 0 else end
        # Under a tab stands a tab, so that the mark is below its character.
        blank = "".join(["\t" if c == "\t" else " " for c in schema[start:position]])
        super().__init__(f"{message}\n{schema[:end]}\n{blank}^ here{schema[end:]}")
        self.schema = schema
        self.position = position
