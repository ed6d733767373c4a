"""Print the root of the simulated toolkit, for ASCEND_TOOLKIT_HOME."""

from __future__ import annotations

import sys

from . import ToolkitNotBuiltError, toolkit_root

if __name__ == "__main__":
    try:
        print(toolkit_root())
    except ToolkitNotBuiltError as error:
        sys.exit(f"mindtorch_npu_simulator: {error}")
