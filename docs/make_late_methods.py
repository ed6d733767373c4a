"""Write ``mindtorch_core/operators/late_methods.py``: the methods that wait for their ops.

    python docs/make_late_methods.py

A test compares the file with `text`, so run it after adding an op that is defined on demand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import mindtorch_core
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.operators.define import LateMethod
from mindtorch_core.tensor import Tensor

PLACE: Final = Path(mindtorch_core.__file__).parent / "operators" / "late_methods.py"
TEMPLATE: Final = '''\
"""Methods whose ops are defined on demand. Written by `docs/make_late_methods.py`; do not edit."""

from typing import Final

__all__ = ["LATE_METHODS"]

# One string: it costs the import less than a tuple of hundreds.
LATE_METHODS: Final = """
{names}
"""
'''


def text() -> str:
    """The file as it should be; only in a process that has not defined these ops yet."""
    if not registry.rest.pending:
        raise RuntimeError("the ops are defined already: run this in a process of its own")
    early = {n for n, held in vars(Tensor).items() if not isinstance(held, LateMethod)}
    registry.rest.define()
    return TEMPLATE.format(names="\n".join(sorted(vars(Tensor).keys() - early)))


if __name__ == "__main__":
    PLACE.write_text(text(), encoding="utf-8")
