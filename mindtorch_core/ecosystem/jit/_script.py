"""The class of modules that ask for a script; they run as Python."""

from __future__ import annotations

import mindtorch_core as torch

from ..absent import names_of

__all__ = ["ScriptModule"]

__getattr__ = names_of(__name__)


class ScriptModule(torch.nn.Module):
    """A module like any other: its methods run as Python, as `torch.jit.script_method` gives them back."""
