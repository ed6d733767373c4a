"""Errors of compiling under PyTorch's names, which programs catch; most of them nothing here raises."""

from __future__ import annotations

from typing import Final

__all__ = ["ERRORS", "InvalidBackend", "TorchDynamoException", "Unsupported"]


class TorchDynamoException(RuntimeError):
    """The base of all of them."""


class Unsupported(TorchDynamoException):
    """A call of ``fullgraph=True`` could not be one block: something looked at a value in its midst."""


class InvalidBackend(TorchDynamoException):
    """``torch.compile`` was asked for a backend that there is not."""


_OTHERS: Final = (
    "BackendCompilerFailed", "FailOnRecompileLimitHit", "InternalTorchDynamoError", "PackageError",
    "RecompileError", "ResetRequired", "RestartAnalysis", "SkipFrame", "TorchRuntimeError",
    "UncapturedHigherOrderOpError", "UserError",
)  # fmt: skip
ERRORS: Final[dict[str, type]] = {
    **{c.__name__: c for c in (TorchDynamoException, Unsupported, InvalidBackend)},
    **{
        name: type(name, (TorchDynamoException,), {"__doc__": "Nothing here raises it."})
        for name in _OTHERS
    },
}
