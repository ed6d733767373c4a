"""``import torch`` is mindtorch: the modules and classes of ``mindtorch_core``, by PyTorch's paths."""

from typing import TYPE_CHECKING

from mindtorch_core.ecosystem.dropin import install

if TYPE_CHECKING:
    from mindtorch_core import *  # noqa: F403

install(__file__)
