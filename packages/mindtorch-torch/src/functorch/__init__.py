"""``import functorch``, which PyTorch's wheel brings: functions that are in `torch.func` now."""

import torch  # noqa: F401, TID251 (it is mindtorch from here on)

from mindtorch_nn.functorch import *  # noqa: F403
from mindtorch_nn.functorch import __version__ as __version__
