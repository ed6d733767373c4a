"""``import mindtorch as torch``: the core by a short name, with the packages that most programs use.

The name stands for ``mindtorch_core`` itself, and ``mindtorch.nn.functional`` for
``mindtorch_core.nn.functional``: there is one module and one class of each.
"""

import sys
from typing import TYPE_CHECKING

import mindtorch_core
from mindtorch_core.plugins import alias

if TYPE_CHECKING:
    from mindtorch_core import *  # noqa: F403

alias(__name__, mindtorch_core.__name__)
sys.modules[__name__] = mindtorch_core
