"""Errors of compiling under PyTorch's names, which programs catch; most of them nothing here raises."""

from __future__ import annotations

from typing import Any, Final

__all__ = [
    "ERRORS",
    "BackendCompilerFailed",
    "FailOnRecompileLimitHit",
    "InvalidBackend",
    "RecompileError",
    "TorchDynamoException",
    "TorchRuntimeError",
    "UncapturedHigherOrderOpError",
    "Unsupported",
    "UserError",
]


class TorchDynamoException(RuntimeError):
    """The base of all of them."""


class Unsupported(TorchDynamoException):
    """A call of ``fullgraph=True`` could not be one block: something looked at a value in its midst."""


class UserError(Unsupported):
    """The same, where it was a number or a size that decided on the way through the function."""


class InvalidBackend(TorchDynamoException):
    """``torch.compile`` was asked for a backend that there is not."""


class UncapturedHigherOrderOpError(TorchDynamoException):
    """A function that was given to `torch.cond` or the like does what none of theirs may do."""


class TorchRuntimeError(TorchDynamoException):
    """Functions that were given to `torch.cond` give tensors that do not fit each other."""


class RecompileError(TorchDynamoException):
    """A call would be compiled again, and ``torch._dynamo.config.error_on_recompile`` is set."""


class FailOnRecompileLimitHit(Exception):
    """A function that is to be one graph was called with more kinds of arguments than its limit allows."""


class BackendCompilerFailed(TorchDynamoException):
    """A backend that is a function of a graph has failed to compile one.

    Attributes:
        backend_name: the name of the function.
        inner_exception: what it raised.
    """

    def __init__(self, backend_fn: Any, inner_exception: Exception) -> None:
        self.backend_name = getattr(backend_fn, "__name__", "?")
        self.inner_exception = inner_exception
        what = f"{type(inner_exception).__name__}: {inner_exception}"
        super().__init__(f"backend={self.backend_name!r} raised:\n{what}")


_OTHERS: Final = (
    "InternalTorchDynamoError", "PackageError", "ResetRequired", "RestartAnalysis", "SkipFrame",
)  # fmt: skip
ERRORS: Final[dict[str, type]] = {
    **{
        c.__name__: c
        for c in (
            TorchDynamoException,
            BackendCompilerFailed,
            FailOnRecompileLimitHit,
            InvalidBackend,
            RecompileError,
            TorchRuntimeError,
            UncapturedHigherOrderOpError,
            Unsupported,
            UserError,
        )
    },
    **{
        name: type(name, (TorchDynamoException,), {"__doc__": "Nothing here raises it."})
        for name in _OTHERS
    },
}
