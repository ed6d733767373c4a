"""Where PyTorch programs import dispatch modes from."""

from ..modes import DispatchMode as TorchDispatchMode

__all__ = ["TorchDispatchMode"]
