"""A simulator of the libraries of CANN, the toolkit for Ascend NPUs.

The libraries lie in a tree laid out as the toolkit's. A program uses them as it would use a card's:
by the environment variable that names the toolkit.

    ASCEND_TOOLKIT_HOME=$(python -m mindtorch_npu_simulator) python train.py
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["ToolkitNotBuiltError", "toolkit_root"]


class ToolkitNotBuiltError(RuntimeError):
    """The package is there, but not the libraries: it was not installed, only put on the path."""


def toolkit_root() -> Path:
    """Return the root of the simulated toolkit that this package brings along."""
    tried = [Path(entry) / "toolkit" for entry in __path__]
    for root in tried:
        if (root / "lib64" / "libascendcl.so").is_file():
            return root.resolve()
    raise ToolkitNotBuiltError(
        f"the simulated toolkit is not in {', '.join(map(str, tried))}: "
        "install the distribution (pip install mindtorch-npu-simulator), which builds it"
    )
