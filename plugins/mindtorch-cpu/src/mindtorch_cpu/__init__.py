"""CPU backend of mindtorch, on NumPy. Loaded through its entry point, `mindtorch_cpu.plugin`."""

import os
import sys
from typing import Final

__version__ = "0.1.0"

# A power of two, in cycles of the processor: some 0.2 ms.
_SPINNING: Final = "OPENBLAS_THREAD_TIMEOUT", "19"


def _load_numpy() -> None:
    """Load NumPy so that threads of its OpenBLAS do not spin for long after a product.

    They do so for 2**26 cycles, some 25 ms, and take processors from our threads: OpenBLAS reads the variable
    when it is loaded.
    """
    name, cycles = _SPINNING
    if "numpy" in sys.modules or name in os.environ:
        return
    os.environ[name] = cycles
    try:
        import numpy  # noqa: F401
    finally:
        os.environ.pop(name, None)


_load_numpy()
