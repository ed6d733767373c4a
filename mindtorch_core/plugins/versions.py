"""The numbers of the plugin interface."""

from typing import Final

__all__ = ["OLDEST_PLUGIN_API", "PLUGIN_API"]

# The numbers of the plugin interface that backends may have been written for. The newest is raised
# when something is added, the oldest when something goes that backends of that number may use:
#
# 1: the first.
# 2: `mindtorch_core.backend`, and the fields of tensors that it names.
OLDEST_PLUGIN_API: Final[int] = 1
PLUGIN_API: Final[int] = 3
