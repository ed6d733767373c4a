"""The simulated NPU's toolkit, where it is installed, before a backend is loaded."""

import contextlib
import os

with contextlib.suppress(ImportError, RuntimeError):
    import mindtorch_npu_simulator

    os.environ.setdefault("ASCEND_TOOLKIT_HOME", str(mindtorch_npu_simulator.toolkit_root()))
